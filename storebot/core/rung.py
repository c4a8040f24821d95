"""What is known of one tier at one store, for one type of page: how often it works, and when it's tried again.

The rules and what they are for: docs/decisions/0026-ladder.md. Times are milliseconds since the epoch.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil, log

from storebot.items import PageType, Tier

MINUTE_MS = 60_000
DAY_MS = 24 * 60 * MINUTE_MS

_FADE = 0.95  # what a try weighs when the next one is there: about the last twenty count
_HALF_LIFE_MS = 7 * DAY_MS  # and by what time alone takes from it
_PRIOR = 0.98  # a tier that was never tried works, until it's seen not to: one try's worth of belief
_CHANCE = 1e-5  # so improbable must a row of failures be, by the tier's own rate, before the tier is left
_FEWEST, _MOST = 4, 20  # failures in a row before a tier is left, whatever its rate
_LOW_RATE, _LOW_TRIES = 0.25, 8.0  # below this rate, over so many tries, it's left without such a row
_PROVEN = 10.0  # successes after which a tier that came back is trusted as any other
_FILLS_MS = 30 * DAY_MS  # for how long one page that a tier filled speaks for the next

FIRST_WAIT_MS = 15 * MINUTE_MS
LONGEST_WAIT_MS = 64 * FIRST_WAIT_MS  # 16 hours: a store that is read once a day is probed once a day
_LONGEST_REASON = 300
_MANY = 1_000_000  # trips and failures beyond it say nothing new


@dataclass(frozen=True, slots=True, kw_only=True)
class Rung:
    """One tier for one type of page. It is *left* while ``retry_at`` isn't 0: only probes use it then, from that time.

    ``tries`` and ``successes`` fade, with each new try and with time; ``failures`` and ``trips`` are plain counts.
    """

    page_type: PageType
    tier: Tier
    tries: float = 0.0
    successes: float = 0.0
    failures: int = 0  # in a row, since the last success
    tried_at: int = 0
    worked_at: int = 0
    filled_at: int = 0  # when it last had the fields of a page that a cheaper tier got without them
    retry_at: int = 0
    trips: int = 0  # times that it was left, or probed in vain, since it last proved itself: the back-off's exponent
    reason: str = ""  # of the last failure

    @property
    def is_left(self) -> bool:
        """Whether it is only probed."""
        return self.retry_at > 0

    @property
    def rate(self) -> float:
        """The share of tries that worked, those long past counting little; of one that was never tried, a belief."""
        return (self.successes + _PRIOR) / (self.tries + 1)

    def is_due(self, now_ms: int) -> bool:
        """Whether a tier that was left may be probed. A time beyond the longest wait is from a clock that was wrong."""
        return self.is_left and not 0 < self.retry_at - now_ms <= LONGEST_WAIT_MS

    def worked_since(self, then_ms: int) -> bool:
        """Whether it has worked at ``then_ms`` or later."""
        return self.worked_at > 0 and self.worked_at >= then_ms

    def fills(self, now_ms: int) -> bool:
        """Whether it has shown lately that it gets the fields that cheaper tiers don't."""
        return self.filled_at > 0 and now_ms - self.filled_at <= _FILLS_MS


def worked(rung: Rung, now_ms: int, *, filled: bool = False) -> Rung:
    """Return the rung after a success. Of one that was left, the second in a row brings it back."""
    tries, successes = _faded(rung, now_ms)
    after = replace(
        rung,
        tries=tries + 1,
        successes=successes + 1,
        failures=0,
        tried_at=now_ms,
        worked_at=now_ms,
        filled_at=now_ms if filled else rung.filled_at,
    )
    if not rung.is_left:
        return replace(after, trips=0) if after.successes >= _PROVEN else after
    if rung.failures:  # a first success: the next probe needn't wait
        return replace(after, retry_at=max(now_ms, 1))
    return replace(after, tries=2.0, successes=2.0, retry_at=0)  # what it was like when it was refused is past


def failed(rung: Rung, now_ms: int, reason: str, *, probe: bool = False) -> Rung:
    """Return the rung after a failure; ``probe`` says that the tier was left, and this was to show whether it works."""
    tries, successes = _faded(rung, now_ms)
    after = replace(
        rung,
        tries=tries + 1,
        successes=successes,
        failures=min(rung.failures + 1, _MANY),
        tried_at=now_ms,
        reason=reason[:_LONGEST_REASON],
    )
    if probe if rung.is_left else _is_to_be_left(after):
        trips = min(rung.trips + 1, _MANY)
        return replace(after, trips=trips, retry_at=now_ms + wait_ms(trips))
    return after


def wait_ms(trips: int) -> int:
    """Return how long a tier is left alone: twice as long each time, up to `LONGEST_WAIT_MS`."""
    return int(min(FIRST_WAIT_MS * 2 ** min(trips - 1, 16), LONGEST_WAIT_MS))


def _faded(rung: Rung, now_ms: int) -> tuple[float, float]:
    fade = _FADE * 0.5 ** (max(now_ms - rung.tried_at, 0) / _HALF_LIFE_MS)
    return rung.tries * fade, rung.successes * fade


def _is_to_be_left(rung: Rung) -> bool:
    return rung.failures >= _patience(rung) or (rung.tries >= _LOW_TRIES and rung.rate < _LOW_RATE)


def _patience(rung: Rung) -> int:
    """Return how many failures in a row say that the tier doesn't work any more.

    So many as a tier of its rate, as that was before them, has once in a hundred thousand tries: a tier that gets two
    pages of three keeps its place through nine failures, one that always worked through three.
    """
    failures = min(rung.failures, _MOST)
    fade = _FADE**failures
    tries = max(rung.tries - (1 - fade) / (1 - _FADE), 0.0) / fade
    successes = min(rung.successes / fade, tries)
    rate = (successes + _PRIOR) / (tries + 1)
    return min(max(ceil(log(_CHANCE) / log(1 - rate)), _FEWEST), _MOST)
