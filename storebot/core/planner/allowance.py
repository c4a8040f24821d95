"""How many requests a run may spend of a budget per day, by the time since the run before: a bucket that refills."""

from __future__ import annotations

from typing import NamedTuple

DAY_MS = 86_400_000


class Share(NamedTuple):
    """What a run had of the day's budget, and what it spent of that."""

    started_ms: int
    allowance: float
    spent: int


def allowance(per_day: int, last: Share | None, now_ms: int) -> float:
    """Return the requests that a run may spend which begins now: the first one a day's.

    What has come in since the last one began, and what that one left; at most a day's, however long ago it was. What
    it spent beyond its share (retries can't be known before) is taken off. So runs of an hour and of a day spend the
    same, and no more than ``per_day`` times the days, and one day's more.
    """
    if last is None:
        return float(per_day)
    came = per_day * max(now_ms - last.started_ms, 0) / DAY_MS
    return max(min(last.allowance - last.spent + came, float(per_day)), 0.0)
