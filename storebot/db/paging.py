"""Lists that go on where the last page of them ended: by an order with a unique end, never by counting rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, Select, and_, or_

from storebot.core.dashboard.paging import Cursor


def go_on(
    query: Select[Any], order: Sequence[ColumnElement[Any]], after: Cursor | None, *, descending: bool, limit: int
) -> Select[Any]:
    """Return the query with its order, from behind ``after`` on, with one row more than ``limit``: it says "more".

    ``order`` ends in a column that is unique among the rows; none of its columns may be NULL there. An index that
    begins with the query's equalities and goes on with ``order`` makes each page as cheap as the first.
    """
    if after is not None:
        query = query.where(_behind(order, after, descending))
    return query.order_by(*(column.desc() if descending else column for column in order)).limit(limit + 1)


def _behind(order: Sequence[ColumnElement[Any]], after: Cursor, descending: bool) -> ColumnElement[bool]:
    """Compare column by column: MariaDB finds no index for a comparison of rows."""
    first, at = order[0], after[0]
    beyond = first < at if descending else first > at
    if len(order) == 1:
        return beyond
    bound = first <= at if descending else first >= at
    return and_(bound, or_(beyond, _behind(order[1:], after[1:], descending)))
