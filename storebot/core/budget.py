"""Whether a request may still be sent: what a run, and a month, may spend, and what is spent and under way.

What is compared, in each resource that has a limit: spent, plus what the requests under way are expected to take, plus
what this one is. So a limit is overshot by no more than what the requests under way take beyond what was expected of
them, and by what the pages under way still need (redirects, retries): these are finished, not cut off.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import NamedTuple

from storebot.core.costs import money
from storebot.items import Expense

DISCOVERY_SHARE = 0.5  # of what is left when a run begins: lists must not eat what their pages need
_MINUTE_MS = 60_000


class Limits(NamedTuple):
    """The most that may be spent; None is no limit. A NamedTuple whose fields are fields of `Expense`."""

    requests: int | None = None
    size_bytes: int | None = None
    browser_ms: int | None = None
    cost_micro: int | None = None

    @property
    def any(self) -> bool:
        """Whether there is one."""
        return any(limit is not None for limit in self)

    def shares(self, spent: Expense) -> dict[str, float]:
        """Return which share of each limit is spent, by the name of its resource."""
        return {name: getattr(spent, name) / limit for name, limit in self.each()}

    def each(self) -> Iterator[tuple[str, int]]:
        """Yield the limits that there are, by resource."""
        for name, limit in zip(self._fields, self, strict=True):
            if limit is not None:
                yield name, limit


class Verdict(StrEnum):
    """What becomes of a request."""

    GO = "go"
    WAIT = "wait"  # until one under way is done: only then it shows whether there is room
    STOP = "stop"


_STRICTNESS = (Verdict.GO, Verdict.WAIT, Verdict.STOP)


class Judged(NamedTuple):
    """The verdict, and for `Verdict.STOP` which limit it is, as a part of a sentence."""

    verdict: Verdict
    why: str = ""


class Use:
    """What was spent and is under way of some limits."""

    def __init__(self, limits: Limits, of_what: str, currency: str = "", spent: Expense | None = None) -> None:
        self.limits, self.of_what, self.currency = limits, of_what, currency
        self.spent = self.before = spent or Expense()
        self._under_way = self._discovery = self._discovery_under_way = Expense()

    def begin(self, expected: Expense, *, discovery: bool) -> None:
        """Note a request that is sent."""
        self._under_way = self._under_way.plus(expected)
        if discovery:
            self._discovery_under_way = self._discovery_under_way.plus(expected)

    def end(self, expected: Expense, *, discovery: bool) -> None:
        """Note that it isn't under way any more."""
        self._under_way = self._under_way.minus(expected)
        if discovery:
            self._discovery_under_way = self._discovery_under_way.minus(expected)

    def spend(self, took: Expense, *, discovery: bool) -> None:
        """Note what a request took."""
        self.spent = self.spent.plus(took)
        if discovery:
            self._discovery = self._discovery.plus(took)

    def judge(self, expected: Expense, *, discovery: bool) -> Judged:
        """Say whether there is room for a request; ``discovery`` has room in its own share, too."""
        verdict = Verdict.GO
        for name, limit in self.limits.each():
            more = getattr(expected, name)
            spent, away = getattr(self.spent, name), getattr(self._under_way, name)
            found = Verdict.STOP if spent >= limit else _room(limit, spent, away, more)
            why = self.sentence(name)
            if discovery and found is not Verdict.STOP:
                found = max(found, self._room_of_discovery(name, limit, more), key=_STRICTNESS.index)
                why = f"half of what was left of {self._of(name, limit)} went into discovery"
            if found is Verdict.STOP:
                return Judged(found, why)
            verdict = max(verdict, found, key=_STRICTNESS.index)
        return Judged(verdict)

    def _room_of_discovery(self, name: str, limit: int, more: int) -> Verdict:
        """Its first request has room in any case."""
        spent, away = getattr(self._discovery, name), getattr(self._discovery_under_way, name)
        share = int((limit - getattr(self.before, name)) * DISCOVERY_SHARE)
        return _room(max(share, more), spent, away, more)

    @property
    def used_up(self) -> str:
        """Say which limit is used up, "" where none is."""
        return next(
            (self.sentence(name) for name, limit in self.limits.each() if getattr(self.spent, name) >= limit), ""
        )

    def sentence(self, name: str) -> str:
        """Say how much of a limit is spent."""
        return f"{shown(name, getattr(self.spent, name))} of {self._of(name, getattr(self.limits, name))}"

    def _of(self, name: str, limit: int) -> str:
        return f"{shown(name, limit)} {_UNITS.get(name) or self.currency} of {self.of_what}"


class Budget:
    """The limits of a run and of the month, as they stand. Once one stops a page, no other page is begun."""

    def __init__(self, run: Use, month: Use) -> None:
        self.run, self.month = run, month
        self.stopped = ""  # by which limit the pages were

    @property
    def used_up(self) -> str:
        """Say which limit is used up already, "" where none is: nothing may then be sent at all."""
        return self.run.used_up or self.month.used_up

    def judge(self, expected: Expense, *, started: bool, discovery: bool) -> Judged:
        """Decide on a request. ``started``: its page is under way, and is finished whatever it takes."""
        if started:
            return Judged(Verdict.GO)
        if self.stopped:
            return Judged(Verdict.STOP, self.stopped)
        judged = [use.judge(expected, discovery=discovery) for use in (self.run, self.month)]
        found = max(judged, key=lambda one: _STRICTNESS.index(one.verdict))
        if found.verdict is Verdict.STOP and not discovery:
            self.stopped = found.why
        return found

    def begin(self, expected: Expense, *, discovery: bool) -> None:
        """Note a request that is sent."""
        self.run.begin(expected, discovery=discovery)
        self.month.begin(expected, discovery=discovery)

    def end(self, expected: Expense, *, discovery: bool) -> None:
        """Note that it isn't under way any more; what it took is told by `spend`."""
        self.run.end(expected, discovery=discovery)
        self.month.end(expected, discovery=discovery)

    def spend(self, took: Expense, *, discovery: bool) -> None:
        """Note what a request took."""
        self.run.spend(took, discovery=discovery)
        self.month.spend(took, discovery=discovery)

    def next_month(self, of_what: str) -> None:
        """Begin a month in which nothing is spent yet; what is under way is paid for in it."""
        self.month.of_what = of_what
        self.month.spent = self.month.before = Expense()


def _room(limit: int, spent: int, away: int, more: int) -> Verdict:
    if spent + more > limit:
        return Verdict.STOP
    return Verdict.WAIT if spent + away + more > limit else Verdict.GO


_UNITS = {"requests": "requests", "size_bytes": "MB", "browser_ms": "browser minutes"}


def shown(name: str, amount: int) -> str:
    """Return an amount of a resource as text, in the unit in which its limit is told."""
    match name:
        case "cost_micro":
            return money(amount)
        case "size_bytes":
            return f"{amount / 1e6:,.1f}"
        case "browser_ms":
            return f"{amount / _MINUTE_MS:,.1f}"
    return f"{amount:,}"
