"""One listing as the dashboard shows it: its page, visits, prices and changes, and the same product elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import orjson
from sqlalchemy import Connection, or_, select

from storebot.core.dashboard.price_history import Priced
from storebot.core.history import Offer
from storebot.db.board.changes import COLUMNS as CHANGE
from storebot.db.board.products import COLUMNS, STAGES
from storebot.db.compare import change_row
from storebot.db.schema import aliases, changes, derived, listings, offers, pages, runs, visits
from storebot.db.types import AnyRow

MOST_VISITS = 2_000  # of the page, that the history is made of; of the offers too
MOST_VARIANTS = 200
MOST_SAME = 100
MOST_CHANGES = 50
_MOST_KEYS = 20  # former keys of a page
_MOST_EVENTS = 150  # visits and offers, the newest, whose changes are looked for
_KINDS = ("new", "changed", "relisted", "missing", "returned", "delisted", "corrected")
_CHUNK = 500
_PAGE = (
    "url_key",
    "checked_at",
    "fetched_at",
    "misses",
    "missed_by",
    "first_missed_at",
    "delisted_at",
    "last_error",
    "last_failure",
    "next_due_at",
    "card_price_minor",
    "card_stock",
    "carded_at",
    "listed_at",
)


class Event(NamedTuple):
    """When and in which run something may have changed."""

    run_id: int
    at: int


def one(conn: Connection, listing_id: int) -> AnyRow | None:
    """Return a listing with what is known of its page (``page_status`` is that of the page)."""
    columns = (*listings.c, *(pages.c[name] for name in _PAGE), pages.c.status.label("page_status"))
    query = select(*columns).join(pages, pages.c.id == listings.c.page_id).where(listings.c.id == listing_id)
    return conn.execute(query).one_or_none()


def keys_of(conn: Connection, row: AnyRow) -> list[str]:
    """Return the keys that lead to a listing's page, its own first."""
    former = select(aliases.c.old_key).where(aliases.c.store == row.store, aliases.c.page_id == row.page_id)
    found = conn.execute(former.order_by(aliases.c.created_at.desc()).limit(_MOST_KEYS)).scalars()
    return [row.url_key, *(key for key in found if key != row.url_key)]


def visits_of(conn: Connection, row: AnyRow, keys: Sequence[str]) -> list[AnyRow]:
    """Return the newest visits of a page by any of its keys, the oldest first."""
    retired = conn.execute(select(pages.c.id).where(pages.c.store == row.store, pages.c.url_key.in_(keys))).scalars()
    mine = visits.c.page_id.in_({row.page_id, *retired}) & (visits.c.store == row.store)
    found = conn.execute(select(visits).where(mine).order_by(visits.c.id.desc()).limit(MOST_VISITS))
    return sorted(found, key=lambda visit: (visit.at, visit.id))


def series_of(conn: Connection, row: AnyRow) -> list[tuple[Priced, int]]:
    """Return the newest prices of a listing with their runs, the oldest first."""
    mine = (offers.c.page_id == row.page_id) & (offers.c.variant_id == row.variant_id)
    found = conn.execute(select(offers).where(mine).order_by(offers.c.id.desc()).limit(MOST_VISITS))
    return [
        (
            Priced(Offer(one.at, one.price_minor, one.currency, one.availability, one.cause), one.regular_price_minor),
            one.run_id,
        )
        for one in sorted(found, key=lambda one: (one.at, one.id))
    ]


def variants_of(conn: Connection, row: AnyRow) -> list[AnyRow]:
    """Return all listings of a listing's page."""
    mine = listings.c.page_id == row.page_id
    return list(conn.execute(select(*COLUMNS).where(mine).order_by(listings.c.id).limit(MOST_VARIANTS)))


def said_of(conn: Connection, listing_id: int) -> dict[str, dict[str, Any]]:
    """Return what storebot's stages say of a listing: their facts, with ``flagged``, ``group_key`` and ``said_at``."""
    mine = (derived.c.listing_id == listing_id) & derived.c.stage.in_(STAGES)
    return {
        row.stage: {
            **orjson.loads(row.facts or "{}"),
            "flagged": bool(row.flagged),
            "group_key": row.group_key,
            "said_at": row.at,
        }
        for row in conn.execute(select(derived).where(mine))
    }


def same_as(conn: Connection, group_key: str) -> list[AnyRow]:
    """Return the listings of one product, in all stores."""
    mine = (derived.c.stage == "same_product") & (derived.c.group_key == group_key)
    query = select(*COLUMNS).join(derived, derived.c.listing_id == listings.c.id).where(mine)
    return list(conn.execute(query.order_by(listings.c.store, listings.c.id).limit(MOST_SAME)))


def changes_of(
    conn: Connection, row: AnyRow, keys: Sequence[str], seen: Iterable[AnyRow], series: Sequence[tuple[Priced, int]]
) -> list[AnyRow]:
    """Return the newest changes of a listing, the newest first.

    No index has changes by page. But a change's id is made of its page, its run and its time: so the ids of those that
    its visits and its prices may have brought are looked up.
    """
    events = {Event(run, one.offer.at) for one, run in series}
    for visit in seen:
        if visit.changes:
            events |= {Event(visit.run_id, visit.at), Event(visit.run_id, row.fetched_at or 0)}
    newest = sorted(events, key=lambda event: (event.at, event.run_id), reverse=True)[:_MOST_EVENTS]
    ids = [
        change_row(row.store, event.run_id, key, row.variant_id, event.at, kind, ())["id"]
        for event in (*_delisted(conn, row), *newest)
        for key in keys[:3]
        for kind in _KINDS
    ]
    found: list[AnyRow] = []
    for start in range(0, len(ids), _CHUNK):
        found += conn.execute(select(*CHANGE).where(changes.c.id.in_(ids[start : start + _CHUNK])))
    return sorted(found, key=lambda change: -change.seq)[:MOST_CHANGES]


def _delisted(conn: Connection, row: AnyRow) -> list[Event]:
    """Return the runs that may have delisted the page: those under way then."""
    if not row.delisted_at:
        return []
    under_way = or_(runs.c.finished_at.is_(None), runs.c.finished_at >= row.delisted_at)
    begun = select(runs.c.id).where(runs.c.store == row.store, runs.c.started_at <= row.delisted_at, under_way)
    return [
        Event(run_id, row.delisted_at) for run_id in conn.execute(begun.order_by(runs.c.id.desc()).limit(3)).scalars()
    ]
