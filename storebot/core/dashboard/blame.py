"""Whose fault it is that a run didn't go as it should: ours, or the shop's."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple

from storebot.items import Outcome, RunStatus

# What a reason of `core.ending` says where the shop did something; anything else that fails is ours to look at.
_THE_SHOP = re.compile(
    r"domain moved|has the shop moved|robots\.txt|block page|circuit breaker|Retry-After|"
    r"\bHTTP (?:403|429|5\d\d)\b|time-?out|timed out|took longer than|refused|unreachable|"
    r"\bDNS|connection (?:was )?(?:lost|reset|closed)",
    re.IGNORECASE,
)
_OURS_FOR_SURE = re.compile(r"exceptions? in storebot itself|database|SaveFailed", re.IGNORECASE)


class Fault(StrEnum):
    """Who has to do something."""

    OURS = "ours"
    SHOP = "shop"
    DECISION = "decision"  # nothing is broken: a person has to decide, or has decided
    NOBODY = "nobody"

    @property
    def words(self) -> str:
        """Return it as a page says it."""
        return _WORDS[self]


_WORDS = {
    Fault.OURS: "ours",
    Fault.SHOP: "the shop's",
    Fault.DECISION: "a decision",
    Fault.NOBODY: "nothing is wrong",
}


class Past(NamedTuple):
    """One run. Times are milliseconds; ``finished_at`` is None while it lasts, or where its process died."""

    id: int
    kind: str
    status: RunStatus
    reason: str
    started_at: int
    finished_at: int | None
    parser_version: str = ""
    counts: Mapping[str, int] = {}  # visits by outcome
    listings: int = 0  # on sale, when it ended
    changes: int = 0
    missed: Sequence[str] = ()

    def count(self, *outcomes: Outcome) -> int:
        """Return how many visits ended so."""
        return sum(self.counts.get(outcome.value, 0) for outcome in outcomes)

    @property
    def saw(self) -> int:
        """How many visits saw their page, those included whose change is held."""
        return sum(count for name, count in self.counts.items() if Outcome(name).seen or name == Outcome.HELD.value)


def blame(run: Past) -> Fault:
    """Say whose fault it is that a run ended as it did. What isn't known to be the shop's doing is ours."""
    if run.status in (RunStatus.COMPLETE, RunStatus.RUNNING):
        return Fault.NOBODY
    if run.status is RunStatus.HELD:
        return Fault.DECISION
    if run.status is RunStatus.BLOCKED:
        return Fault.SHOP
    if _OURS_FOR_SURE.search(run.reason):
        return Fault.OURS
    ours, theirs = run.count(Outcome.INVALID), run.count(Outcome.BLOCKED, Outcome.ERROR)
    if ours or theirs:
        return Fault.SHOP if theirs >= ours else Fault.OURS
    return Fault.SHOP if _THE_SHOP.search(run.reason) else Fault.OURS
