"""What is known to be true of a store's copies, and of the signals that the planner goes by."""

from __future__ import annotations

from math import sqrt
from typing import Any, NamedTuple

from storebot.core.planner.knowledge import CARDS_AGREE, CARDS_ENOUGH, Knowledge

_Z = 1.96  # 95 %


def wilson(hits: int, looks: int) -> tuple[float, float]:
    """Return the 95 % interval of a share (Wilson, JASA 1927): all of 0 to 1 where nothing was looked at."""
    if not looks:
        return 0.0, 1.0
    share, weight = hits / looks, _Z * _Z / looks
    middle = (share + weight / 2) / (1 + weight)
    half = _Z * sqrt(share * (1 - share) / looks + weight / (4 * looks)) / (1 + weight)
    low, high = max(middle - half, 0.0), min(middle + half, 1.0)
    return (0.0 if not hits else low), (1.0 if hits == looks else high)


class Stale(NamedTuple):
    """Pages that were picked at random and looked at, and how many of them weren't any more as they were saved."""

    looks: int = 0
    stale: int = 0
    since_ms: int = 0  # the first of these looks; 0: none

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval of their share."""
        return wilson(self.stale, self.looks)

    def sentence(self) -> str:
        """Return it in words."""
        if not self.looks:
            return "how many copies are stale isn't known: a refresh with a budget audits some at random"
        low, high = self.interval
        return (
            f"{self.stale:,} of {self.looks:,} audits found a stale copy: {self.stale / self.looks:.1%} "
            f"(95 %: {low:.1%} to {high:.1%})"
        )


class Validators(NamedTuple):
    """What audits found of the store's 304: pages whose validators were the known ones, and whose record wasn't."""

    asked: int = 0
    lies: int = 0
    proof: str = ""  # why no conditional request is sent any more; "": they are


class Trust(NamedTuple):
    """What the signals of a store have proved to be worth."""

    lift: float  # probability that a moved lastmod stands for a change
    recall: float  # share of the changes that move a lastmod
    lastmod_looks: float  # at pages whose entry had moved, beyond what was expected anyway
    lastmod_is_junk: bool
    reads_sitemaps: bool
    card_pairs: int  # a card and its page, looked at within an hour
    card_equal: int
    cards_are_prices: bool
    validators: Validators
    since_ms: int = 0  # since when all of it is learned; 0: nothing is

    def sentences(self) -> list[str]:
        """Return it in words, a sentence for each signal."""
        return [self._lastmod(), self._validators(), self._cards()]

    def _lastmod(self) -> str:
        if self.lastmod_is_junk:
            return "lastmod: not believed, it says when the sitemap was made"
        if not self.reads_sitemaps:
            return "lastmod: none was read of late"
        if self.lastmod_looks < 1:
            return "lastmod: not tried yet: no page was looked at because its entry had moved"
        basis = f"from {self.lastmod_looks:,.0f} looks"
        told = f"it tells of {self.recall:.0%} of the changes"
        return f"lastmod: {self.lift:.0%} of what it says to have changed did ({basis}); {told}"

    def _validators(self) -> str:
        if self.validators.proof:
            return f"304: not believed, pages are fetched in full ({self.validators.proof})"
        if not self.validators.asked:
            return "304: not tried yet: audits do, in a refresh with a budget"
        return f"304: {self.validators.lies:,} of {self.validators.asked:,} audited were lies"

    def _cards(self) -> str:
        if not self.card_pairs:
            return "cards: none was compared with its page yet"
        agree = f"{self.card_equal:,} of {self.card_pairs:,} show the price of their page"
        if self.cards_are_prices:
            return f"cards: {agree}; their prices are saved"
        return f"cards: {agree}; they are hints until {CARDS_AGREE:.0%} of {CARDS_ENOUGH} do"


def trust(knowledge: Knowledge, validators: Validators, since_ms: int) -> Trust:
    """Return what is known by now."""
    return Trust(
        lift=knowledge.lift,
        recall=knowledge.recall,
        lastmod_looks=knowledge.lastmod_looks,
        lastmod_is_junk=knowledge.lastmod_is_junk,
        reads_sitemaps=knowledge.reads_sitemaps,
        card_pairs=knowledge.card_pairs,
        card_equal=knowledge.card_equal,
        cards_are_prices=knowledge.cards_are_prices,
        validators=validators,
        since_ms=since_ms,
    )


class Truth(NamedTuple):
    """All of it for one store: what reports, metrics and the plan tell."""

    store: str
    lately: Stale  # of the last 30 days
    ever: Stale  # of all visits that are kept
    trust: Trust

    @property
    def is_known(self) -> bool:
        """Whether there is anything that was learned."""
        return bool(self.ever.looks or self.trust.since_ms)

    def stale_of_late(self) -> str:
        """Return what audits found of late, in words."""
        return self.lately.sentence() + (", in the last 30 days" if self.lately.looks else "")

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        return {
            "stale": {"30d": _plain(self.lately), "ever": _plain(self.ever)},
            "trust": {**self.trust._asdict(), "validators": self.trust.validators._asdict()},
        }


def _plain(stale: Stale) -> dict[str, Any]:
    low, high = stale.interval
    share = stale.stale / stale.looks if stale.looks else None
    return {**stale._asdict(), "share": share, "low": low, "high": high}
