"""How a crawl spends less before its budget stops it: cheaper tiers, and pages looked at less often."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

from storebot.items import Expense, Tier

SPARE_FROM = 0.8  # of a limit; of a month's, if a smaller share of the month has passed
MIN_STRETCH, MAX_STRETCH = 2.0, 8.0
SHORTEST_INTERVAL_MS = 86_400_000  # what is stretched where the store file names no interval


class Thrift(NamedTuple):
    """What is scarce (fields of `Expense`), and how many times longer the interval between two looks becomes."""

    scarce: frozenset[str] = frozenset()
    stretch: float = 1.0
    why: str = ""  # "82 % of the month's money is spent, and 40 % of the month has passed"


_NAMES = {"requests": "requests", "size_bytes": "bytes", "browser_ms": "browser minutes", "cost_micro": "money"}


def thrift(run: Mapping[str, float], month: Mapping[str, float], passed: float) -> Thrift:
    """Return how to go on, by the shares of each limit that are spent and the share of the month that has ``passed``.

    What a run may spend is there to be spent in it: of that only what tiers differ in is spared.
    """
    ahead = {name: share for name, share in month.items() if share >= SPARE_FROM and share > passed}
    if ahead:
        name, share = max(ahead.items(), key=lambda item: item[1])
        stretch = min(MAX_STRETCH, max(MIN_STRETCH, (1 - passed) / (1 - share))) if share < 1 else MAX_STRETCH
        why = f"{share:.0%} of the month's {_NAMES[name]} is spent, and {passed:.0%} of the month has passed"
        return Thrift(frozenset(ahead), stretch, why)
    near = {name: share for name, share in run.items() if share >= SPARE_FROM and name in ("browser_ms", "cost_micro")}
    if near:
        name, share = max(near.items(), key=lambda item: item[1])
        return Thrift(frozenset(near), why=f"{share:.0%} of the run's {_NAMES[name]} is spent")
    return Thrift()


def cheap_tiers(tiers: Collection[Tier], expected: Mapping[Tier, Expense], scarce: Collection[str]) -> frozenset[Tier]:
    """Return the tiers that take the least of what is scarce; where no tier does of all of it, the first."""
    cheap = set(tiers)
    for name in scarce:
        least = min(getattr(expected[tier], name) for tier in tiers)
        cheap &= {tier for tier in tiers if getattr(expected[tier], name) == least}
    return frozenset(cheap) or frozenset(sorted(tiers, key=list(Tier).index)[:1])


def stretched_ms(interval_ms: int, stretch: float) -> int:
    """Return for how long a page isn't looked at beyond its interval."""
    return round((stretch - 1) * max(interval_ms, SHORTEST_INTERVAL_MS))


class Experience:
    """What a try by each tier took on the average so far; what is usual where there was none yet."""

    def __init__(self) -> None:
        self._tries: dict[Tier, int] = {}
        self._took: dict[Tier, Expense] = {}

    def add(self, tier: Tier, took: Expense) -> None:
        """Take one try."""
        self._tries[tier] = self._tries.get(tier, 0) + 1
        self._took[tier] = self._took.get(tier, Expense()).plus(took)

    def expect(self, tier: Tier) -> Expense:
        """Return what the next one is expected to take, rounded up, without its price."""
        tries = self._tries.get(tier)
        if not tries:
            return USUAL[tier]
        mean = Expense(*(-(-amount // tries) for amount in self._took[tier]))
        # A call is sent to be paid for, though some that failed weren't.
        return mean._replace(cost_micro=0, billed=max(mean.billed, USUAL[tier].billed))


# A page of a shop as it comes, compressed; in a browser with what it loads beside it, images and fonts left out.
_PAGE = Expense(requests=1, size_bytes=100_000)
_RENDERED = Expense(requests=20, size_bytes=1_000_000, browser_ms=5_000)
USUAL = {
    Tier.HTTP: _PAGE,
    Tier.HTTP2: _PAGE,
    Tier.BROWSER: _RENDERED,
    Tier.ATTACHED: _RENDERED,
    Tier.API: _PAGE._replace(billed=1),
}
