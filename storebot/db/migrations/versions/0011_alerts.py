"""What runs missed of what is expected of them, what is told to people, and the messages that wait."""

from __future__ import annotations

from typing import Any

from alembic import op
from sqlalchemy import BigInteger, Column, Index, Integer, PrimaryKeyConstraint, String

from storebot.db.types import ALERT_LENGTH, STORE_LENGTH, identity, key, text, wide_key

revision = "0011"
down_revision = "0010"

IN_MYSQL: dict[str, Any] = {
    f"{name}_{option}": value
    for name in ("mysql", "mariadb")
    for option, value in (("engine", "InnoDB"), ("charset", "utf8mb4"), ("collate", "utf8mb4_bin"))
}
MARKS = ("measured", "missed")  # of runs


def _number(name: str) -> Column[int]:
    return Column(name, BigInteger, nullable=False)


def _small(name: str) -> Column[int]:
    return Column(name, Integer, nullable=False)


def _string(name: str, length: int) -> Column[str]:
    return Column(name, String(length), nullable=False)


def _text(name: str) -> Column[str]:
    return Column(name, text(), nullable=False)


def upgrade() -> None:
    """Add the marks of runs, empty for those that there are; and the tables of what is told."""
    for name in MARKS:
        op.add_column("runs", Column(name, text()))
    op.create_table(
        "alerts",
        Column("key", wide_key(ALERT_LENGTH), primary_key=True),
        _string("kind", 32),
        Column("store", key(STORE_LENGTH), nullable=False),
        _text("text"),
        _text("advice"),
        _number("since"),
        _number("gone_at"),
        _number("told_at"),
        _small("open"),
        _small("flapping"),
        _text("starts"),
        **IN_MYSQL,
    )
    op.create_table(
        "outbox",
        Column("id", identity(), primary_key=True),
        _string("channel", 16),
        _string("recipient", 64),
        _string("service", 32),
        Column("alert_key", wide_key(ALERT_LENGTH), nullable=False),
        _string("severity", 16),
        _text("title"),
        _text("body"),
        _string("status", 16),
        _number("created_at"),
        _number("next_try_at"),
        _small("attempts"),
        _number("done_at"),
        _text("last_error"),
        Index("ix_outbox_due", "status", "channel", "id"),
        sqlite_autoincrement=True,
        **IN_MYSQL,
    )
    op.create_table(
        "channels",
        Column("name", key(16), primary_key=True),
        _string("lease_token", 64),
        _number("lease_expires_at"),
        _number("seen_seq"),
        _number("seen_at"),
        _number("safe_seq"),
        _number("done_seq"),
        _number("digest_at"),
        **IN_MYSQL,
    )
    op.create_table(
        "told",
        Column("watch", wide_key(64), nullable=False),
        Column("subject", key(64), nullable=False),
        _number("at"),
        _text("news"),
        _text("waiting"),
        PrimaryKeyConstraint("watch", "subject"),
        **IN_MYSQL,
    )


def downgrade() -> None:
    """Drop them: who was told what is forgotten, and what waits is never sent."""
    for name in ("told", "channels", "outbox", "alerts"):
        op.drop_table(name)
    for name in reversed(MARKS):
        op.drop_column("runs", name)
