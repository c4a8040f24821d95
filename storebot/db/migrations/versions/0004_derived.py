"""What stages say of listings (docs/decisions/0021-stages.md)."""

from __future__ import annotations

from typing import Any

from alembic import op
from sqlalchemy import BigInteger, Column, Index, Integer, PrimaryKeyConstraint, String

from storebot.db.types import GROUP_LENGTH, STAGE_LENGTH, key, text, wide_key

revision = "0004"
down_revision = "0003"

IN_MYSQL: dict[str, Any] = {
    f"{name}_{option}": value
    for name in ("mysql", "mariadb")
    for option, value in (("engine", "InnoDB"), ("charset", "utf8mb4"), ("collate", "utf8mb4_bin"))
}


def upgrade() -> None:
    """Create the table; the next pass of each stage fills it."""
    op.create_table(
        "derived",
        Column("stage", key(STAGE_LENGTH), nullable=False),
        Column("listing_id", BigInteger, nullable=False, autoincrement=False),
        Column("version", String(64), nullable=False, default=""),
        Column("inputs", String(32), nullable=False, default=""),
        Column("facts", text(), nullable=False, default=""),
        Column("number", BigInteger),
        Column("group_key", wide_key(GROUP_LENGTH)),
        Column("flagged", Integer, nullable=False, default=0),
        Column("at", BigInteger, nullable=False, default=0),
        PrimaryKeyConstraint("stage", "listing_id"),
        Index("ix_derived_group", "stage", "group_key"),
        **IN_MYSQL,
    )


def downgrade() -> None:
    """Drop it: it's made of the other tables."""
    op.drop_table("derived")
