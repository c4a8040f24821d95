"""Which proxies a store has blocked, from run to run."""

from __future__ import annotations

from typing import Any

from alembic import op
from sqlalchemy import BigInteger, Column, Integer, PrimaryKeyConstraint

from storebot.db.types import PROXY_LENGTH, STORE_LENGTH, key

revision = "0010"
down_revision = "0008"

IN_MYSQL: dict[str, Any] = {
    f"{name}_{option}": value
    for name in ("mysql", "mariadb")
    for option, value in (("engine", "InnoDB"), ("charset", "utf8mb4"), ("collate", "utf8mb4_bin"))
}


def upgrade() -> None:
    """Add the table."""
    op.create_table(
        "proxies",
        Column("store", key(STORE_LENGTH), nullable=False),
        Column("name", key(PROXY_LENGTH), nullable=False),
        Column("rests_until", BigInteger, nullable=False),
        Column("blocks", Integer, nullable=False),
        PrimaryKeyConstraint("store", "name"),
        **IN_MYSQL,
    )


def downgrade() -> None:
    """Drop it: every proxy is in service again."""
    op.drop_table("proxies")
