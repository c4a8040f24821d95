"""What a run that follows a plan reads and writes beside its pages: new dates, catalogue pages, the plan itself."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, bindparam, select, update

from storebot.core.planner.planned import PlannedRun
from storebot.core.planner.terms import Orders, Terms
from storebot.db import planned_runs
from storebot.db.planned_runs import PlanNote
from storebot.db.schema import catalogue_views, pages, runs
from storebot.items import PageStatus

_CHUNK = 500  # rows a statement
_DUE = update(pages).where(pages.c.id == bindparam("of_page")).values(next_due_at=bindparam("to_due"))


def date_anew(conn: Connection, due: Sequence[tuple[int, int]]) -> None:
    """Give pages another due date: what was weighed and wasn't chosen must not stand in the way of others."""
    for start in range(0, len(due), _CHUNK):
        conn.execute(_DUE, [{"of_page": page_id, "to_due": due_at} for page_id, due_at in due[start : start + _CHUNK]])


def take_back(conn: Connection, store: str, run_id: int, interval_ms: int) -> int:
    """Give pages the date of the store's interval again, if the refresh before a run without a plan went by one.

    A plan dates what hardly changes months ahead, which nobody asked for who tried a budget once. What is gone, or
    couldn't be observed, keeps its date: no plan gave it. Return how many pages it were.
    """
    before = select(runs.c.plan).where(runs.c.store == store, runs.c.kind == "refresh", runs.c.id < run_id)
    if not conn.execute(before.order_by(runs.c.id.desc()).limit(1)).scalar():
        return 0
    theirs = pages.c.checked_at + interval_ms
    seen = pages.c.delisted_at.is_(None) & (pages.c.misses == 0) & (pages.c.last_failure == "")
    dated = (pages.c.store == store) & (pages.c.status == PageStatus.PARSED.value) & seen
    return conn.execute(update(pages).where(dated, pages.c.next_due_at > theirs).values(next_due_at=theirs)).rowcount


def addresses(conn: Connection, view_ids: Sequence[int]) -> list[tuple[int, str]]:
    """Return the catalogue pages with these ids, each with its address, in their order."""
    found: dict[int, str] = {}
    for start in range(0, len(view_ids), _CHUNK):
        some = [int(view_id) for view_id in view_ids[start : start + _CHUNK]]
        query = select(catalogue_views.c.id, catalogue_views.c.url).where(catalogue_views.c.id.in_(some))
        found |= {row.id: row.url for row in conn.execute(query)}
    return [(view_id, found[view_id]) for view_id in map(int, view_ids) if view_id in found]


def note(conn: Connection, run_id: int, plan: PlannedRun, terms: Terms, orders: Orders, discovery: int) -> None:
    """Keep a plan with its run; ``discovery`` are the requests that were spent before it was made."""
    planned_runs.note(
        conn,
        run_id,
        PlanNote(
            share=None if orders.once else terms.allowance,
            requests=discovery + plan.requests,
            discovery=discovery,
            views=len(plan.views),
            lanes={lane.value: len(ids) for lane, ids in plan.lanes.items()},
            sweep=terms.sweep,
            waiting=plan.differ,
            expected=plan.finds,
        ),
    )
