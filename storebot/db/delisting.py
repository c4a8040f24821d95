"""Pages that are missing become delisted when that is confirmed: once, at the end of a run, with an event each.

How they come back is in `storebot.db.compare`: at once, with the visit that sees them.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, Select, insert, or_, select, update

from storebot.core.delist import Misses, Rules, is_confirmed, next_look_ms
from storebot.db.compare import change_row
from storebot.db.schema import changes, listings, pages
from storebot.db.types import AnyRow
from storebot.items import ListingStatus, PageStatus

logger = logging.getLogger(__name__)

_CHUNK = 200  # pages a statement
_MISSED = (
    pages.c.id,
    pages.c.url_key,
    pages.c.misses,
    pages.c.first_missed_at,
    pages.c.checked_at,
    pages.c.missed_by,
    pages.c.unnamed_since,
)
_ON_SALE = (ListingStatus.ACTIVE.value, ListingStatus.MISSING.value)


def confirm(conn: Connection, store: str, run_id: int, rules: Rules, at: int) -> int:
    """Delist what is confirmed to be gone, and return how many events that was; call it under the store's lease.

    The rows stay as they were, but for their status; the page is looked at again after a week. What it no longer named
    when it was last seen stays missing, of which there was an event.
    """
    gone = [row for row in conn.execute(_missed(store)) if is_confirmed(_misses(row), rules)]
    events = sum(
        _delist(conn, store, run_id, gone[start : start + _CHUNK], at) for start in range(0, len(gone), _CHUNK)
    )
    if gone:
        logger.info("%s: %d pages are gone for good: delisted", store, len(gone))
    return events


def _missed(store: str) -> Select[Any]:
    return select(*_MISSED).where(
        pages.c.store == store,
        pages.c.misses > 0,
        pages.c.first_missed_at.is_not(None),
        pages.c.delisted_at.is_(None),
        pages.c.content_hash.is_not(None),
        pages.c.status != PageStatus.GONE.value,
    )


def _misses(row: AnyRow) -> Misses:
    return Misses(
        times=row.misses,
        first_at=row.first_missed_at,
        last_at=row.checked_at or row.first_missed_at,
        by=row.missed_by or "",
        unnamed_since=row.unnamed_since,
    )


def _delist(conn: Connection, store: str, run_id: int, gone: Sequence[AnyRow], at: int) -> int:
    keys = {row.id: row.url_key for row in gone}
    theirs = (
        listings.c.page_id.in_(sorted(keys))
        & listings.c.status.in_(_ON_SALE)
        & or_(listings.c.missing_why == "", listings.c.missing_why == "page")
    )
    query = select(listings.c.page_id, listings.c.variant_id, listings.c.status).where(theirs).order_by(listings.c.id)
    after = ListingStatus.DELISTED.value
    events = [
        change_row(store, run_id, keys[page], variant, at, "delisted", [("status", before, after)])
        for page, variant, before in conn.execute(query)
    ]
    delisted = {"status": after, "missing_why": "page", "last_changed_at": at}
    conn.execute(update(listings).where(theirs).values(delisted))
    rest = {"delisted_at": at, "next_due_at": next_look_ms(at, at)}
    conn.execute(update(pages).where(pages.c.id.in_(sorted(keys))).values(rest))
    if events:
        conn.execute(insert(changes), events)
    return len(events)
