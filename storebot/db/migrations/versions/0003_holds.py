"""What the write gate did not publish (docs/decisions/0020-write-gate.md)."""

from __future__ import annotations

from typing import Any

from alembic import op
from sqlalchemy import BigInteger, Column, Index, String

from storebot.db.types import STORE_LENGTH, URL_KEY_LENGTH, identity, key, text

revision = "0003"
down_revision = "0002"

IN_MYSQL: dict[str, Any] = {
    f"{name}_{option}": value
    for name in ("mysql", "mariadb")
    for option, value in (("engine", "InnoDB"), ("charset", "utf8mb4"), ("collate", "utf8mb4_bin"))
}


def _string(name: str, length: int) -> Column[str]:
    return Column(name, String(length), nullable=False, default="")


def _text(name: str) -> Column[str]:
    return Column(name, text(), nullable=False, default="")


def _number(name: str) -> Column[int]:
    return Column(name, BigInteger, nullable=False, default=0)


def upgrade() -> None:
    """Create the table."""
    op.create_table(
        "holds",
        Column("id", identity(), primary_key=True),
        Column("store", key(STORE_LENGTH), nullable=False),
        Column("page_id", BigInteger, nullable=False, index=True),
        Column("url_key", key(URL_KEY_LENGTH), nullable=False),
        Column("run_id", BigInteger, nullable=False, index=True),
        Column("visit_id", BigInteger, nullable=False),
        Column("kind", String(16), nullable=False),
        Column("status", String(16), nullable=False),
        _string("gate", 16),
        _text("reason"),
        _text("facts"),
        _text("fields"),
        _text("visit"),
        _string("before_hash", 64),
        _string("content_hash", 64),
        _number("created_at"),
        _number("stale_since"),
        _number("decided_at"),
        _string("decided_by", 255),
        _text("why"),
        Index("ix_holds_open", "store", "status", "id"),
        **IN_MYSQL,
    )


def downgrade() -> None:
    """Drop it: what waited or was held is read again by the next run."""
    op.drop_table("holds")
