"""The plans of runs: what each was allowed and expected, and what the next one goes by."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field

import orjson
from sqlalchemy import Connection, func, select, update

from storebot.core.planner.allowance import Share
from storebot.core.planner.floor import refusal
from storebot.core.planner.terms import Facts, Orders, Terms, terms
from storebot.db.schema import catalogue_views, pages, robots, runs, spending, visits
from storebot.exceptions import PromiseRefused
from storebot.items import Outcome, PageStatus, PageType, RunStatus

DAY_MS = 86_400_000
_FOUND = (Outcome.CHANGED.value, Outcome.HELD.value, Outcome.MISSING.value)  # what wasn't as it was known
_LATELY = 50  # runs
_DAYS = 8
_ROBOTS = "robots"  # as storebot.purse calls what has no page type
_THERE = (PageStatus.PARSED, PageStatus.PENDING, PageStatus.ERROR)
_ENDED = (RunStatus.COMPLETE.value, RunStatus.PARTIAL.value, RunStatus.HELD.value)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanNote:
    """What is kept of a plan with its run; ``share`` is None where the run wasn't given one of the day's budget."""

    share: float | None
    requests: int  # in all, as expected
    discovery: int  # of these
    views: int  # of these
    lanes: Mapping[str, int] = field(default_factory=dict)
    sweep: float = 0.0
    waiting: float = 0.0  # pages with an unseen change, by the model
    expected: float = 0.0  # of these, where the plan looks


def note(conn: Connection, run_id: int, plan: PlanNote) -> None:
    """Keep a run's plan with it."""
    conn.execute(update(runs).where(runs.c.id == run_id).values(plan=orjson.dumps(asdict(plan)).decode()))


def read(text: str | None) -> PlanNote | None:
    """Return the plan of a run's row; None where it had none."""
    return PlanNote(**orjson.loads(text)) if text else None


def facts(conn: Connection, store: str, now_ms: int, heads: int) -> Facts:
    """Return what the terms of the next run depend on; ``heads`` are the catalogue pages that each refresh reads."""
    views = select(catalogue_views.c.id).where(catalogue_views.c.store == store).limit(1)
    return Facts(
        pages=known(conn, store),
        discovery=discovery(conn, store, heads, now_ms),
        discovery_per_day=_discovery_per_day(conn, store, now_ms),
        has_views=conn.execute(views).first() is not None,
        last=last_share(conn, store),
        now_ms=now_ms,
    )


def known(conn: Connection, store: str) -> int:
    """Count the pages of a store that may be fetched: from an index alone."""
    there = pages.c.status.in_([status.value for status in _THERE])
    return int(conn.execute(select(func.count()).where(pages.c.store == store, there)).scalar_one())


def terms_of(conn: Connection, store: str, orders: Orders, now_ms: int, heads: int) -> Terms | None:
    """Return the terms of a refresh that would begin now; None for one that nothing limits.

    Raises `PromiseRefused` where its budget can't keep the age that the store file promises.
    """
    found = looked_up(conn, store, orders, now_ms, heads)
    if found is not None and found.floor is not None and found.is_refused:
        raise PromiseRefused(f"{store}: {refusal(found.floor)}")
    return found


def looked_up(conn: Connection, store: str, orders: Orders, now_ms: int, heads: int) -> Terms | None:
    """Return the same, whether its promise can be kept or not."""
    if not orders.is_planned:
        return None
    from storebot.core.planner.scoring import LISTINGS_MOST  # numpy: only where there is something to choose

    return terms(orders, facts(conn, store, now_ms, heads), LISTINGS_MOST)


def last_share(conn: Connection, store: str) -> Share | None:
    """Return what the store's last run had that was given a share of the day's budget, and what it spent.

    Of one that was killed, or is under way, its visits count.
    """
    query = (
        select(runs.c.id, runs.c.started_at, runs.c.requests, runs.c.status, runs.c.plan)
        .where(runs.c.store == store, runs.c.plan.is_not(None))
        .order_by(runs.c.id.desc())
        .limit(_LATELY)
    )
    for row in conn.execute(query):
        plan = read(row.plan)
        if plan is not None and plan.share is not None:
            spent = row.requests if row.status != RunStatus.RUNNING.value else _of_visits(conn, row.id)
            return Share(row.started_at, plan.share, int(spent))
    return None


def discovery(conn: Connection, store: str, heads: int, now_ms: int) -> int:
    """Return how many requests finding pages takes in a refresh: as many as in the last one that ended by itself.

    Before the first refresh: what a run's sitemaps and feeds took on average, and ``heads``. And a robots.txt for each
    host of which none is kept that is good for today.
    """
    query = (
        select(runs.c.id, runs.c.requests, runs.c.started_at, runs.c.plan)
        .where(runs.c.store == store, runs.c.kind == "refresh", runs.c.status.in_(_ENDED), runs.c.requests > 0)
        .order_by(runs.c.id.desc())
        .limit(1)
    )
    row = conn.execute(query).first()
    kept = conn.execute(select(robots.c.fetched_at).where(robots.c.store == store)).scalars()
    loaded = [int(fetched_at) for fetched_at in kept]
    old = sum(now_ms - fetched_at > DAY_MS for fetched_at in loaded) if loaded else 1
    if row is not None:
        plan = read(row.plan)
        took = plan.discovery if plan else int(row.requests) - _of_visits(conn, row.id)
        asked = sum(fetched_at >= row.started_at for fetched_at in loaded)
        return max(took - int(asked), 0) + old
    of_all = select(func.coalesce(func.sum(spending.c.requests), 0)).where(
        spending.c.store == store, spending.c.page_type.in_([PageType.SITEMAP.value, PageType.FEED.value])
    )
    count = conn.execute(select(func.count()).where(runs.c.store == store, runs.c.requests > 0)).scalar_one()
    return -(-int(conn.execute(of_all).scalar_one()) // max(int(count), 1)) + heads + old


def _discovery_per_day(conn: Connection, store: str, now_ms: int) -> float:
    """Return what sitemaps and robots.txt took a day, of late; today counts only where there is no other day."""
    today = now_ms // DAY_MS
    query = (
        select(spending.c.day, func.sum(spending.c.requests))
        .where(
            spending.c.store == store,
            spending.c.page_type.in_([PageType.SITEMAP.value, _ROBOTS]),
            spending.c.day > today - _DAYS,
        )
        .group_by(spending.c.day)
    )
    by_day = {int(day): int(requests) for day, requests in conn.execute(query)}
    whole = {day: requests for day, requests in by_day.items() if day < today} or by_day
    return sum(whole.values()) / len(whole) if whole else 0.0


def found(conn: Connection, run_ids: list[int]) -> dict[int, int]:
    """Count the pages of these runs that weren't as they were known: run -> changed, held and missing ones.

    Of those that a lane of a plan sent it to; not those that were read for the first time.
    """
    query = (
        select(visits.c.run_id, func.count())
        .where(visits.c.run_id.in_(run_ids), visits.c.page_type == PageType.PRODUCT.value, visits.c.outcome.in_(_FOUND))
        .group_by(visits.c.run_id)
    )
    return {int(run_id): int(count) for run_id, count in conn.execute(query)} if run_ids else {}


def _of_visits(conn: Connection, run_id: int) -> int:
    mine = (visits.c.run_id == run_id) & (visits.c.page_type == PageType.PRODUCT.value)
    return int(conn.execute(select(func.coalesce(func.sum(visits.c.requests), 0)).where(mine)).scalar_one())
