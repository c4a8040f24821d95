"""Lists that are filtered by what no index has: so many rows are looked at, then the list goes on from there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from sqlalchemy import Column, ColumnElement, Connection, Select, func, select

from storebot.db.types import AnyRow

MOST = 10_000
"""Rows that one answer looks at."""


class Scanned(NamedTuple):
    """Rows by their number, one more than asked for; ``reached`` is where the search stopped, None at the end."""

    rows: list[AnyRow]
    reached: int | None


def by_number(
    conn: Connection,
    query: Select[Any],
    number: Column[int],
    among: Sequence[ColumnElement[bool]],
    *,
    after: int | None,
    descending: bool,
    limit: int,
    most: int = MOST,
) -> Scanned:
    """Return rows of ``query`` in the order of ``number``, its unique number, from behind ``after`` on.

    ``among``: equalities that an index begins with; together with the number they're all that is looked at, so many
    rows at most, whatever the query's other conditions are.
    """
    if after is not None:
        among = [*among, number < after if descending else number > after]
    order = number.desc() if descending else number
    some = select(number.label("number")).where(*among).order_by(order).limit(most).subquery()
    ends = func.min(some.c.number) if descending else func.max(some.c.number)
    last, seen = conn.execute(select(ends, func.count()).select_from(some)).one()
    if last is None:
        return Scanned([], None)
    within = [*among, number >= last if descending else number <= last]
    rows = list(conn.execute(query.where(*within).order_by(order).limit(limit + 1)))
    return Scanned(rows, int(last) if seen == most else None)


def merged(parts: Sequence[Scanned], *, descending: bool, limit: int) -> Scanned:
    """Return one list of several, whose rows have an ``id``: none beyond where one of the searches stopped."""
    stops = [one.reached for one in parts if one.reached is not None and len(one.rows) <= limit]
    reached = (max(stops) if descending else min(stops)) if stops else None
    rows = sorted((row for one in parts for row in one.rows), key=lambda row: row.id, reverse=descending)
    if reached is not None:
        rows = [row for row in rows if (row.id >= reached if descending else row.id <= reached)]
    return Scanned(rows[: limit + 1], reached)
