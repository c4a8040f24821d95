"""Which tier works, what each visit and each day cost, and when a store that said no is asked again."""

from __future__ import annotations

from typing import Any

from alembic import op
from sqlalchemy import (
    BigInteger,
    Column,
    Integer,
    PrimaryKeyConstraint,
    String,
    column,
    func,
    insert,
    literal,
    select,
    table,
)

from storebot.db.types import ORIGIN_LENGTH, STORE_LENGTH, key, text

revision = "0006"
down_revision = "0005"

IN_MYSQL: dict[str, Any] = {
    f"{name}_{option}": value
    for name in ("mysql", "mariadb")
    for option, value in (("engine", "InnoDB"), ("charset", "utf8mb4"), ("collate", "utf8mb4_bin"))
}
_DAY_MS = 86_400_000
ADDED: dict[str, dict[str, Any]] = {
    "stores": {
        "breaker_until": BigInteger(),
        "breaker_trips": Integer(),
        "slow_steps": Integer(),
        "slow_at": BigInteger(),
    },
    "visits": {"browser_ms": BigInteger(), "billed": Integer(), "cost_micro": BigInteger()},
}


def _number(name: str) -> Column[int]:
    return Column(name, BigInteger, nullable=False, default=0)


def upgrade() -> None:
    """Add columns and tables, and add up what visits took before; what discovery took then isn't known."""
    for of_table, columns in ADDED.items():
        for name, kind in columns.items():
            op.add_column(of_table, Column(name, kind, nullable=False, server_default="0"))
    op.add_column("visits", Column("steps", text()))
    op.add_column("runs", Column("overrides", text()))
    op.create_table(
        "robots",
        Column("store", key(STORE_LENGTH), nullable=False),
        Column("origin", key(ORIGIN_LENGTH), nullable=False),
        Column("url", text(), nullable=False),
        Column("status", Integer, nullable=False),
        Column("body", text(), nullable=False),
        _number("fetched_at"),
        PrimaryKeyConstraint("store", "origin"),
        **IN_MYSQL,
    )
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
        _number("filled_at"),
        _number("retry_at"),
        Column("trips", Integer, nullable=False, default=0),
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
        Column("currency", String(3), nullable=False),
        *(
            _number(name)
            for name in ("visits", "requests", "bytes", "elapsed_ms", "browser_ms", "billed", "cost_micro")
        ),
        PrimaryKeyConstraint("store", "day", "tier", "page_type", "currency"),
        **IN_MYSQL,
    )
    _add_up()


def _add_up() -> None:
    visits = table("visits", *map(column, ("store", "at", "tier", "page_type", "requests", "bytes", "elapsed_ms")))
    day = (visits.c.at - visits.c.at % _DAY_MS) / _DAY_MS
    sums = [func.count(), func.sum(visits.c.requests), func.sum(visits.c.bytes), func.sum(visits.c.elapsed_ms)]
    names = ("store", "day", "tier", "page_type", "currency", "visits", "requests", "bytes", "elapsed_ms")
    spending = table("spending", *map(column, (*names, "browser_ms", "billed", "cost_micro")))
    by = (visits.c.store, day, visits.c.tier, visits.c.page_type)
    spent = select(*by, literal(""), *sums, literal(0), literal(0), literal(0))
    spent = spent.where(visits.c.page_type == "product", visits.c.requests > 0).group_by(*by)
    op.execute(insert(spending).from_select(list(spending.c.keys()), spent))


def downgrade() -> None:
    """Drop them: what was spent, and which tier works, is forgotten."""
    op.drop_table("spending")
    op.drop_table("tiers")
    op.drop_table("robots")
    op.drop_column("runs", "overrides")
    op.drop_column("visits", "steps")
    for of_table, columns in ADDED.items():
        for name in columns:
            op.drop_column(of_table, name)
