"""Rows that meet conditions for which there is no index: one answer looks at so many, and says how far it came.

Why: docs/decisions/0044-filters-of-the-read-api.md.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

from sqlalchemy import ColumnElement, Connection, func, select

LOOKED_AT = 10_000  # rows: tens of milliseconds, however many the store has
T = TypeVar("T")


class Page(NamedTuple):
    """Rows in the order of their numbers, up to which number was looked, and whether there is more behind it."""

    rows: list[Any]
    after: int
    more: bool


def page(found: list[T], limit: int, after: int, number: Callable[[T], int]) -> Page:
    """Return the page of rows that were read one more than ``limit``: that one says whether there is more."""
    rows = found[:limit]
    return Page(rows, number(rows[-1]) if rows else after, len(found) > limit)


def sifted(
    conn: Connection,
    key: ColumnElement[int],
    indexed: Sequence[ColumnElement[bool]],
    after: int,
    limit: int,
    read: Callable[[ColumnElement[bool]], list[T]],
    number: Callable[[T], int],
) -> Page:
    """Return a page of the rows that ``read`` finds among the next `LOOKED_AT` behind ``after``.

    An index has to begin with the columns of ``indexed`` and go on with ``key``. ``read`` is given which numbers are to
    be looked at, and returns ``limit`` rows and one more, if there are.
    """
    beyond = select(key).where(*indexed, key > after).order_by(key).offset(LOOKED_AT).limit(1)
    next_one = conn.execute(beyond).scalar()
    last = next_one - 1 if next_one else conn.execute(select(func.max(key)).where(*indexed, key > after)).scalar()
    if not last:
        return Page([], after, False)
    found = read((key > after) & (key <= last))
    return page(found, limit, after, number) if len(found) > limit else Page(found, last, bool(next_one))
