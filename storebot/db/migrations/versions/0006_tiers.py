"""Which tier works, what each visit and each day cost, and when a store that said no is asked again."""

from __future__ import annotations

from typing import Any

from alembic import op
from sqlalchemy import BigInteger, Column, Integer, PrimaryKeyConstraint, String

from storebot.db.types import STORE_LENGTH, key, text

revision = "0006"
down_revision = "0005"

IN_MYSQL: dict[str, Any] = {
    f"{name}_{option}": value
    for name in ("mysql", "mariadb")
    for option, value in (("engine", "InnoDB"), ("charset", "utf8mb4"), ("collate", "utf8mb4_bin"))
}
ADDED: dict[str, dict[str, Any]] = {
    "stores": {"breaker_until": BigInteger(), "breaker_trips": Integer()},
    "visits": {"browser_ms": BigInteger(), "billed": Integer(), "cost_micro": BigInteger()},
}


def _number(name: str) -> Column[int]:
    return Column(name, BigInteger, nullable=False, default=0)


def upgrade() -> None:
    """Add columns and tables: what was spent before isn't known."""
    for table, columns in ADDED.items():
        for name, kind in columns.items():
            op.add_column(table, Column(name, kind, nullable=False, server_default="0"))
    op.add_column("visits", Column("steps", text()))
    op.create_table(
        "tiers",
        Column("store", key(STORE_LENGTH), nullable=False),
        Column("page_type", String(16), nullable=False),
        Column("tier", String(16), nullable=False),
        _number("tries"),
        _number("successes"),
        Column("failures", Integer, nullable=False, default=0),
        _number("tried_at"),
        _number("worked_at"),
        _number("retry_at"),
        Column("reason", text(), nullable=False, default=""),
        PrimaryKeyConstraint("store", "page_type", "tier"),
        **IN_MYSQL,
    )
    op.create_table(
        "spending",
        Column("store", key(STORE_LENGTH), nullable=False),
        Column("day", Integer, nullable=False, autoincrement=False),
        Column("tier", String(16), nullable=False),
        Column("page_type", String(16), nullable=False),
        *(
            _number(name)
            for name in ("visits", "requests", "bytes", "elapsed_ms", "browser_ms", "billed", "cost_micro")
        ),
        PrimaryKeyConstraint("store", "day", "tier", "page_type"),
        **IN_MYSQL,
    )


def downgrade() -> None:
    """Drop them: what was spent, and which tier works, is forgotten."""
    op.drop_table("spending")
    op.drop_table("tiers")
    op.drop_column("visits", "steps")
    for table, columns in ADDED.items():
        for name in columns:
            op.drop_column(table, name)
