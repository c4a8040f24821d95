"""All pages of a store at once: the same index as `hazard`, over columns, and the choice of what a run fetches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from storebot.core.planner.hazard import (
    DEADLINE_H,
    LISTED_FOR_H,
    LONGEST_H,
    PRIOR_WEIGHT,
    STALENESS_PER_H,
    SURE,
    Flag,
)
from storebot.core.planner.knowledge import Knowledge
from storebot.core.planner.lanes import Lane as Lane

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

SWEEP, AUDIT = 0.25, 0.03  # shares of what catalogue pages leave of a budget
LISTINGS_MOST = 0.4  # share of a budget that catalogue pages may take
_SAMPLE = 2_000
_AT_ONCE = 1e6  # above what any page without proof is worth, whatever its value
_STEPS = 14


@dataclass(slots=True)
class Columns:
    """The pages of a store that can be fetched, one entry each; times in hours."""

    looked: Floats  # last look at the page
    credit: Floats
    exposure: Floats
    listed: Floats  # last look at its card; 0: never
    flag: Ints  # hazard.Flag
    category: Ints
    listing: Ints  # which catalogue page shows it; -1: none
    value: Floats

    def __len__(self) -> int:
        return len(self.looked)


class Expected(NamedTuple):
    """What is expected of each page; see `hazard.Hazard`."""

    rate: Floats
    now: Floats  # of all changes, as the category changes of late
    unreported: Floats
    changed: Floats
    value: Floats


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a run fetches: catalogue pages by number, and places in the columns by lane."""

    listings: Ints
    lanes: dict[Lane, Ints]
    threshold: float  # the index of the last page that was worth a request

    @property
    def requests(self) -> int:
        """How many requests it takes."""
        return len(self.listings) + sum(len(places) for places in self.lanes.values())


def expected(columns: Columns, knowledge: Knowledge, now_h: float) -> Expected:
    """Return what is expected of all pages."""
    numbers, places = np.unique(columns.category, return_inverse=True)
    groups = [knowledge.category(int(number)) for number in numbers]
    mean = np.array([group.mean for group in groups])[places] if groups else np.empty(0)
    burst = np.array([group.burst(now_h) for group in groups])[places] if groups else np.empty(0)
    rate = (PRIOR_WEIGHT + columns.credit) / (PRIOR_WEIGHT / mean + columns.exposure)
    on_card = (columns.listed > 0) & (now_h - columns.listed <= LISTED_FOR_H)
    unreported = rate * burst * (1 - knowledge.recall) * np.where(on_card, 1 - knowledge.visible, 1.0)
    lift = np.where(columns.flag == Flag.LASTMOD, knowledge.lift, knowledge.lift_checked)
    odds = lift / (1 - lift) * np.sqrt(rate * burst / knowledge.mean)
    changed = np.select([columns.flag == Flag.NONE, columns.flag >= Flag.DIFFERS], [0.0, SURE], odds / (1 + odds))
    return Expected(rate, rate * burst, unreported, changed, columns.value)


def index(of: Expected, since_h: Floats) -> Floats:
    """Return the index of each page so long after its last look; see `hazard.index`."""
    soon = of.unreported + 1 / DEADLINE_H
    unseen = 1 - of.changed
    x, y = of.unreported * since_h, soon * since_h
    in_time = of.changed + unseen * (of.unreported / soon) * (1 - (1 + y) * np.exp(-y))
    stale = (1 - (1 + x) * unseen * np.exp(-x)) / of.rate
    found: Floats = of.value * (in_time + STALENESS_PER_H * stale)
    return found


def hours_to_due(of: Expected, threshold: float) -> Floats:
    """Return how long after its last look each page's index reaches the threshold; see `hazard.hours_to_due`."""
    low, high = np.zeros(len(of.rate)), np.full(len(of.rate), LONGEST_H)
    at_once = index(of, low) >= threshold
    never = index(of, high) < threshold
    for _ in range(_STEPS):
        middle = (low + high) / 2
        reached = index(of, middle) >= threshold
        low, high = np.where(reached, low, middle), np.where(reached, middle, high)
    return np.where(at_once, 0.0, np.where(never, LONGEST_H, high))


def listing_worth(columns: Columns, of: Expected, knowledge: Knowledge, now_h: float) -> tuple[Ints, Floats]:
    """Return the catalogue pages that show known products, and what a look at each is worth: the sum of its cards'.

    Where cards are only hints, a find costs a second request.
    """
    shown = columns.listing >= 0
    if not shown.any():
        return np.empty(0, np.int64), np.empty(0)
    rate = of.now[shown] * knowledge.visible
    since = now_h - np.maximum(columns.listed, columns.looked)[shown]
    told = np.where(columns.flag[shown] == Flag.LASTMOD, of.changed[shown] * knowledge.visible, 0.0)
    cards = Expected(of.rate[shown], rate, rate, told, of.value[shown])
    numbers, places = np.unique(columns.listing[shown], return_inverse=True)
    weights = index(cards, np.maximum(since, 0.0)) * (1.0 if knowledge.cards_are_prices else 0.5)
    return numbers, np.bincount(places, weights=weights).astype(np.float64)


