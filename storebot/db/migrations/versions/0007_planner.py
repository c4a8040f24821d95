"""What the refresh planner learns: of each page, each category, each store; and why each page was visited."""

from __future__ import annotations

from typing import Any

from alembic import op
from sqlalchemy import (
    BigInteger,
    Column,
    Double,
    Integer,
    SmallInteger,
    String,
    UniqueConstraint,
)

from storebot.db.types import GROUP_LENGTH, STORE_LENGTH, WALK_LENGTH, identity, key, text, wide_key

revision = "0007"
down_revision = "0006"

IN_MYSQL: dict[str, Any] = {
    f"{name}_{option}": value
    for name in ("mysql", "mariadb")
    for option, value in (("engine", "InnoDB"), ("charset", "utf8mb4"), ("collate", "utf8mb4_bin"))
}
# table -> column -> type and default; no default: it may be NULL
ADDED: dict[str, dict[str, tuple[Any, str | None]]] = {
    "pages": {
        "change_credit": (Double(), "0"),
        "exposure_h": (Double(), "0"),
        "listed_at": (BigInteger(), "0"),
        "signal": (SmallInteger(), "0"),
        "value": (Double(), "1"),
        "category_id": (Integer(), "0"),
        "view_id": (BigInteger(), "0"),
        "card_price_minor": (BigInteger(), None),
        "card_stock": (SmallInteger(), "0"),
        "carded_at": (BigInteger(), None),
    },
    "visits": {"lane": (String(16), "")},
    "stores": {"planner": (text(), None)},
    "runs": {"plan": (text(), None)},
}


def upgrade() -> None:
    """Add columns and tables: everything is learned from now on."""
    for table, columns in ADDED.items():
        for name, (kind, default) in columns.items():
            op.add_column(table, Column(name, kind, nullable=default is None, server_default=default))
    op.create_table(
        "categories",
        Column("id", identity(), primary_key=True),
        Column("store", key(STORE_LENGTH), nullable=False),
        Column("name", wide_key(GROUP_LENGTH), nullable=False),
        Column("mean", Double, nullable=False, default=0),
        Column("seen", Double, nullable=False, default=0),
        Column("expected", Double, nullable=False, default=0),
        Column("at", BigInteger, nullable=False, default=0),
        UniqueConstraint("store", "name", name="uq_categories_store"),
        **IN_MYSQL,
    )
    op.create_table(
        "catalogue_views",
        Column("id", identity(), primary_key=True),
        Column("store", key(STORE_LENGTH), nullable=False),
        Column("walk", wide_key(WALK_LENGTH), nullable=False),
        Column("number", Integer, nullable=False),
        Column("url", text(), nullable=False),
        Column("viewed_at", BigInteger, nullable=False, default=0),
        Column("cards", Integer, nullable=False, default=0),
        Column("shown", text(), nullable=False, default=""),
        UniqueConstraint("store", "walk", "number", name="uq_catalogue_views_store"),
        **IN_MYSQL,
    )


def downgrade() -> None:
    """Drop them: what was learned is forgotten."""
    op.drop_table("catalogue_views")
    op.drop_table("categories")
    for table, columns in ADDED.items():
        for name in columns:
            op.drop_column(table, name)
