"""The first tables: stores, pages, listings, their history, and the ledgers of runs and walks.

Frozen: what a later version needs is another migration.
"""

from __future__ import annotations

from typing import Any

from alembic import op
from sqlalchemy import BigInteger, Column, ForeignKey, Index, Integer, SmallInteger, String
from sqlalchemy import PrimaryKeyConstraint as PrimaryKey
from sqlalchemy import UniqueConstraint as Unique

from storebot.db.types import (
    STORE_LENGTH,
    URL_KEY_LENGTH,
    VARIANT_LENGTH,
    WALK_LENGTH,
    identity,
    key,
    text,
    wide_key,
)

revision = "0001"
down_revision = None

IN_MYSQL: dict[str, Any] = {
    f"{name}_{option}": value
    for name in ("mysql", "mariadb")
    for option, value in (("engine", "InnoDB"), ("charset", "utf8mb4"), ("collate", "utf8mb4_bin"))
}


def _string(name: str, length: int, **options: Any) -> Column[str]:
    return Column(name, String(length), nullable=False, default="", **options)


def _text(name: str) -> Column[str]:
    return Column(name, text(), nullable=False, default="")


def _number(name: str) -> Column[int]:
    return Column(name, BigInteger, nullable=False, default=0)


def _small(name: str) -> Column[int]:
    return Column(name, Integer, nullable=False, default=0)


def _store(**options: Any) -> Column[str]:
    return Column("store", key(STORE_LENGTH), nullable=False, **options)


