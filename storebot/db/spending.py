"""What was spent, added up by day, tier and type of page: of every request, those of discovery too.

It's written in the transaction of the visits that spent it, and stays when `storebot.db.retention` forgets those.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, and_, case, func, or_, select

from storebot.core.cost_report import Line, PageCost
from storebot.core.month import DAY_MS
from storebot.db.dialects import add_up
from storebot.db.schema import pages, runs, spending, visits
from storebot.items import Expense, Outcome, Outlay, PageType, Record, Tier, Visit

_SUMS = ("requests", "bytes", "elapsed_ms", "browser_ms", "billed", "cost_micro")  # in the order of Expense
_Key = tuple[int, str, str]  # day, tier, page type


def add(conn: Connection, store: str, currencies: Mapping[Tier, str], records: Iterable[Record | Outlay]) -> None:
    """Add what a batch spent, in the transaction of the caller, by one statement.

    What a visit of discovery took (a list that was a block page) is an `Outlay`, too, and counts there.
    """
    counted: dict[_Key, tuple[int, Expense]] = {}
    for key, visited, expense in _spent(records):
        before = counted.get(key)
        counted[key] = (visited, expense) if before is None else (before[0] + visited, before[1].plus(expense))
    rows = [
        {
            "store": store,
            "day": day,
            "tier": tier,
            "page_type": page_type,
            "currency": currencies.get(Tier(tier), ""),
            "visits": visited,
            **dict(zip(_SUMS, expense, strict=True)),
        }
        for (day, tier, page_type), (visited, expense) in sorted(counted.items())
    ]
    add_up(conn, spending, rows)


def _spent(records: Iterable[Record | Outlay]) -> Iterator[tuple[_Key, int, Expense]]:
    """Yield what each record spent by each tier. A visit counts as one of the tier that it ended with."""
    for record in records:
        if isinstance(record, Outlay):
            yield (record.at_ms // DAY_MS, record.tier.value, record.page_type), 0, record.expense
        elif isinstance(record, Visit) and record.requests and record.target.page_type is PageType.PRODUCT:
            day = record.at_ms // DAY_MS
            by_tier = record.by_tier or _of_one_tier(record)
            last = record.tier if record.tier in by_tier else [*by_tier][-1]
            for tier, expense in by_tier.items():
                yield (day, tier.value, PageType.PRODUCT.value), int(tier == last), expense


def _of_one_tier(visit: Visit) -> dict[Tier, Expense]:
    took = (visit.requests, visit.size_bytes, visit.elapsed_ms, visit.browser_ms, visit.billed, visit.cost_micro)
    return {Tier(visit.tier): Expense(*took)}


def spent_on(conn: Connection, store: str, days: range, currency: str) -> Expense:
    """Return what a store spent on some days; of money, what was paid in ``currency``."""
    paid = case((spending.c.currency == currency, spending.c.cost_micro), else_=0)
    sums = [func.coalesce(func.sum(column), 0) for column in (*_columns(spending)[:-1], paid)]
    row = conn.execute(select(*sums).where(spending.c.store == store, _on(days))).one()
    return Expense(*map(int, row))


def lines(conn: Connection, store: str | None = None, days: range | None = None) -> list[Line]:
    """Return what one store, or all, spent on some days, or ever: oldest first."""
    query = select(spending).order_by(*spending.primary_key)
    if store is not None:
        query = query.where(spending.c.store == store)
    if days is not None:
        query = query.where(_on(days))
    return [
        Line(
            row.store,
            row.day,
            row.tier,
            row.page_type,
            row.currency,
            row.visits,
            Expense(*(int(getattr(row, name)) for name in _SUMS)),
        )
        for row in conn.execute(query)
    ]


def dearest(conn: Connection, store: str, since_ms: int, until_ms: int, limit: int) -> list[PageCost]:
    """Return the pages that took most from a time until before another: most money, then most bytes.

    Only visits that are still kept count.
    """
    sums = [func.sum(column).label(column.name) for column in _columns(visits)]
    failed = func.sum(case((visits.c.outcome.in_(_UNOBSERVED), 1), else_=0)).label("failed")
    count = func.count().label("visits")
    by_page = (
        _of_store(select(visits.c.page_id, visits.c.page_type, count, failed, *sums), store, since_ms, until_ms)
        .group_by(visits.c.page_id, visits.c.page_type)
        .subquery()
    )
    query = (
        select(by_page, pages.c.url)
        .outerjoin(pages, pages.c.id == by_page.c.page_id)
        .order_by(by_page.c.cost_micro.desc(), by_page.c.bytes.desc(), by_page.c.page_id)
        .limit(limit)
    )
    rows = conn.execute(query).all()
    tiers = _tiers_of(conn, store, since_ms, until_ms, [row.page_id for row in rows])
    return [
        PageCost(
            row.url or f"({row.page_type} pages)",
            row.page_type,
            ", ".join(tiers.get(row.page_id, ())),
            row.visits,
            int(row.failed),
            Expense(*(int(getattr(row, name)) for name in _SUMS)),
        )
        for row in rows
    ]


def _tiers_of(conn: Connection, store: str, since_ms: int, until_ms: int, ids: list[int]) -> dict[int, list[str]]:
    query = select(visits.c.page_id, visits.c.tier).where(visits.c.page_id.in_(ids)).distinct()
    found: dict[int, list[str]] = {}
    for page_id, tier in conn.execute(_of_store(query, store, since_ms, until_ms)) if ids else ():
        found.setdefault(page_id, []).append(tier)
    return {page_id: sorted(tiers, key=_BY_COST.index) for page_id, tiers in found.items()}


def failed_calls(conn: Connection, store: str | None, since_ms: int, until_ms: int) -> int:
    """Count what a scraping API was paid for (calls, or credits) in visits to which it brought no page.

    Of the visits that are still kept.
    """
    in_vain = or_(visits.c.outcome.in_(_UNOBSERVED), visits.c.tier != Tier.API.value)
    query = _of_store(select(func.coalesce(func.sum(visits.c.billed), 0)), store, since_ms, until_ms)
    return int(conn.execute(query.where(visits.c.billed > 0, in_vain)).scalar_one())


_BY_COST = [tier.value for tier in Tier]
_UNOBSERVED = [outcome.value for outcome in (Outcome.BLOCKED, Outcome.ERROR, Outcome.INVALID)]


def _of_store(query: Select[Any], store: str | None, since_ms: int, until_ms: int) -> Select[Any]:
    """Narrow a query of visits, by their runs: there is an index of those alone."""
    ran = select(runs.c.id).where(
        runs.c.started_at < until_ms, or_(runs.c.finished_at.is_(None), runs.c.finished_at >= since_ms)
    )
    if store is not None:
        ran = ran.where(runs.c.store == store)
    return query.where(visits.c.run_id.in_(ran), visits.c.at >= since_ms, visits.c.at < until_ms)


def _on(days: range) -> ColumnElement[bool]:
    return and_(spending.c.day >= days.start, spending.c.day < days.stop)


def _columns(table: Any) -> list[ColumnElement[int]]:
    return [table.c[name] for name in _SUMS]
