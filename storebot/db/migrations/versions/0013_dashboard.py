"""Visits added up, users and their logins, what people did; indexes for the orders in which listings are looked at."""

from __future__ import annotations

from typing import Any

from alembic import op
from sqlalchemy import BigInteger, Column, Index, PrimaryKeyConstraint, String

from storebot.db.types import STORE_LENGTH, USER_LENGTH, identity, key, text, wide_key

revision = "0013"
down_revision = "0012"

IN_MYSQL: dict[str, Any] = {
    f"{name}_{option}": value
    for name in ("mysql", "mariadb")
    for option, value in (("engine", "InnoDB"), ("charset", "utf8mb4"), ("collate", "utf8mb4_bin"))
}
_INDEXES = (
    ("ix_listings_status", ["store", "status", "id"]),
    ("ix_listings_changed", ["store", "last_changed_at", "id"]),
    ("ix_listings_price", ["store", "price_minor", "id"]),
)
# The visits that there are, by spans of five minutes: `db.tallies.SPAN_MS`, as it was when this was written.
_ADD_UP = """
    INSERT INTO tallies (run_id, at, page_type, tier, outcome, store, visits, requests, bytes, elapsed_ms)
    SELECT run_id, at - at % 300000, page_type, tier, outcome, MIN(store), COUNT(*), SUM(requests), SUM(bytes),
           SUM(elapsed_ms)
    FROM visits GROUP BY run_id, at - at % 300000, page_type, tier, outcome
"""


def _number(name: str) -> Column[int]:
    return Column(name, BigInteger, nullable=False)


def _string(name: str, length: int) -> Column[str]:
    return Column(name, String(length), nullable=False)


def _text(name: str) -> Column[str]:
    return Column(name, text(), nullable=False)


def upgrade() -> None:
    """Add the tables and the indexes, and add up the visits that there are."""
    op.create_table(
        "tallies",
        Column("run_id", BigInteger, nullable=False, autoincrement=False),
        Column("at", BigInteger, nullable=False, autoincrement=False),
        _string("page_type", 16),
        _string("tier", 16),
        _string("outcome", 16),
        Column("store", key(STORE_LENGTH), nullable=False),
        _number("visits"),
        _number("requests"),
        _number("bytes"),
        _number("elapsed_ms"),
        PrimaryKeyConstraint("run_id", "at", "page_type", "tier", "outcome", "store"),
        Index("ix_tallies_store", "store", "at"),
        **IN_MYSQL,
    )
    op.execute(_ADD_UP)
    op.create_table(
        "users",
        Column("name", wide_key(USER_LENGTH), primary_key=True),
        _string("role", 16),
        _string("password_hash", 255),
        _number("created_at"),
        _string("created_by", 255),
        _number("password_at"),
        _number("seen_at"),
        **IN_MYSQL,
    )
    op.create_table(
        "logins",
        Column("token_hash", key(64), primary_key=True),
        Column("user", wide_key(USER_LENGTH), nullable=False),
        _number("created_at"),
        _number("used_at"),
        Index("ix_logins_user", "user"),
        **IN_MYSQL,
    )
    op.create_table(
        "audit",
        Column("id", identity(), primary_key=True),
        _number("at"),
        Column("who", wide_key(USER_LENGTH), nullable=False),
        _string("verb", 32),
        _string("store", STORE_LENGTH),
        _text("subject"),
        _text("why"),
        _string("result", 16),
        _text("text"),
        _number("ended_at"),
        sqlite_autoincrement=True,
        **IN_MYSQL,
    )
    op.add_column("runs", Column("gate", text()))
    op.add_column("stores", Column("coverage", text()))
    for name, columns in _INDEXES:
        op.create_index(name, "listings", columns)
    op.create_index("ix_visits_page_id", "visits", ["page_id"])


def downgrade() -> None:
    """Drop them: who may log in, and who did what, is forgotten."""
    op.drop_index("ix_visits_page_id", table_name="visits")
    for name, _ in _INDEXES:
        op.drop_index(name, table_name="listings")
    op.drop_column("stores", "coverage")
    op.drop_column("runs", "gate")
    for name in ("audit", "logins", "users", "tallies"):
        op.drop_table(name)
