"""Parts of a store that is too large to be read whole: what is due next, what is next in turn, and some at random.

What is read grows with what is asked for, not with the store. Imports numpy.
"""

from __future__ import annotations

import numpy as np
from sqlalchemy import Connection, func, select

from storebot.db.page_columns import Live, joined, read, select_live
from storebot.db.schema import pages
from storebot.items import PageStatus

_DRAWS = 500  # ids a statement
_ROUNDS = 200  # of drawing, at most: the pages of a small part of a large database are met seldom
_KNOWN = pages.c.content_hash.is_not(None)


def due_next(conn: Connection, store: str, now_ms: int, most: int) -> Live:
    """Return up to ``most`` pages with a record that are due next, and as many that were never read."""
    parts = []
    for status in (PageStatus.PARSED, PageStatus.PENDING, PageStatus.ERROR):
        query = select_live(store, now_ms, pages.c.status == status.value)
        parts.append(read(conn, query.order_by(pages.c.next_due_at, pages.c.id).limit(most), most))
    return joined(parts)


def in_turn(conn: Connection, store: str, now_ms: int, after: int, most: int, seen_before: int) -> tuple[Live, int]:
    """Return the next pages with a record in the order of their ids, round and round, and the last one's id.

    Without those that were looked at since ``seen_before``.
    """
    last, parts, left = after, [], most
    for place in (pages.c.id > after, pages.c.id <= after):
        query = select_live(store, now_ms, _KNOWN, place, pages.c.checked_at < seen_before, walk=True)
        parts.append(read(conn, query.order_by(pages.c.id).limit(left), left))
        left -= len(parts[-1].ids)
        last = int(parts[-1].ids[-1]) if len(parts[-1].ids) else last
        if not left:
            break
    return joined(parts), last


def at_random(conn: Connection, store: str, now_ms: int, most: int, rng: np.random.Generator) -> Live:
    """Return so many pages with a record, each as likely as any other; fewer where they're hard to meet."""
    lowest, highest = conn.execute(select(func.min(pages.c.id), func.max(pages.c.id))).one()
    found = [read(conn, select_live(store, now_ms, pages.c.id < 0), 0)]
    count = 0
    for _ in range(_ROUNDS if lowest is not None else 0):
        drawn = rng.integers(lowest, highest + 1, _DRAWS).tolist()
        found.append(read(conn, select_live(store, now_ms, _KNOWN, pages.c.id.in_(sorted(set(drawn)))), _DRAWS))
        count += len(found[-1].ids)
        if count >= 2 * most:  # some were drawn twice
            break
    everything = joined(found)
    return everything.part(rng.permutation(len(everything.ids))[:most])
