"""When a product that can't be found any more is believed to be gone: evidence, confirmed, over time (DESIGN §5).

What is no evidence: a time-out, a 5xx, a block page, a redirect off the site, a run that hardly saw the store. Why
these rules, and what was refused: docs/decisions/0022-delisting.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from storebot.items import NOT_OBSERVED, Outcome

HOUR_MS = 3_600_000
DAY_MS = 24 * HOUR_MS
_UNSEEN_SHARE = 0.2  # of a run's visits: beyond it the store is in trouble, and its 404s may be part of that
_FIRST_LOOK_MS = 7 * DAY_MS  # at a delisted page
_LATER_LOOKS_MS = 30 * DAY_MS
_FEW = 3  # pages that may always go unnamed: a share of a small store is less than one


class Evidence(StrEnum):
    """What an answer to a product's own address says of the product: that it isn't sold there any more."""

    NOT_FOUND = "404"
    GONE = "410"
    SOFT_404 = "soft_404"  # status 200, and positively a page for what isn't there
    REDIRECT = "redirect"  # to the home page or a category


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """How sure one has to be; `[delist]` of a store file."""

    confirmations: int = 2
    hours: int = 24

    @property
    def span_ms(self) -> int:
        """How far the first and the last confirmation have to be apart."""
        return self.hours * HOUR_MS


class Misses(NamedTuple):
    """The evidence of one page since it was last seen. Times are milliseconds."""

    times: int
    first_at: int
    last_at: int
    by: str  # the last answer's `Evidence`
    unnamed_since: int | None = None  # complete walks enough didn't name the page; the last that did was then


def is_confirmed(misses: Misses, rules: Rules) -> bool:
    """Whether the product is gone.

    410 says so at once (RFC 9110 §15.5.11: the condition is likely to be permanent). Else so many answers of its own
    address over so many hours; or one, where by then complete walks enough had not named it for as long (case D04).
    """
    if not misses.times:
        return False
    if misses.by == Evidence.GONE:
        return True
    if misses.times >= rules.confirmations and misses.last_at - misses.first_at >= rules.span_ms:
        return True
    return misses.unnamed_since is not None and misses.last_at - misses.unnamed_since >= rules.span_ms


def is_trusted(outcomes: Mapping[Outcome, int]) -> bool:
    """Whether a run saw enough of the store for its evidence to be final: most of what it asked for was answered."""
    unseen = sum(outcomes.get(outcome, 0) for outcome in NOT_OBSERVED)
    return unseen <= _UNSEEN_SHARE * sum(outcomes.values())


def next_look_ms(at_ms: int, delisted_at_ms: int) -> int:
    """Return when a delisted page is looked at again: after a week, then every thirty days."""
    return at_ms + (_FIRST_LOOK_MS if at_ms - delisted_at_ms < _FIRST_LOOK_MS else _LATER_LOOKS_MS)


def dead_link_ms(at_ms: int, misses: int, backoff_ms: int) -> int:
    """Return when a page is looked at again that was never read and is missing, for the ``misses``-th time.

    A link to nothing may stay in a sitemap for ever: after the usual back-off a day, a week, then thirty days.
    """
    waits = (backoff_ms, DAY_MS, _FIRST_LOOK_MS, _LATER_LOOKS_MS)
    return at_ms + max(backoff_ms, waits[min(misses, len(waits)) - 1])


def is_plausible(unnamed: int, known: int, share: float) -> bool:
    """Whether so many pages may have dropped out of the walks; more is sooner a walk that shows half a store."""
    return unnamed <= max(_FEW, share * known)
