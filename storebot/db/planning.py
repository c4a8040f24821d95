"""Makes the plan of a refresh from what is saved: which pages are worth one of so many requests.

Imports numpy: whoever makes no plan must not import this. Why so: docs/decisions/0032-refresh-planner.md.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np
from sqlalchemy import Connection, select

from storebot.core.planner.forecast import seen_by, unseen
from storebot.core.planner.hazard import Flag
from storebot.core.planner.knowledge import Knowledge
from storebot.core.planner.lanes import Lane
from storebot.core.planner.planned import PlannedRun, ids_of
from storebot.core.planner.scoring import (
    AUDIT,
    SWEEP,
    Columns,
    Floats,
    Ints,
    Plan,
    choose,
    expected,
    hours_to_due,
    threshold_for,
)
from storebot.db import knowledge as saved_knowledge
from storebot.db.knowledge import HOUR_MS, Memory
from storebot.db.page_columns import Live, count, is_dense, joined, load, of_store
from storebot.db.page_samples import at_random, due_next, in_turn
from storebot.db.schema import pages
from storebot.items import PageStatus

PLAN_EXACT_MOST = 1_000_000  # pages that are weighed one by one; of more, those that are due soon
DUE_MOST = 0.1  # share of a budget for pages that go by a date of their own: what is away, or delisted
_SAMPLE = 2_000  # pages that stand for a store that is too large to be weighed
_SOON = 4  # times the budget: so many pages that are due next are weighed there


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """What a plan is made for, and of."""

    store: str
    budget: int  # without what pages take that go by a date of their own
    now_ms: int
    sweep: float
    audit: float
    every_h: float
    memory: Memory
    rng: np.random.Generator
    seen: Ints

    @property
    def now_h(self) -> float:
        return self.now_ms / HOUR_MS

    @property
    def knowledge(self) -> Knowledge:
        return self.memory.knowledge

    @property
    def due_an_hour(self) -> float:
        """How many pages may fall due in an hour: half of what the floor leaves, for signals take the rest."""
        return self.budget / max(self.every_h, 1.0) * max(1 - self.sweep - self.audit, 0.0) / 2


def make_plan(
    conn: Connection,
    store: str,
    budget: int,
    *,
    now_ms: int,
    seed: int,
    sweep: float | None = None,
    audit: float | None = None,
    full: bool = False,
    every_h: float = 24.0,
    seen: Collection[int] = (),
    exact_most: int = PLAN_EXACT_MOST,
) -> PlannedRun:
    """Return what to fetch with so many requests. Nothing is written: it's as good for a dry run.

    ``every_h`` is how long it is from one refresh to the next. ``full``: all that may be fetched, whatever the budget.
    ``seen`` are catalogue pages that finding pages looks at anyway: it's not for the plan to look at them once more.
    Reads all pages of the store; of one with more than ``exact_most``, as many as grow with the budget alone.
    """
    due = _due(conn, store, now_ms, None if full else max(round(budget * DUE_MOST), min(budget, 1)))
    asked = _Asked(
        store=store,
        budget=max(budget - len(due), 0),
        now_ms=now_ms,
        sweep=SWEEP if sweep is None else sweep,
        audit=AUDIT if audit is None else audit,
        every_h=every_h,
        memory=saved_knowledge.load(conn, store, now_ms),
        rng=np.random.default_rng(seed),
        seen=np.array(sorted(seen), np.int64),
    )
    known = count(conn, store)
    if full:
        made = _whole(conn, asked)
    elif known <= exact_most:
        made = _exact(conn, asked)
    else:
        made = _large(conn, asked, known)
    lanes = {lane: ids for lane, ids in {**made.lanes, Lane.DUE: due}.items() if ids}
    return replace(made, budget=0 if full else budget, seed=seed, lanes=lanes)


def _exact(conn: Connection, asked: _Asked) -> PlannedRun:
    """Return the plan for a store whose pages are weighed one by one."""
    live, knowledge, now_h = load(conn, asked.store, asked.now_ms), asked.knowledge, asked.now_h
    _mark_seen(live.columns, asked)
    plan = choose(live.columns, knowledge, now_h, asked.budget, asked.rng, sweep=asked.sweep, audit=asked.audit)
    odds = _odds(live.columns, asked)
    return PlannedRun(
        budget=0,
        seed=0,
        pages=int((live.columns.flag != Flag.NEW).sum()),
        lanes=_lanes(live, plan),
        views=ids_of(plan.listings.tobytes()),
        differ=float(odds.sum()),
        finds=_finds(live.columns, asked, plan, odds),
        threshold=threshold_for(live.columns, knowledge, now_h, asked.due_an_hour, asked.rng),
    )


def _large(conn: Connection, asked: _Asked, known: int) -> PlannedRun:
    """Return the plan for a store that is too large to be weighed: by due dates, in turn, and by a sample.

    What was weighed and isn't chosen is due anew: else it'd stand in the way of others for ever.
    """
    store, now_ms, knowledge, memory = asked.store, asked.now_ms, asked.knowledge, asked.memory
    sample = at_random(conn, store, now_ms, max(_SAMPLE, round(asked.budget * asked.audit)), asked.rng)
    audits = sample.part(np.arange(min(_whole_number(asked.budget * asked.audit, asked), len(sample.ids))))
    sweeps = _whole_number(asked.budget * asked.sweep, asked)
    floor_ms = round(known / sweeps * asked.every_h * HOUR_MS) if sweeps else 0
    swept, last = in_turn(conn, store, now_ms, memory.sweep_after, sweeps, now_ms - floor_ms // 2)
    soon = due_next(conn, store, now_ms, _SOON * asked.budget)
    soon = soon.part(np.flatnonzero(~np.isin(soon.ids, np.concatenate([audits.ids, swept.ids]))))
    audits = audits.part(np.flatnonzero(~np.isin(audits.ids, swept.ids)))
    _mark_seen(soon.columns, asked)
    rest = asked.budget - len(audits.ids) - len(swept.ids)
    plan = choose(soon.columns, knowledge, asked.now_h, rest, asked.rng, sweep=0.0, audit=0.0)
    per_hour = asked.due_an_hour * len(sample.ids) / known
    threshold = threshold_for(sample.columns, knowledge, asked.now_h, per_hour, asked.rng)
    looked_at = joined([audits, swept])
    return PlannedRun(
        budget=0,
        seed=0,
        pages=known,
        lanes=_lanes(soon, plan) | {Lane.SWEEP: ids_of(swept.ids.tobytes()), Lane.AUDIT: ids_of(audits.ids.tobytes())},
        views=ids_of(plan.listings.tobytes()),
        differ=float(_odds(sample.columns, asked).mean()) * known if len(sample.ids) else 0.0,
        finds=_finds(soon.columns, asked, plan, _odds(soon.columns, asked))
        + float(_odds(looked_at.columns, asked).sum()),
        threshold=threshold,
        due_anew=_due_anew(soon, plan, asked, threshold),
        sweep_after=last,
    )


def _whole(conn: Connection, asked: _Asked) -> PlannedRun:
    """Return the plan that fetches all: the oldest first."""
    live = load(conn, asked.store, asked.now_ms)
    new = live.columns.flag == Flag.NEW
    oldest = np.argsort(np.where(new, np.inf, live.columns.looked), kind="stable")[: int((~new).sum())]
    differ = float(_odds(live.columns, asked).sum())
    return PlannedRun(
        budget=0,
        seed=0,
        pages=len(oldest),
        lanes={Lane.NEW: ids_of(live.ids[new].tobytes()), Lane.SWEEP: ids_of(live.ids[oldest].tobytes())},
        differ=differ,
        finds=differ,
        threshold=asked.knowledge.threshold,
    )


def _due(conn: Connection, store: str, now_ms: int, most: int | None) -> list[int]:
    """Return the pages that go by a date of their own, and whose date has come: what is away, or delisted."""
    away = (
        of_store(store, walk=is_dense(conn, count(conn, store)))
        & (pages.c.status == PageStatus.PARSED.value)
        & (pages.c.next_due_at <= now_ms)
        & (pages.c.misses > 0)
        & pages.c.content_hash.is_not(None)
    )
    query = select(pages.c.id).where(away).order_by(pages.c.next_due_at, pages.c.id).limit(most)
    return [int(page_id) for page_id in conn.execute(query).scalars()]


def _mark_seen(columns: Columns, asked: _Asked) -> None:
    """Have the cards on the catalogue pages that are seen anyway be known: nobody has to look for them again."""
    shown = np.isin(columns.listing, asked.seen)
    columns.listed[shown] = np.maximum(columns.listed[shown], asked.now_h)
    columns.listing[shown] = -1


def _lanes(live: Live, plan: Plan) -> dict[Lane, Sequence[int]]:
    return {lane: ids_of(live.ids[places].tobytes()) for lane, places in plan.lanes.items()}


def _odds(columns: Columns, asked: _Asked) -> Floats:
    """Return how probable it is that each page differs from its record; 0 for one that was never read."""
    return unseen(columns, asked.knowledge, asked.now_h)


def _finds(columns: Columns, asked: _Asked, plan: Plan, odds: Floats) -> float:
    """Return how many pages that differ a plan is expected to see: at themselves, or by their cards."""
    return seen_by(columns, asked.knowledge, plan, odds)


def _due_anew(soon: Live, plan: Plan, asked: _Asked, threshold: float) -> list[tuple[int, int]]:
    """Return the pages that were weighed and not chosen, each with its new date: in an hour at the soonest."""
    lost = soon.columns.flag != Flag.NEW
    for places in plan.lanes.values():
        lost[places] = False
    losers = soon.part(np.flatnonzero(lost))
    hours = losers.columns.looked + hours_to_due(expected(losers.columns, asked.knowledge, asked.now_h), threshold)
    dates = np.maximum(hours, asked.now_h + 1.0) * HOUR_MS
    return list(zip(losers.ids.tolist(), dates.round().astype(np.int64).tolist(), strict=True))


def _whole_number(number: float, asked: _Asked) -> int:
    """Return a whole number that is this one on average."""
    return int(number) + bool(asked.rng.random() < number % 1)
