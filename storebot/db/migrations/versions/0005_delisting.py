"""The evidence that a page is gone, and which source names which page (docs/decisions/0022-delisting.md)."""

from __future__ import annotations

from typing import Any

from alembic import op
from sqlalchemy import BigInteger, Column, Integer, PrimaryKeyConstraint, String, UniqueConstraint

from storebot.db.types import STORE_LENGTH, identity, key, text

revision = "0005"
down_revision = "0004"

IN_MYSQL: dict[str, Any] = {
    f"{name}_{option}": value
    for name in ("mysql", "mariadb")
    for option, value in (("engine", "InnoDB"), ("charset", "utf8mb4"), ("collate", "utf8mb4_bin"))
}
COLUMNS: dict[str, Any] = {
    "first_missed_at": BigInteger(),
    "missed_by": String(16),
    "delisted_at": BigInteger(),
    "unnamed_since": BigInteger(),
    "stray_hash": String(32),
}


def upgrade() -> None:
    """Add columns and tables: what is missing now is counted from its next visit on."""
    for name, kind in COLUMNS.items():
        op.add_column("pages", Column(name, kind))
    op.create_table(
        "scopes",
        Column("id", identity(), primary_key=True),
        Column("store", key(STORE_LENGTH), nullable=False),
        Column("source", String(16), nullable=False),
        Column("params", key(64), nullable=False),
        Column("rounds", Integer, nullable=False, default=0),
        Column("begun_at", BigInteger, nullable=False, default=0),
        Column("whole_from", BigInteger),
        Column("whole_at", BigInteger),
        Column("reason", text(), nullable=False, default=""),
        Column("at", BigInteger, nullable=False, default=0),
        UniqueConstraint("store", "source", "params", name="uq_scopes_store"),
        **IN_MYSQL,
    )
    op.create_table(
        "namings",
        Column("scope_id", BigInteger, nullable=False, autoincrement=False),
        Column("page_id", BigInteger, nullable=False, autoincrement=False),
        Column("round", Integer, nullable=False),
        Column("at", BigInteger, nullable=False),
        PrimaryKeyConstraint("scope_id", "page_id"),
        **IN_MYSQL,
        sqlite_with_rowid=False,
    )


def downgrade() -> None:
    """Drop them: a product that was delisted stays so, and why is forgotten."""
    op.drop_table("namings")
    op.drop_table("scopes")
    for name in COLUMNS:
        op.drop_column("pages", name)