def upgrade() -> None:
    """Create the tables."""
    op.create_table(
        "stores",
        Column("name", key(STORE_LENGTH), primary_key=True),
        _string("lease_token", 64),
        _number("lease_expires_at"),
        _string("lease_holder", 255),
        _number("lease_run_id"),
        _string("breaker_state", 16),
        _number("breaker_opened_at"),
        _text("breaker_reason"),
        **IN_MYSQL,
    )

    op.create_table(
        "pages",
        Column("id", identity(), primary_key=True),
        _store(),
        Column("url_key", key(URL_KEY_LENGTH), nullable=False),
        Column("url", text(), nullable=False),
        Column("status", String(16), nullable=False),
        _string("claim_token", 64),
        _number("claim_expires_at"),
        _small("tries"),
        Column("etag", text()),
        Column("last_modified", String(64)),
        Column("sitemap_lastmod", String(64)),
        Column("content_hash", String(64)),
        Column("details_hash", String(64)),
        Column("source_hash", String(32)),
        _small("hash_version"),
        _string("parser_version", 64),
        _number("first_seen_at"),
        Column("fetched_at", BigInteger),
        Column("checked_at", BigInteger),
        _number("next_due_at"),
        _small("misses"),
        _text("last_error"),
        _string("last_failure", 16),
        Unique("store", "url_key"),
        Index("ix_pages_due", "store", "status", "next_due_at", "id"),
        **IN_MYSQL,
    )

    op.create_table(
        "aliases",
        _store(),
        Column("old_key", key(URL_KEY_LENGTH), nullable=False),
        Column(
            "page_id", BigInteger().with_variant(Integer, "sqlite"), ForeignKey("pages.id"), nullable=False, index=True
        ),
        _string("reason", 32),
        _number("created_at"),
        PrimaryKey("store", "old_key"),
        **IN_MYSQL,
    )

    op.create_table(
        "listings",
        Column("id", identity(), primary_key=True),
        Column("page_id", BigInteger().with_variant(Integer, "sqlite"), ForeignKey("pages.id"), nullable=False),
        Column("variant_id", wide_key(VARIANT_LENGTH), nullable=False),
        _store(index=True),
        Column("url", text(), nullable=False),
        Column("product_id", text()),
        Column("item_group_id", text()),
        Column("canonical_url", text()),
        Column("name", text()),
        Column("brand", text()),
        Column("gtin", text()),
        Column("mpn", text()),
        Column("sku", text()),
        Column("price_minor", BigInteger),
        Column("regular_price_minor", BigInteger),
        Column("currency", String(3)),
        Column("price_min_minor", BigInteger),
        Column("price_max_minor", BigInteger),
        Column("availability", String(32)),
        Column("condition", text()),
        Column("options", text(), nullable=False),
        Column("category_path", text(), nullable=False),
        Column("main_image", text()),
        Column("images", text(), nullable=False),
        Column("description", text()),
        Column("rating_value", text()),
        Column("review_count", BigInteger),
        Column("seller", text()),
        Column("field_source", text(), nullable=False),
        Column("disagreements", text(), nullable=False),
        Column("record_hash", String(64), nullable=False),
        Column("details_hash", String(64), nullable=False),
        Column("status", String(16), nullable=False),
        _string("missing_why", 16),
        _string("parser", 255),
        _string("parser_version", 64),
        _string("page_sha256", 64),
        _number("run_id"),
        _string("tier", 16),
        _number("first_seen_at"),
        _number("last_seen_at"),
        _number("last_checked_at"),
        _number("last_changed_at"),
        Unique("page_id", "variant_id"),
        **IN_MYSQL,
    )

    op.create_table(
        "offers",
        Column("id", identity(), primary_key=True),
        Column("page_id", BigInteger, nullable=False),
        Column("variant_id", wide_key(VARIANT_LENGTH), nullable=False),
        Column("price_minor", BigInteger),
        Column("regular_price_minor", BigInteger),
        Column("currency", String(3)),
        Column("availability", String(32)),
        _string("cause", 16),
        _number("run_id"),
        _number("at"),
        Index("ix_offers_listing", "page_id", "variant_id"),
        **IN_MYSQL,
    )

    op.create_table(
        "changes",
        Column("seq", identity(), primary_key=True),
        Column("id", String(64), nullable=False),
        Column("type", String(16), nullable=False),
        _store(),
        Column("url_key", key(URL_KEY_LENGTH), nullable=False),
        Column("variant_id", wide_key(VARIANT_LENGTH), nullable=False),
        Column("fields", text(), nullable=False),
        _number("run_id"),
        _number("at"),
        Unique("id"),
        Index("ix_changes_run_id", "run_id"),
        sqlite_autoincrement=True,
        **IN_MYSQL,
    )

    op.create_table(
        "visits",
        Column("id", identity(), primary_key=True),
        Column("run_id", BigInteger, nullable=False, index=True),
        _store(),
        Column("page_id", BigInteger, nullable=False),
        Column("page_type", String(16), nullable=False),
        Column("outcome", String(16), nullable=False),
        Column("http_status", SmallInteger, nullable=False),
        Column("reason", text(), nullable=False),
        Column("tier", String(16), nullable=False),
        Column("requests", Integer, nullable=False),
        Column("bytes", BigInteger, nullable=False),
        Column("elapsed_ms", BigInteger, nullable=False),
        Column("rows_written", Integer, nullable=False),
        Column("changes", Integer, nullable=False),
        Column("at", BigInteger, nullable=False),
        **IN_MYSQL,
    )

    op.create_table(
        "blocks",
        Column("id", identity(), primary_key=True),
        Column("run_id", BigInteger, nullable=False, index=True),
        _store(),
        Column("page_id", BigInteger, nullable=False),
        Column("url", text(), nullable=False),
        Column("kind", String(16), nullable=False),
        Column("value", text(), nullable=False),
        Column("vendor", String(64), nullable=False),
        Column("tier", String(16), nullable=False),
        Column("at", BigInteger, nullable=False),
        **IN_MYSQL,
    )

    op.create_table(
        "checkpoints",
        _store(),
        Column("walk", wide_key(WALK_LENGTH), nullable=False),
        _small("page"),
        _text("params"),
        Column("state", String(16), nullable=False),
        _text("reason"),
        Column("next_url", text()),
        _text("url"),
        _number("run_id"),
        _number("at"),
        PrimaryKey("store", "walk"),
        **IN_MYSQL,
    )

    op.create_table(
        "catalogue_pages",
        _store(),
        Column("walk", wide_key(WALK_LENGTH), nullable=False),
        Column("number", Integer, nullable=False),
        _string("fingerprint", 64),
        _small("entries"),
        _number("run_id"),
        _number("at"),
        PrimaryKey("store", "walk", "number"),
        **IN_MYSQL,
    )

    op.create_table(
        "runs",
        Column("id", identity(), primary_key=True),
        _store(index=True),
        Column("kind", String(16), nullable=False),
        Column("status", String(16), nullable=False),
        _text("reason"),
        _number("started_at"),
        Column("finished_at", BigInteger),
        _string("parser_version", 64),
        _small("hash_version"),
        _number("requests"),
        _number("bytes"),
        _text("counts"),
        _number("discovered"),
        _number("rows_written"),
        _number("rows_skipped"),
        _number("change_events"),
        _number("pages_known"),
        _number("listings_known"),
        _text("walks_reason"),
        sqlite_autoincrement=True,
        **IN_MYSQL,
    )


def downgrade() -> None:
    """Drop them, the ones that point at others first."""
    for name in (
        "runs",
        "catalogue_pages",
        "checkpoints",
        "blocks",
        "visits",
        "changes",
        "offers",
        "listings",
        "aliases",
        "pages",
        "stores",
    ):
        op.drop_table(name)
