"""What visits of late took: what the next ones are expected to take."""

from __future__ import annotations

from sqlalchemy import Connection, case, func, select

from storebot.core.planner.lanes import Lane
from storebot.core.planner.prospect import Sample
from storebot.db.schema import runs, spending, visits
from storebot.db.types import AnyRow
from storebot.items import Expense, Outcome, PageType, Tier

_RUNS, _VISITS = 10, 2_000
_DAYS = 30
_SUMS = ("requests", "bytes", "elapsed_ms", "browser_ms", "billed")  # in the order of Expense


def of_pages(conn: Connection, store: str) -> list[Sample]:
    """Return the store's newest visits of product pages, by tier, those that were answered with 304 apart.

    Of refreshes; before the first one of a backfill. Audits are left out: they are never conditional.
    """
    return _of_pages(conn, store, "refresh") or _of_pages(conn, store, "backfill")


def _of_pages(conn: Connection, store: str, kind: str) -> list[Sample]:
    ran = select(runs.c.id).where(runs.c.store == store, runs.c.kind == kind).order_by(runs.c.id.desc()).limit(_RUNS)
    ids = list(conn.execute(ran).scalars())
    if not ids:
        return []
    newest = (
        select(visits.c.tier, visits.c.outcome, *(visits.c[name] for name in _SUMS))
        .where(
            visits.c.run_id.in_(ids),
            visits.c.page_type == PageType.PRODUCT.value,
            visits.c.requests > 0,
            visits.c.lane != Lane.AUDIT.value,
        )
        .order_by(visits.c.id.desc())
        .limit(_VISITS)
        .subquery()
    )
    not_modified = case((newest.c.outcome == Outcome.NOT_MODIFIED.value, 1), else_=0)
    query = (
        select(newest.c.tier, not_modified.label("not_modified"), func.count().label("visits"))
        .add_columns(*(func.sum(newest.c[name]).label(name) for name in _SUMS))
        .group_by(newest.c.tier, not_modified)
        .order_by(newest.c.tier, not_modified)
    )
    rows = conn.execute(query).all()
    return [Sample(Tier(row.tier), row.visits, _expense(row), bool(row.not_modified)) for row in rows]


def of_discovery(conn: Connection, store: str, today: int) -> list[Sample]:
    """Return what finding the store's pages took in the last days, by tier; its ``visits`` are requests."""
    query = (
        select(spending.c.tier, *(func.sum(spending.c[name]).label(name) for name in _SUMS))
        .where(
            spending.c.store == store,
            spending.c.page_type != PageType.PRODUCT.value,
            spending.c.day > today - _DAYS,
        )
        .group_by(spending.c.tier)
        .order_by(spending.c.tier)
    )
    rows = [(Tier(row.tier), _expense(row)) for row in conn.execute(query)]
    return [Sample(tier, expense.requests, expense) for tier, expense in rows if expense.requests]


def _expense(row: AnyRow) -> Expense:
    return Expense(*(int(getattr(row, name)) for name in _SUMS))
