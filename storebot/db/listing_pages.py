"""Listings that meet conditions, in the order of their numbers, a page at a time."""

from __future__ import annotations

from sqlalchemy import ColumnElement, Connection

from storebot.db.listings import CURRENT, CurrentListing, as_current
from storebot.db.schema import listings, pages
from storebot.db.sifting import Page, page, sifted


def listings_where(
    conn: Connection,
    store: str,
    after_id: int,
    limit: int,
    *,
    url_key: str = "",
    status: str = "",
    availability: str = "",
    changed_since_ms: int = 0,
) -> Page:
    """Return the store's `CurrentListing` that meet these conditions; one that isn't given is met by all.

    ``url_key`` and ``status`` have an index. Of the others as many rows are looked at as `sifting` says.
    """
    indexed = [listings.c.store == store]
    if status:
        indexed.append(listings.c.status == status)
    unindexed = []
    if availability:
        unindexed.append(listings.c.availability == availability)
    if changed_since_ms:
        unindexed.append(listings.c.last_changed_at >= changed_since_ms)

    def read(*among: ColumnElement[bool]) -> list[CurrentListing]:
        query = CURRENT.where(*indexed, *unindexed, *among)
        values = {"of_store": store, "after_id": after_id, "first": limit + 1}
        return [as_current(row) for row in conn.execute(query, values)]

    if url_key:
        return page(read(pages.c.store == store, pages.c.url_key == url_key), limit, after_id, _id)
    if not unindexed:
        return page(read(), limit, after_id, _id)
    return sifted(conn, listings.c.id, indexed, after_id, limit, read, _id)


def _id(one: CurrentListing) -> int:
    return one.id
