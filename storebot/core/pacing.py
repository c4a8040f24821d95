"""How fast a store is asked: what it says itself (Retry-After), what its refusals say, and what that makes of a run.

Why these numbers: docs/decisions/0028-breaker-and-pace.md.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from datetime import UTC
from email.utils import parsedate_to_datetime

LONGEST_PAUSE_S = 3600.0
"""For which a run waits; who is asked for more comes back another time (case Z04)."""

ASKS_FOR_TIME = frozenset({429, 503})
"""The statuses that mean "slower". RFC 6585 §4, RFC 9110 §15.6.4."""

POLITE_DELAY_S = 1.0
"""Between two requests to somebody else's server, unless they allowed less."""

_FIRST_PAUSE_S, _LONGEST_OWN_PAUSE_S = 1.0, 300.0
_SHORTEST_STEP_S, _SLOWEST_S = 0.25, 60.0  # a delay of nothing can't be doubled
_CALM = 20  # good answers in a row that halve the delay again
_FORGETS_STEP_MS = 3_600_000


def retry_after_s(value: str, now_ms: int) -> float | None:
    """Return the seconds that a Retry-After asks for, never negative; None where it can't be read. RFC 9110 §10.2.3.

    A date without an offset, or with ``-0000``, is UTC: that is what HTTP dates are.
    """
    value = value.strip()
    if re.fullmatch(r"\d{1,9}(?:\.\d{1,9})?", value, re.ASCII):
        return float(value)
    try:
        moment = parsedate_to_datetime(value)
        return max(0.0, (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() - now_ms / 1000)
    except (ValueError, OverflowError):
        return None


@dataclass(frozen=True, slots=True)
class Pace:
    """How a host is asked after it asked for time. Seconds are of any clock that doesn't go back."""

    steps: int = 0  # how often the delay is doubled
    refusals: int = 0  # in a row
    calm: int = 0  # good answers since the last refusal or halving
    paused_until_s: float = 0.0

    @property
    def at_rest(self) -> bool:
        """Whether nothing is left of it."""
        return not self.steps and not self.refusals

    def delay_s(self, base_s: float) -> float:
        """Return the delay between two requests where it would be ``base_s``; doubled up to a minute, never below."""
        if not self.steps:
            return base_s
        return max(base_s, min(max(base_s, _SHORTEST_STEP_S) * 2.0**self.steps, _SLOWEST_S))

    def refused(
        self, now_s: float, asked_s: float | None, base_s: float, longest_s: float, *, sent_s: float | None = None
    ) -> Pace:
        """Return the pace after an answer that asks for time.

        All requests pause as long as it says (``asked_s``), or for a second, two, four … where it says nothing that can
        be believed; ``longest_s`` bounds what it says nothing of. What was sent (``sent_s``, else now) before the last
        pause was over is no second refusal.
        """
        again = replace(self, calm=0)
        if (now_s if sent_s is None else sent_s) >= self.paused_until_s:
            slower = self.delay_s(base_s) < max(_SLOWEST_S, base_s)
            again = replace(again, steps=self.steps + slower, refusals=self.refusals + 1)
        own_s = min(_FIRST_PAUSE_S * (1 << min(again.refusals - 1, 16)), _LONGEST_OWN_PAUSE_S, longest_s)
        until_s = now_s + max(asked_s or 0.0, own_s)
        return replace(again, paused_until_s=max(self.paused_until_s, until_s))

    def answered(self, now_s: float) -> Pace:
        """Return the pace after another answer: twenty in a row halve the delay, until it's what it was."""
        if now_s < self.paused_until_s:
            return self
        if self.calm + 1 < _CALM:
            return replace(self, refusals=0, calm=self.calm + 1)
        return Pace(steps=max(self.steps - 1, 0), paused_until_s=self.paused_until_s)

    def remembered(self, rested_ms: int) -> Pace:
        """Return the pace of a run that begins so long after the last one: an hour halves the delay, too."""
        return Pace(steps=max(self.steps - max(rested_ms, 0) // _FORGETS_STEP_MS, 0))


def shortfall(pages: int, delay_s: float, interval_ms: int, *, latency_s: float = 0.0, concurrency: int = 1) -> str:
    """Say that so many pages can't be looked at within the interval, and what would fit; "" where they can.

    Scrapy sends one request each ``delay_s``, whatever the concurrency; where an answer takes longer than that
    (``latency_s``, 0 where it isn't known) it's the concurrency that bounds a run. A delay below a second isn't
    proposed: that is for the shop to allow.
    """
    each_s = max(delay_s, latency_s / concurrency)
    takes_s, interval_s = pages * each_s, interval_ms / 1000
    if not interval_s or takes_s <= interval_s:
        return ""
    room_s = interval_s / pages
    fitting = [f'[refresh] interval = "{as_duration(takes_s)}"']
    workers = math.ceil(latency_s / room_s)
    if delay_s <= room_s:
        fitting.append(f"concurrency = {workers}")
    elif room_s >= POLITE_DELAY_S:
        by_workers = f" with concurrency = {workers}" if workers > concurrency else ""
        fitting.append(f"delay_s = {math.floor(room_s * 1000) / 1000:g}{by_workers}")
    return (
        f"{pages:,} pages at {each_s:.3g} s each take {as_duration(takes_s)}, longer than [refresh] interval = "
        f'"{as_duration(interval_s)}"; what would fit: {", or ".join(fitting)}'
    )


def as_duration(seconds: float) -> str:
    """Return a duration as a store file has it, rounded up to whole minutes, or seconds below one."""
    if seconds < 60:
        return f"{math.ceil(seconds)}s"
    hours, minutes = divmod(math.ceil(seconds / 60), 60)
    return f"{hours}h{minutes}m" if hours and minutes else f"{hours}h" if hours else f"{minutes}m"
