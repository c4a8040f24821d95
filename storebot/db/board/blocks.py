"""Block pages as the dashboard asks for them: added up over the newest of them, and listed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from sqlalchemy import ColumnElement, Connection, func, select

from storebot.db.board.scanning import Scanned, by_number
from storebot.db.schema import blocks

MOST = 10_000  # of the newest signs that are added up
_HOUR_MS = 3_600_000


class Count(NamedTuple):
    """Signs of one store, tier and vendor within an hour (hours since the epoch, UTC)."""

    store: str
    tier: str
    vendor: str
    hour: int
    signs: int


class Added(NamedTuple):
    """Signs added up. ``since_ms``: from when on all of them are in it; 0 where there are no older ones."""

    counts: list[Count]
    since_ms: int


def added_up(conn: Connection, since_ms: int, store: str = "") -> Added:
    """Add up the signs from the begin of an hour on, by store, tier, vendor and hour; of the newest `MOST` alone."""
    newest = (
        select(blocks.c.store, blocks.c.tier, blocks.c.vendor, blocks.c.at)
        .order_by(blocks.c.id.desc())
        .limit(MOST)
        .subquery()
    )
    hour = (newest.c.at - newest.c.at % _HOUR_MS).label("hour")
    groups = (newest.c.store, newest.c.tier, newest.c.vendor, hour)
    rows = conn.execute(select(*groups, func.count(), func.min(newest.c.at)).group_by(*groups)).all()
    first = min((int(row[-1]) for row in rows), default=0)
    is_cut = sum(row[-2] for row in rows) >= MOST and first > since_ms
    found = [
        Count(of, tier, vendor, int(at) // _HOUR_MS, int(count))
        for of, tier, vendor, at, count, _ in rows
        if at >= since_ms and store in ("", of)
    ]
    return Added(found, first if is_cut else 0)


def listed(
    conn: Connection, choices: Mapping[str, str], hour: int | None, after: int | None, *, descending: bool, limit: int
) -> Scanned:
    """Return signs by number from behind ``after``; ``choices``: store, vendor, tier, kind. ``hour``: only its own."""
    wanted: list[ColumnElement[bool]] = [blocks.c[name] == value for name, value in choices.items()]
    if hour is not None:
        wanted += [blocks.c.at >= hour * _HOUR_MS, blocks.c.at < (hour + 1) * _HOUR_MS]
    query = select(blocks).where(*wanted)
    return by_number(conn, query, blocks.c.id, (), after=after, descending=descending, limit=limit)
