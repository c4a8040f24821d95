"""When a store that says no is left alone: the circuit breaker of a store, from run to run.

Closed: runs go on. Open: nothing is sent until its cool-down is over. Half-open: one request, and its answer decides.
Why, and what it costs: docs/decisions/0028-breaker-and-pace.md.
"""

from __future__ import annotations

from collections import deque
from enum import Enum, StrEnum
from typing import NamedTuple

FIRST_COOL_DOWN_MS = 30 * 60_000
LONGEST_COOL_DOWN_MS = 24 * 3_600_000
JITTER = 0.2
"""How far a cool-down strays, so that stores that went down together aren't asked together."""

_WINDOW = 5
"""Times the minimum: so many of the newest answers are looked at, or a long good run would hide a store that says no
by now."""


class State(StrEnum):
    """What a breaker is; the names are those of the field: https://martinfowler.com/bliki/CircuitBreaker.html"""

    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half-open"


class Breaker(NamedTuple):
    """A store's breaker as it's saved. Times are milliseconds since the epoch, by the database's clock."""

    state: State = State.CLOSED
    opened_at: int = 0
    until: int = 0  # while it's open: when a run may ask again
    trips: int = 0  # how often it opened since the store was last calm: the back-off's exponent
    reason: str = ""  # why it opened last


class Way(Enum):
    """What a run may do."""

    FREE = "go on"
    PROBE = "ask once, and go on if that works"
    NONE = "send nothing"


def way(breaker: Breaker, now_ms: int, *, forced: bool = False) -> Way:
    """Return what a run that begins now may do.

    A half-open breaker is one whose run died before its probe was answered: the next run asks. ``forced`` is somebody's
    word that the cool-down needn't be waited for; the probe is sent nevertheless.
    """
    if breaker.state is State.CLOSED:
        return Way.FREE
    return Way.NONE if breaker.state is State.OPEN and now_ms < breaker.until and not forced else Way.PROBE


def opened(breaker: Breaker, now_ms: int, reason: str, *, chance: float, asked_until_ms: int = 0) -> Breaker:
    """Return the breaker after the store said no: each time in a row it stays open twice as long, up to a day.

    ``chance`` (0 to 1) draws the jitter. ``asked_until_ms`` is when the store itself says that it may be asked again;
    it's believed for a day, and then asked again with one request.
    """
    cool_down = min(FIRST_COOL_DOWN_MS << min(breaker.trips, 16), LONGEST_COOL_DOWN_MS)
    strayed = int(cool_down * (1 + JITTER * (2 * chance - 1)))
    asked = min(asked_until_ms, now_ms + LONGEST_COOL_DOWN_MS)
    return Breaker(State.OPEN, now_ms, max(now_ms + strayed, asked), breaker.trips + 1, reason)


def half_opened(breaker: Breaker) -> Breaker:
    """Return the breaker of a run that is about to probe."""
    return breaker._replace(state=State.HALF_OPEN)


def closed(breaker: Breaker) -> Breaker:
    """Return the breaker after a probe that worked; it isn't forgotten how often it opened before."""
    return breaker._replace(state=State.CLOSED, until=0)


def calmed(breaker: Breaker) -> Breaker:
    """Return the breaker after a run that pages were seen in, and that ended by itself; an open one stays open."""
    return breaker._replace(trips=0, reason="") if breaker.state is State.CLOSED else breaker


def refuses(status: int) -> bool:
    """Whether a probe that was answered with this status failed; 404 and 410 are said by a store that answers."""
    return status >= 500 or (status >= 400 and status not in (404, 410))


class Watch:
    """The newest yeses and noes of a run, and whether there are too many noes among them.

    ``minimum`` noes are needed before their ``share`` counts, so that two unlucky first pages don't end a run.
    """

    def __init__(self, share: float, minimum: int) -> None:
        self.share, self.minimum = share, max(minimum, 1)
        self.noes = 0
        self._answers: deque[bool] = deque(maxlen=_WINDOW * self.minimum)

    @property
    def count(self) -> int:
        """How many answers are looked at."""
        return len(self._answers)

    def add(self, *, no: bool) -> bool:
        """Take one more answer; return whether the store says no."""
        if len(self._answers) == self._answers.maxlen:
            self.noes -= self._answers[0]
        self._answers.append(no)
        self.noes += no
        return self.noes >= self.minimum and self.noes >= self.share * len(self._answers)