def choose(
    columns: Columns,
    knowledge: Knowledge,
    now_h: float,
    budget: int,
    rng: np.random.Generator,
    *,
    sweep: float = SWEEP,
    audit: float = AUDIT,
    candidates: NDArray[np.bool_] | None = None,
) -> Plan:
    """Return what to fetch with so many requests: catalogue pages, the oldest, some at random, then the worthiest.

    The oldest pages are reserved before anything else, so that no signal can starve them. A page is in one lane.
    ``candidates`` are the pages that may be among the worthiest: those that are flagged or soon due.
    """
    of = expected(columns, knowledge, now_h)
    score = index(of, now_h - columns.looked)
    # What a card told within a day is due at once. What it told before that can't be caught in time any more.
    told = columns.flag == Flag.DIFFERS
    late = told & (columns.listed > columns.looked) & (now_h - columns.listed > DEADLINE_H)
    score[told & ~late] += _AT_ONCE
    score[late] -= columns.value[late] * SURE
    score[columns.flag == Flag.NEW] = np.inf
    if candidates is not None:
        score[~candidates] = 0.0
    listings = _listings(columns, of, knowledge, now_h, budget, score)
    left = budget - len(listings)
    free = np.ones(len(columns), bool)
    lanes: dict[Lane, Ints] = {}
    lanes[Lane.SWEEP] = _take(free, _smallest(columns.looked, _whole(left * sweep, rng)))
    audits = min(len(columns), _whole(left * audit, rng), left - len(lanes[Lane.SWEEP]))
    random = rng.choice(len(columns), audits, replace=False).astype(np.int64)
    lanes[Lane.AUDIT] = _take(free, random[free[random]])
    rest = left - len(lanes[Lane.SWEEP]) - len(lanes[Lane.AUDIT])
    best = _take(free, _smallest(np.where(free, -score, np.inf), rest))
    threshold = float(score[best].min()) if len(best) == rest and rest else 0.0
    flags = columns.flag[best]
    lanes[Lane.NEW] = best[flags == Flag.NEW]
    lanes[Lane.SIGNAL] = best[(flags > Flag.NONE) & (flags < Flag.NEW)]
    lanes[Lane.HAZARD] = best[flags == Flag.NONE]
    return Plan(listings=listings, lanes=lanes, threshold=threshold)


def _listings(columns: Columns, of: Expected, knowledge: Knowledge, now_h: float, budget: int, score: Floats) -> Ints:
    """Return the catalogue pages that are worth more than the pages that their requests would fetch."""
    numbers, worth = listing_worth(columns, of, knowledge, now_h)
    most = min(int(budget * LISTINGS_MOST), len(numbers))
    if not most:
        return np.empty(0, np.int64)
    order = np.argsort(-worth, kind="stable")[:most]
    pages = -np.sort(-score[_smallest(-score, budget)])
    # The i-th listing takes the request of the worst page that would still be fetched.
    at = budget - 1 - np.arange(most)
    rivals = np.where(at < len(pages), pages[np.minimum(at, max(len(pages) - 1, 0))] if len(pages) else 0.0, 0.0)
    beaten = worth[order] > rivals
    count = int(np.argmin(beaten)) if not beaten.all() else most
    return numbers[order[:count]].astype(np.int64)


def _smallest(keys: Floats, count: int) -> Ints:
    """Return the places of the smallest keys, ties by place; infinite ones are none."""
    count = min(count, len(keys))
    if count <= 0:
        return np.empty(0, np.int64)
    if count < len(keys):
        limit = np.partition(keys, count - 1)[count - 1]
        candidates = np.flatnonzero(keys <= limit)
    else:
        candidates = np.arange(len(keys))
    ordered: Ints = candidates[np.argsort(keys[candidates], kind="stable")][:count].astype(np.int64)
    return ordered[keys[ordered] < np.inf]


def _whole(number: float, rng: np.random.Generator) -> int:
    """Return a whole number that is this one on average: a share of a small budget must not always be nothing."""
    return int(number) + bool(rng.random() < number % 1)


def _take(free: NDArray[np.bool_], places: Ints) -> Ints:
    free[places] = False
    return places


def threshold_for(
    columns: Columns, knowledge: Knowledge, now_h: float, per_hour: float, rng: np.random.Generator
) -> float:
    """Return the index at which so many pages an hour fall due, by a sample: what due dates are worked out with."""
    if not len(columns) or per_hour <= 0:
        return knowledge.threshold
    sample = rng.choice(len(columns), min(len(columns), _SAMPLE), replace=False)
    of = expected(_part(columns, sample), knowledge, now_h)
    plain = of._replace(changed=np.zeros(len(sample)))
    low, high = 0.0, float(index(plain, np.full(len(sample), LONGEST_H)).max())
    for _ in range(30):
        middle = (low + high) / 2
        rate = len(columns) * float(np.mean(1 / np.maximum(hours_to_due(plain, middle), 0.25)))
        low, high = (middle, high) if rate > per_hour else (low, middle)
    return high


def _part(columns: Columns, places: Ints) -> Columns:
    return Columns(**{name: getattr(columns, name)[places] for name in Columns.__slots__})
