"""On what terms a run may refresh a store: how many requests it has, and what of them the floor needs."""

from __future__ import annotations

from dataclasses import dataclass, replace

from storebot.core.planner.allowance import Share, allowance
from storebot.core.planner.floor import DAY_H, Floor
from storebot.core.planner.value import ValueRule

HOUR_MS = 3_600_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Orders:
    """What the store file and the command line say of a refresh."""

    per_day: int | None = None  # requests
    once: int | None = None  # for this run, whatever the day's budget is
    full: bool = False  # all that is known, whatever it takes
    max_age_h: float = 0.0  # promised; 0: nothing is
    sweep: float = 0.25
    rules: tuple[ValueRule, ...] = ()

    @property
    def budget(self) -> int | None:
        """The requests a day that the floor is judged by: what one run is given counts as a day's."""
        return self.once or self.per_day

    @property
    def is_planned(self) -> bool:
        """Whether there is something to choose."""
        return not self.full and self.budget is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What the database says of the store."""

    pages: int  # that can be fetched
    discovery: int = 0  # requests that finding pages took in the last refresh
    discovery_per_day: float = 0.0
    has_views: bool = False  # whether pages of its catalogue are known that show its products
    last: Share | None = None  # of the last run that had one
    now_ms: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What a planned run may do."""

    allowance: float  # requests in all
    discovery: int  # of these, expected for finding pages
    sweep: float  # share of those for pages that goes to the oldest
    every_h: float  # how long it is from one run to the next
    floor: Floor | None = None  # None: no age is promised

    @property
    def for_plan(self) -> int:
        """Requests that are left for catalogue pages and product pages."""
        return max(int(self.allowance) - self.discovery, 0)

    @property
    def must_wait(self) -> bool:
        """Whether there isn't enough yet for anything but finding pages: then it's left to the next run."""
        return not self.for_plan

    @property
    def is_refused(self) -> bool:
        """Whether the promised age can't be kept."""
        return self.floor is not None and not self.floor.is_feasible


def terms(orders: Orders, facts: Facts, listings_most: float) -> Terms:
    """Return the terms of a run; ``listings_most`` is the share that catalogue pages may take. Its floor may be one
    that can't be kept: whoever calls this looks at it.

    Raises ValueError where nothing limits the run.
    """
    if not orders.is_planned or orders.budget is None:
        raise ValueError("a run without a budget has no terms")
    share = float(orders.once) if orders.once else allowance(orders.budget, facts.last, facts.now_ms)
    gap_h = _gap_h(orders, facts)
    found = Terms(allowance=share, discovery=facts.discovery, sweep=orders.sweep, every_h=gap_h)
    if not orders.max_age_h:
        return found
    listings = listings_most if facts.has_views else 0.0
    floor = Floor(facts.pages, orders.max_age_h, orders.budget, facts.discovery_per_day, listings)
    needed = floor.sweep_of_run(found.for_plan * (1 - listings), gap_h)
    return replace(found, sweep=max(orders.sweep, needed), floor=floor)


def _gap_h(orders: Orders, facts: Facts) -> float:
    """Return how long after the last run this one comes: a day at most, as the share is a day's at most."""
    if orders.once or facts.last is None:
        return DAY_H
    return min(max((facts.now_ms - facts.last.started_ms) / HOUR_MS, 0.0), DAY_H)
