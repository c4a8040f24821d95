"""What a plan is going to take, by what visits of late took: requests, bytes, money, minutes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from storebot.core.costs import PriceTable
from storebot.items import Expense, Tier


class Sample(NamedTuple):
    """Visits of late that were alike, and what they took together."""

    tier: Tier
    visits: int
    expense: Expense
    not_modified: bool = False


class Manners(NamedTuple):
    """How fast the store is asked."""

    delay_s: float
    concurrency: int = 1
    latency_s: float = 0.0  # of an answer; 0 where it isn't known


class Counts(NamedTuple):
    """Requests of a plan, by what they are for."""

    discovery: int = 0  # sitemaps, robots.txt, the heads of the catalogue
    views: int = 0  # catalogue pages that the plan picked
    conditional: int = 0  # product pages that may be answered with 304
    full: int = 0  # product pages that are fetched in full

    @property
    def pages(self) -> int:
        """Product pages."""
        return self.conditional + self.full

    @property
    def requests(self) -> int:
        """All of them."""
        return sum(self)


class Prospect(NamedTuple):
    """What a plan is expected to take."""

    requests: int
    size_bytes: int
    cost_micro: int  # by the price table of the store file
    seconds: float
    not_modified: float  # share of the conditional requests that are answered with 304
    basis: int  # visits by which it's estimated; 0: nothing is known, so bytes and money are nought


def prospect(
    counts: Counts, visits: Sequence[Sample], discovery: Sequence[Sample], manners: Manners, prices: PriceTable
) -> Prospect:
    """Return what so many requests are going to take.

    ``visits`` are those of product pages, ``discovery`` those that found pages: their ``visits`` are requests.
    """
    in_full = [sample for sample in visits if not sample.not_modified]
    by_tier = _sum([*_scaled(visits, counts.conditional), *_scaled(in_full or visits, counts.full)])
    by_tier = _sum([*by_tier.items(), *_scaled(discovery, counts.discovery + counts.views)])
    known = sum(sample.visits for sample in visits)
    each_s = max(manners.delay_s, manners.latency_s / manners.concurrency)
    return Prospect(
        requests=counts.requests,
        size_bytes=sum(expense.size_bytes for expense in by_tier.values()),
        cost_micro=sum(prices.estimate(tier, expense) for tier, expense in by_tier.items()),
        seconds=counts.requests * each_s,
        not_modified=sum(sample.visits for sample in visits if sample.not_modified) / known if known else 0.0,
        basis=known,
    )


def latency_s(visits: Iterable[Sample]) -> float:
    """Return how long an answer took on average, 0 where nothing is known."""
    total = Expense()
    for sample in visits:
        total = total.plus(sample.expense)
    return total.elapsed_ms / total.requests / 1000 if total.requests else 0.0


def _scaled(samples: Sequence[Sample], count: int) -> list[tuple[Tier, Expense]]:
    """Return what ``count`` visits take that are mixed as the samples are."""
    known = sum(sample.visits for sample in samples)
    if not known:
        return []
    return [(sample.tier, Expense(*(round(amount * count / known) for amount in sample.expense))) for sample in samples]


def _sum(expenses: Iterable[tuple[Tier, Expense]]) -> Mapping[Tier, Expense]:
    found: dict[Tier, Expense] = {}
    for tier, expense in expenses:
        found[tier] = found.get(tier, Expense()).plus(expense)
    return found
