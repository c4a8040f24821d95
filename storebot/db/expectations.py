"""What a store's runs are measured by when they end, and what was measured of earlier ones."""

from __future__ import annotations

from typing import Any

import orjson
from sqlalchemy import ColumnElement, Connection, case, func, select

from storebot.core.expect import MEASURED, RUNS_MOST, Measures
from storebot.db.schema import listings, pages, runs
from storebot.items import ListingStatus, PageStatus

_MONEY = ("price", "regular_price", "price_min", "price_max")
_LISTS = ("category_path", "images")
_TEXTS = (
    "name", "brand", "gtin", "mpn", "sku", "product_id", "item_group_id", "canonical_url", "currency", "availability",
    "condition", "description", "rating_value", "review_count", "seller",
)  # fmt: skip


def _has(name: str) -> ColumnElement[Any]:
    """Return an expression that is NULL where a listing lacks a field of ``[product]``."""
    if name == "price":  # a product that has a range has a price
        return func.coalesce(listings.c.price_minor, listings.c.price_min_minor)
    if name in _MONEY:
        return listings.c[f"{name}_minor"]
    if name in _LISTS:
        return case((listings.c[name] != "[]", 1))
    return listings.c[name]


_FILLED = {name: func.count(_has(name)).label(name) for name in (*_MONEY, *_LISTS, *_TEXTS)}


def measure(conn: Connection, store: str, *, now_ms: int, started_ms: int, max_age_ms: int = 0) -> Measures:
    """Measure the store's copy when a run ends."""
    on_sale = (listings.c.store == store) & (listings.c.status == ListingStatus.ACTIVE.value)
    count, *filled = conn.execute(select(func.count(), *_FILLED.values()).where(on_sale)).one()
    return Measures(
        listings=int(count),
        elapsed_s=(now_ms - started_ms) / 1000,
        fill=dict(zip(_FILLED, (int(one) / count for one in filled), strict=True)) if count else {},
        old=_older(conn, store, now_ms - max_age_ms) if max_age_ms else 0,
    )


def _older(conn: Connection, store: str, before_ms: int) -> int:
    """Count the pages with a record that weren't looked at since a time; those that are gone don't count."""
    old = (
        (pages.c.store == store)
        & pages.c.content_hash.is_not(None)
        & (pages.c.status != PageStatus.GONE.value)
        & pages.c.delisted_at.is_(None)
        & (func.coalesce(pages.c.checked_at, 0) < before_ms)
    )
    return int(conn.execute(select(func.count()).select_from(pages).where(old)).scalar_one())


def past(conn: Connection, store: str, kind: str, before_run: int) -> list[Measures]:
    """Return what was measured of the last runs of a kind before one, the newest first."""
    query = (
        select(runs.c.measured)
        .where(runs.c.store == store, runs.c.kind == kind, runs.c.id < before_run, runs.c.measured.is_not(None))
        .where(runs.c.status.in_([status.value for status in MEASURED]))
        .order_by(runs.c.id.desc())
        .limit(RUNS_MOST)
    )
    return [Measures(**orjson.loads(text)) for text in conn.execute(query).scalars()]
