"""The pages of a store as columns: read from the database in chunks, into arrays that are made before.

Imports numpy: whoever makes no plan must not import this.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import ColumnElement, Connection, Select, and_, case, func, or_, select

from storebot.core.planner.hazard import Flag
from storebot.core.planner.scoring import Columns
from storebot.db.dialects import family
from storebot.db.knowledge import HOUR_MS
from storebot.db.schema import pages
from storebot.items import PageStatus

Ids = NDArray[np.int64]
_CHUNK = 2_000  # rows: few enough to stay in the processor's cache
_DENSE = 4  # if a store has a quarter of all pages the table is read instead of its index


class Live(NamedTuple):
    """Pages that may be fetched: their ids, rising, and what is known of each."""

    ids: Ids
    columns: Columns

    def part(self, places: Ids) -> Live:
        """Return some of them, by place."""
        columns = {name: getattr(self.columns, name)[places] for name in Columns.__slots__}
        return Live(self.ids[places], Columns(**columns))


def joined(parts: Sequence[Live]) -> Live:
    """Return the pages of several readings, at least one, each page once."""
    ids, first = np.unique(np.concatenate([part.ids for part in parts]), return_index=True)
    columns = {
        name: np.concatenate([getattr(part.columns, name) for part in parts])[first] for name in Columns.__slots__
    }
    return Live(ids, Columns(**columns))


def load(conn: Connection, store: str, now_ms: int) -> Live:
    """Return the live pages of a store: those with a record, and new ones (`Flag.NEW`).

    Without those that go by a date of their own until it comes: what is away or delisted, what failed a while ago.
    """
    known = count(conn, store)
    return read(conn, select_live(store, now_ms, walk=is_dense(conn, known)), known)


def is_dense(conn: Connection, known: int) -> bool:
    """Whether a store with so many pages has so many of all that the table is rather walked than looked up in."""
    highest = conn.execute(select(func.max(pages.c.id))).scalar() or 0
    return family(conn) == "sqlite" and known * _DENSE >= highest


def of_store(store: str, *, walk: bool) -> ColumnElement[bool]:
    """Return the condition that a page is of a store; ``walk`` keeps the database from the store's index."""
    return (func.coalesce(pages.c.store, "") if walk else pages.c.store) == store


def count(conn: Connection, store: str) -> int:
    """Count the pages that may be live: from an index alone."""
    there = pages.c.status.in_([status.value for status in _THERE])
    return int(conn.execute(select(func.count()).where(pages.c.store == store, there)).scalar_one())


def select_live(store: str, now_ms: int, *conditions: ColumnElement[bool], walk: bool = False) -> Select[Any]:
    """Select the live pages of a store that meet these conditions.

    ``walk`` keeps the database from the store's index: it walks the table in the order of its ids. By the index SQLite
    looks each row up, in the order of due dates: for a whole store that takes three times as long.
    """
    new = pages.c.content_hash.is_(None)
    columns = (
        pages.c.id,
        func.coalesce(pages.c.checked_at, now_ms),
        pages.c.change_credit,
        pages.c.exposure_h,
        pages.c.listed_at,
        case((new, Flag.NEW.value), else_=pages.c.signal),
        pages.c.category_id,
        pages.c.view_id,
        pages.c.value,
    )
    return select(*columns).where(of_store(store, walk=walk), is_live(now_ms), *conditions)


def is_live(now_ms: int) -> ColumnElement[bool]:
    """Whether a page may be fetched whatever its due date: never one that is away, or failed and has to wait."""
    known, due = pages.c.content_hash.is_not(None), pages.c.next_due_at <= now_ms
    healthy = and_(pages.c.status == PageStatus.PARSED.value, pages.c.last_failure == "")
    return and_(
        pages.c.status.in_([status.value for status in _THERE]),
        or_(and_(known, pages.c.misses == 0, or_(healthy, due)), and_(~known, due)),
    )


def read(conn: Connection, query: Select[Any], most: int) -> Live:
    """Return the rows of `select_live`, ``most`` of them at most."""
    kinds = (np.int64, *(np.float64,) * 4, *(np.int64,) * 3, np.float64)
    arrays: list[NDArray[Any]] = [np.empty(most, kind) for kind in kinds]
    filled = 0
    for rows in _batches(conn, query):
        if not (some := rows[: most - filled]):
            break
        # Floats of 64 bits are exact for every id and time that there is.
        numbers = np.fromiter(chain.from_iterable(some), np.float64, len(some) * len(kinds))
        for array, of_column in zip(arrays, numbers.reshape(-1, len(kinds)).T, strict=True):
            array[filled : filled + len(some)] = of_column
        filled += len(some)
    arrays = [one[:filled] for one in arrays]
    if (arrays[0][1:] <= arrays[0][:-1]).any():
        order = np.argsort(arrays[0], kind="stable")
        arrays = [one[order] for one in arrays]
    ids, looked, credit, exposure, listed, flag, category, listing, value = arrays
    looked /= HOUR_MS
    listed /= HOUR_MS
    listing[listing == 0] = -1
    return Live(ids, Columns(looked, credit, exposure, listed, flag, category, listing, value))


def _batches(conn: Connection, query: Select[Any]) -> Iterator[Sequence[Any]]:
    """Yield the rows, some at a time, never all of them in memory.

    SQLite's own rows: to make SQLAlchemy's of a million takes as long as to read them. The others' drivers fetch all
    that there is unless they're told not to.
    """
    if family(conn) == "sqlite":
        with conn.execute(query) as result:
            assert result.cursor is not None
            while rows := result.cursor.fetchmany(_CHUNK):
                yield rows
        return
    with conn.execute(query, execution_options={"stream_results": True}) as result:
        for part in result.partitions(_CHUNK):
            yield [tuple(row) for row in part]


_THERE = (PageStatus.PARSED, PageStatus.PENDING, PageStatus.ERROR)
