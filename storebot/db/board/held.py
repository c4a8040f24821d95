"""Holds as they are looked at: lists, what they have in common, and which of them a decision is about."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import orjson
from sqlalchemy import ColumnElement, Connection, Select, func, select

from storebot.core.dashboard.paging import Cursor
from storebot.db.board.scanning import Scanned, by_number, merged
from storebot.db.holds import OPEN, HoldStatus
from storebot.db.schema import holds, listings, pages, stores
from storebot.db.types import AnyRow

MOST = 5_000
"""Holds that one answer looks at."""
_LISTED = tuple(column for column in holds.c if column.name not in ("visit", "facts"))
_ALL = tuple(one.value for one in HoldStatus)


class Open(NamedTuple):
    """How many holds of a store are open, by status."""

    store: str
    held: int
    waiting: int


class Which(NamedTuple):
    """Which holds are meant: of a run, or of a store, or all; ``statuses`` of these."""

    store: str = ""
    run_id: int | None = None
    statuses: Sequence[str] = OPEN


def open_by_store(conn: Connection) -> list[Open]:
    """Return the stores that have open holds, those with most first: counted from an index."""
    known = list(conn.execute(select(stores.c.name)).scalars())
    query = select(holds.c.store, holds.c.status, func.count()).where(
        holds.c.store.in_(known), holds.c.status.in_(OPEN)
    )
    counts: dict[str, dict[str, int]] = {}
    for store, status, count in conn.execute(query.group_by(holds.c.store, holds.c.status)) if known else ():
        counts.setdefault(store, {})[status] = int(count)
    found = [Open(store, by.get("held", 0), by.get("waiting", 0)) for store, by in counts.items()]
    return sorted(found, key=lambda one: (-one.held - one.waiting, one.store))


def listed(
    conn: Connection,
    which: Which,
    gate: str | None,
    after: Cursor | None,
    *,
    descending: bool,
    limit: int,
    most: int = MOST,
) -> Scanned:
    """Return holds with the address of their page, by number; ``gate`` "" is that of the young runs."""
    query: Select[Any] = select(*_LISTED, pages.c.url).join(pages, pages.c.id == holds.c.page_id, isouter=True)
    query = query.where(holds.c.status.in_(which.statuses))
    if which.store:
        query = query.where(holds.c.store == which.store)
    if gate is not None:
        query = query.where(holds.c.gate == gate)
    return _searched(conn, query, which, after, descending=descending, limit=limit, most=most)


def facts_of(conn: Connection, which: Which, *, most: int = MOST) -> tuple[list[dict[str, Any]], bool]:
    """Return the facts of open holds, those of the newest first, and whether these are all."""
    query = select(holds.c.id, holds.c.facts).where(holds.c.status.in_(OPEN))
    if which.store:
        query = query.where(holds.c.store == which.store)
    open_ones = which._replace(statuses=OPEN)
    found = _searched(conn, query, open_ones, None, descending=True, limit=most, most=most)
    rows = found.rows[:most]
    return [orjson.loads(row.facts) for row in rows if row.facts], found.reached is None and len(found.rows) <= most


def of_run(conn: Connection, run_id: int, *, most: int = MOST) -> list[tuple[str, str, str, int]]:
    """Return (status, gate, reason, holds) of what a run left open, of as many as may be looked at."""
    mine = holds.c.run_id == run_id
    some = select(holds.c.status, holds.c.gate, holds.c.reason).where(mine).limit(most).subquery()
    names = (some.c.status, some.c.gate, some.c.reason)
    query = select(*names, func.count().label("holds")).where(some.c.status.in_(OPEN)).group_by(*names)
    rows = [(row.status, row.gate, row.reason, int(row.holds)) for row in conn.execute(query)]
    return sorted(rows, key=lambda row: (-row[3], row))


def meant(conn: Connection, which: Which, ids: Sequence[int], up_to: int | None, limit: int) -> list[AnyRow]:
    """Return open holds by number, the oldest first and one more than ``limit``: those with ``ids``, or all of a run or
    store up to a number, so that nothing is decided on that wasn't there when somebody looked.
    """
    query: Select[Any] = select(*_LISTED, pages.c.url).join(pages, pages.c.id == holds.c.page_id)
    query = query.where(holds.c.status.in_(OPEN))
    if ids:
        query = query.where(holds.c.id.in_(ids))
    elif which.run_id is not None:
        query = query.where(holds.c.run_id == which.run_id)
    else:
        query = query.where(holds.c.store == which.store)
    if up_to is not None:
        query = query.where(holds.c.id <= up_to)
    return list(conn.execute(query.order_by(holds.c.id).limit(limit + 1)))


def facts_in(conn: Connection, ids: Sequence[int]) -> list[dict[str, Any]]:
    """Return the facts of these holds."""
    query = select(holds.c.facts).where(holds.c.id.in_(ids), holds.c.facts != "")
    return [orjson.loads(facts) for facts in conn.execute(query).scalars()] if ids else []


def one(conn: Connection, hold_id: int) -> AnyRow | None:
    """Return a hold with the address of its page."""
    query = select(*_LISTED, pages.c.url).join(pages, pages.c.id == holds.c.page_id, isouter=True)
    return conn.execute(query.where(holds.c.id == hold_id)).one_or_none()


def series(conn: Connection, page_id: int, most: int = 20) -> list[AnyRow]:
    """Return the holds of a page, the newest first."""
    names = ("id", "run_id", "kind", "status", "gate", "reason", "created_at", "decided_at", "decided_by", "why")
    query = select(*(holds.c[name] for name in names)).where(holds.c.page_id == page_id)
    return list(conn.execute(query.order_by(holds.c.id.desc()).limit(most)))


def published(conn: Connection, page_ids: Iterable[int]) -> Mapping[tuple[int, str], AnyRow]:
    """Return what is published, by page and variant: number, name and currency of the listing."""
    query = select(
        listings.c.id, listings.c.page_id, listings.c.variant_id, listings.c.name, listings.c.currency
    ).where(listings.c.page_id.in_(sorted(set(page_ids))))
    return {(row.page_id, row.variant_id): row for row in conn.execute(query)}


def _searched(
    conn: Connection,
    query: Select[Any],
    which: Which,
    after: Cursor | None,
    *,
    descending: bool,
    limit: int,
    most: int,
) -> Scanned:
    parts = [
        by_number(
            conn,
            query,
            holds.c.id,
            among,
            after=int(after[0]) if after else None,
            descending=descending,
            limit=limit,
            most=most,
        )
        for among in _streams(conn, which)
    ]
    return merged(parts, descending=descending, limit=limit)


def _streams(conn: Connection, which: Which) -> list[list[ColumnElement[bool]]]:
    """Return what an index finds at once: rows of a run; else each of some statuses of each store that has some."""
    if which.run_id is not None:
        return [[holds.c.run_id == which.run_id]]
    if which.store:
        names = [which.store]
    elif set(which.statuses) <= set(OPEN):
        names = [one.store for one in open_by_store(conn)]
    else:
        return [[]]
    statuses = [None] if set(which.statuses) == set(_ALL) else which.statuses
    return [
        [holds.c.store == name, *([holds.c.status == status] if status else [])]
        for name in names
        for status in statuses
    ]
