"""Receivers of webhooks, how far each has the changes, and the messages; an index for the changes of one store."""

from __future__ import annotations

from typing import Any

from alembic import op
from sqlalchemy import BigInteger, Column, Index, Integer, PrimaryKeyConstraint, String

from storebot.db.types import STORE_LENGTH, identity, key, text

revision = "0012"
down_revision = "0011"

IN_MYSQL: dict[str, Any] = {
    f"{name}_{option}": value
    for name in ("mysql", "mariadb")
    for option, value in (("engine", "InnoDB"), ("charset", "utf8mb4"), ("collate", "utf8mb4_bin"))
}


def _number(name: str) -> Column[int]:
    return Column(name, BigInteger, nullable=False)


def _small(name: str) -> Column[int]:
    return Column(name, Integer, nullable=False)


def _string(name: str, length: int) -> Column[str]:
    return Column(name, String(length), nullable=False)


def _text(name: str) -> Column[str]:
    return Column(name, text(), nullable=False)


def upgrade() -> None:
    """Add the tables, and the index."""
    op.create_table(
        "subscriptions",
        Column("id", identity(), primary_key=True),
        _text("url"),
        _string("secret_env", 255),
        _text("stores"),
        _text("types"),
        _text("fields"),
        _small("most_changes"),
        _small("allow_private"),
        _text("ended"),
        _number("created_at"),
        _string("created_by", 255),
        _string("lease_token", 64),
        _number("lease_expires_at"),
        sqlite_autoincrement=True,
        **IN_MYSQL,
    )
    op.create_table(
        "cursors",
        Column("subscription_id", BigInteger, nullable=False, autoincrement=False),
        Column("store", key(STORE_LENGTH), nullable=False),
        _number("seq"),
        PrimaryKeyConstraint("subscription_id", "store"),
        **IN_MYSQL,
    )
    op.create_table(
        "deliveries",
        Column("id", identity(), primary_key=True),
        _number("subscription_id"),
        Column("store", key(STORE_LENGTH), nullable=False),
        _string("message_id", 64),
        _number("after_seq"),
        _number("last_seq"),
        _small("changes"),
        _string("status", 16),
        _number("created_at"),
        _number("next_try_at"),
        _small("attempts"),
        _small("http_status"),
        _number("done_at"),
        _text("last_error"),
        Index("ix_deliveries_due", "subscription_id", "status", "done_at"),
        sqlite_autoincrement=True,
        **IN_MYSQL,
    )
    op.create_index("ix_changes_store", "changes", ["store", "seq"])


def downgrade() -> None:
    """Drop them: nobody is subscribed any more, and who has which changes is forgotten."""
    op.drop_index("ix_changes_store", table_name="changes")
    for name in ("deliveries", "cursors", "subscriptions"):
        op.drop_table(name)
