"""The plan of a refresh that would begin now, without one: for who wants to see it before.

Imports numpy, as `storebot.db.planning` does.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain, islice

from sqlalchemy import Connection, func, select

from storebot.core.planner.forecast import unseen
from storebot.core.planner.hazard import Flag, change_rate
from storebot.core.planner.lanes import Lane
from storebot.core.planner.plan_report import First
from storebot.core.planner.planned import PlannedRun, ids_of
from storebot.core.planner.reasons import reason
from storebot.core.planner.terms import Orders, Terms
from storebot.db import knowledge
from storebot.db.knowledge import HOUR_MS
from storebot.db.page_columns import count, load, read, select_live
from storebot.db.planning import make_plan
from storebot.db.schema import pages, runs
from storebot.db.views import Heads, of_heads


def preview(conn: Connection, store: str, orders: Orders, terms: Terms | None, now_ms: int, heads: Heads) -> PlannedRun:
    """Return what the refresh would be given: the plan of the run that has the next number, so that it's the same.

    The run makes its own when it has looked at the ``heads`` of the catalogue; what it finds there nobody knows now.
    """
    if orders.full:
        return make_plan(conn, store, 0, now_ms=now_ms, seed=next_run(conn), full=True)
    if terms is None:
        return _due(conn, store, now_ms)
    return make_plan(
        conn,
        store,
        terms.for_plan,
        now_ms=now_ms,
        seed=next_run(conn),
        sweep=terms.sweep,
        every_h=terms.every_h,
        seen=of_heads(conn, store, heads),
    )


def next_run(conn: Connection) -> int:
    """Return the number that the next run is going to have, where no other begins before it."""
    return int(conn.execute(select(func.coalesce(func.max(runs.c.id), 0))).scalar_one()) + 1


def first(conn: Connection, store: str, planned: PlannedRun, now_ms: int, most: int) -> list[First]:
    """Return the pages that the plan begins with, and why each: new ones, then those that are known."""
    new = ((page_id, Lane.NEW) for page_id in planned.lanes.get(Lane.NEW, ()))
    wanted = dict(islice(_distinct(chain(new, planned.in_order())), most))
    query = select(
        pages.c.id,
        pages.c.url,
        pages.c.signal,
        pages.c.checked_at,
        pages.c.change_credit,
        pages.c.exposure_h,
        pages.c.category_id,
    ).where(pages.c.id.in_(list(wanted)))
    rows = {row.id: row for row in conn.execute(query)} if wanted else {}
    known = knowledge.load(conn, store, now_ms).knowledge
    found = []
    for page_id, lane in wanted.items():
        row = rows[page_id]
        rate = change_rate(row.change_credit, row.exposure_h, known.category(row.category_id).mean)
        since_h = (now_ms - (row.checked_at or now_ms)) / HOUR_MS
        found.append(First(row.url, lane, reason(lane, Flag(row.signal), rate, since_h)))
    return found


def _distinct(planned: Iterable[tuple[int, Lane]]) -> Iterable[tuple[int, Lane]]:
    seen: set[int] = set()
    for page_id, lane in planned:
        if page_id not in seen:
            seen.add(page_id)
            yield page_id, lane


def _due(conn: Connection, store: str, now_ms: int) -> PlannedRun:
    """Return what a refresh without a budget visits: all that is due, the longest due first."""
    memory = knowledge.load(conn, store, now_ms)
    most = count(conn, store)
    due = read(conn, select_live(store, now_ms, pages.c.next_due_at <= now_ms), most)
    everything = load(conn, store, now_ms)
    now_h, is_new = now_ms / HOUR_MS, due.columns.flag == Flag.NEW
    return PlannedRun(
        budget=0,
        seed=0,
        pages=len(everything.ids),
        lanes={Lane.NEW: ids_of(due.ids[is_new].tobytes()), Lane.DUE: ids_of(due.ids[~is_new].tobytes())},
        differ=float(unseen(everything.columns, memory.knowledge, now_h).sum()),
        finds=float(unseen(due.columns, memory.knowledge, now_h).sum()),
    )
