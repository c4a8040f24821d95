"""What the read API gives: rows of a store as JSON values, in the order of their numbers."""

from __future__ import annotations

from typing import Any

import orjson
from sqlalchemy import Connection, bindparam, select

from storebot.core.export.cells import jsonable
from storebot.core.export.columns import iso, listing_row, money, time
from storebot.db.exporting import PROVENANCE
from storebot.db.history import history
from storebot.db.listing_pages import listings_where
from storebot.db.listings import CurrentListing, current_listings
from storebot.db.moves import holder_of
from storebot.db.schema import runs, stores
from storebot.db.sifting import Page, page

Rows = list[dict[str, Any]]
_RUNS = (
    select(runs)
    .where(runs.c.store == bindparam("of_store"), runs.c.id > bindparam("after"))
    .order_by(runs.c.id)
    .limit(bindparam("first"))
)
_COUNTS = ("requests", "bytes", "discovered", "change_events", "pages_known", "listings_known")


def is_store(conn: Connection, store: str) -> bool:
    """Whether a run ever worked on a store of this name."""
    return conn.execute(select(stores.c.name).where(stores.c.name == store)).first() is not None


def listings_after(
    conn: Connection,
    store: str,
    after: int,
    limit: int,
    *,
    url_key: str = "",
    status: str = "",
    availability: str = "",
    changed_since_ms: int = 0,
) -> Page:
    """Return listings with a number above ``after``, as an export in JSON Lines has them, with their number.

    ``url_key``: only those of the page that this key leads to, be it a former one.
    """
    if url_key:
        holder = holder_of(conn, store, url_key)
        if holder is None:
            return Page([], after, False)
        url_key = holder.url_key
    found = listings_where(
        conn,
        store,
        after,
        limit,
        url_key=url_key,
        status=status,
        availability=availability,
        changed_since_ms=changed_since_ms,
    )
    return found._replace(rows=[_listing(one) for one in found.rows])


def one_listing(conn: Connection, store: str, listing_id: int) -> dict[str, Any] | None:
    """Return a listing by its number; None where the store has none of it."""
    found = _found(conn, store, listing_id)
    return _listing(found) if found else None


def history_of(conn: Connection, store: str, listing_id: int) -> Rows | None:
    """Return what was observed of a listing and when, oldest first; None where the store has none of that number."""
    found = _found(conn, store, listing_id)
    if found is None:
        return None
    spans = history(conn, store, found.listing.url_key).get(found.listing.variant_id, [])
    return [
        {
            "kind": one.kind,
            "since": _iso(one.since),
            "until": _iso(one.until),
            "looks": one.looks,
            "price": jsonable(money(one.offer.price_minor, one.offer.currency)) if one.offer else None,
            "currency": one.offer.currency if one.offer else None,
            "availability": one.offer.availability if one.offer else None,
            "cause": one.offer.cause if one.offer else None,
        }
        for one in spans
    ]


def runs_after(conn: Connection, store: str, after: int, limit: int) -> Page:
    """Return runs with a number above ``after``; ``finished_at`` is null while one lasts, or after it was killed."""
    found = [
        {
            "id": row.id,
            "kind": row.kind,
            "status": row.status,
            "reason": row.reason,
            "started_at": _iso(row.started_at),
            "finished_at": _iso(row.finished_at),
            "parser_version": row.parser_version,
            "outcomes": {name: count for name, count in orjson.loads(row.counts or "{}").items() if count},
            "missed": orjson.loads(row.missed or "[]"),
            **{name: getattr(row, name) for name in _COUNTS},
        }
        for row in conn.execute(_RUNS, {"of_store": store, "after": after, "first": limit + 1})
    ]
    return page(found, limit, after, lambda run: int(run["id"]))


def _found(conn: Connection, store: str, listing_id: int) -> CurrentListing | None:
    found = current_listings(conn, store, after_id=listing_id - 1, limit=1)
    return found[0] if found and found[0].id == listing_id else None


def _listing(one: CurrentListing) -> dict[str, Any]:
    row = listing_row(one.listing, one.status.value, {name: getattr(one, name) for name in PROVENANCE})
    values: dict[str, Any] = jsonable(row)
    return {"id": one.id, **values}


def _iso(at_ms: int | None) -> str | None:
    at = time(at_ms)
    return iso(at) if at else None
