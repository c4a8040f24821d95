"""Listings as rows: written from a record and read back as one, with what only the database knows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import orjson
from sqlalchemy import Connection, bindparam, case, func, select

from storebot.db.schema import listings, pages
from storebot.db.types import VARIANT_LENGTH, AnyRow, bounded
from storebot.items import Availability, Disagreement, Listing, ListingStatus

_OF_PAGES = (
    select(listings, pages.c.url_key)
    .join(pages, pages.c.id == listings.c.page_id)
    .where(listings.c.page_id.in_(bindparam("page_ids", expanding=True)))
)
_ACTIVE = listings.c.status == ListingStatus.ACTIVE.value
# The listings of a store behind a number, with the times of their pages.
CURRENT = (
    select(
        *(column for column in listings.c if column.name not in ("last_seen_at", "last_checked_at")),
        pages.c.url_key,
        case((_ACTIVE, pages.c.checked_at), else_=listings.c.last_seen_at).label("last_seen_at"),
        pages.c.checked_at.label("last_checked_at"),
    )
    .join(pages, pages.c.id == listings.c.page_id)
    .where(listings.c.store == bindparam("of_store"), listings.c.id > bindparam("after_id"))
    .order_by(listings.c.id)
    .limit(bindparam("first"))
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CurrentListing:
    """The record that is believed now, with its provenance (DESIGN §6)."""

    id: int
    listing: Listing
    status: ListingStatus
    parser: str
    parser_version: str
    page_sha256: str
    run_id: int
    tier: str
    first_seen_at: int
    last_seen_at: int
    last_checked_at: int
    last_changed_at: int


def current_listings(conn: Connection, store: str, *, after_id: int = 0, limit: int = 1000) -> list[CurrentListing]:
    """Return the store's listings in the order of their ids, ``limit`` at a time: go on with ``after_id`` of the last.

    An unchanged visit or a 304 touches only the page's row, so the times of an active listing are its page's.
    """
    return [as_current(row) for row in conn.execute(CURRENT, {"of_store": store, "after_id": after_id, "first": limit})]


def by_page(conn: Connection, page_ids: Iterable[int]) -> dict[int, dict[str, AnyRow]]:
    """Return the rows of these pages' listings, by page and variant."""
    rows: dict[int, dict[str, AnyRow]] = {}
    wanted = sorted(page_ids)
    for row in conn.execute(_OF_PAGES, {"page_ids": wanted}) if wanted else ():
        rows.setdefault(row.page_id, {})[row.variant_id] = row
    return rows


def variant_key(listing: Listing) -> str:
    """Return the variant as it's stored: a key has a length."""
    return bounded(listing.variant_id, VARIANT_LENGTH)


def values_of(listing: Listing) -> dict[str, Any]:
    """Return the columns of a record, all but its keys and what only the database knows."""
    return {
        "url": listing.url,
        "product_id": listing.product_id,
        "item_group_id": listing.item_group_id,
        "canonical_url": listing.canonical_url,
        "name": listing.name,
        "brand": listing.brand,
        "gtin": listing.gtin,
        "mpn": listing.mpn,
        "sku": listing.sku,
        "price_minor": listing.price_minor,
        "regular_price_minor": listing.regular_price_minor,
        "currency": listing.currency,
        "price_min_minor": listing.price_min_minor,
        "price_max_minor": listing.price_max_minor,
        "availability": listing.availability and listing.availability.value,
        "condition": listing.condition,
        "options": _json(listing.options),
        "category_path": _json(listing.category_path),
        "main_image": listing.main_image,
        "images": _json(listing.images),
        "description": listing.description,
        "rating_value": listing.rating_value,
        "review_count": listing.review_count,
        "seller": listing.seller,
        "field_source": _json(listing.field_source),
        "disagreements": _json([tuple(found) for found in listing.disagreements]),
        "record_hash": listing.record_hash,
        "details_hash": listing.details_hash,
    }


def count(conn: Connection, store: str) -> int:
    """Count the store's listings, whatever their status."""
    query = select(func.count()).select_from(listings.join(pages, pages.c.id == listings.c.page_id))
    return int(conn.execute(query.where(pages.c.store == store)).scalar_one())


def listing_of(row: AnyRow) -> Listing:
    """Return the record of a row that has its page's ``url_key`` beside it."""
    return Listing(
        store=row.store,
        url_key=row.url_key,
        url=row.url,
        variant_id=row.variant_id,
        product_id=row.product_id,
        item_group_id=row.item_group_id,
        canonical_url=row.canonical_url,
        name=row.name,
        brand=row.brand,
        gtin=row.gtin,
        mpn=row.mpn,
        sku=row.sku,
        price_minor=row.price_minor,
        regular_price_minor=row.regular_price_minor,
        currency=row.currency,
        price_min_minor=row.price_min_minor,
        price_max_minor=row.price_max_minor,
        availability=Availability(row.availability) if row.availability else None,
        condition=row.condition,
        options=orjson.loads(row.options),
        category_path=tuple(orjson.loads(row.category_path)),
        main_image=row.main_image,
        images=tuple(orjson.loads(row.images)),
        description=row.description,
        rating_value=row.rating_value,
        review_count=row.review_count,
        seller=row.seller,
        field_source=orjson.loads(row.field_source),
        disagreements=tuple(Disagreement(*found) for found in orjson.loads(row.disagreements)),
        record_hash=row.record_hash,
        details_hash=row.details_hash,
    )


def as_current(row: AnyRow) -> CurrentListing:
    """Return what a row of `CURRENT` says."""
    return CurrentListing(
        id=row.id,
        listing=listing_of(row),
        status=ListingStatus(row.status),
        parser=row.parser,
        parser_version=row.parser_version,
        page_sha256=row.page_sha256,
        run_id=row.run_id,
        tier=row.tier,
        first_seen_at=row.first_seen_at,
        last_seen_at=row.last_seen_at,
        last_checked_at=row.last_checked_at,
        last_changed_at=row.last_changed_at,
    )


def _json(value: object) -> str:
    return orjson.dumps(value).decode()
