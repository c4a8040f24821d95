"""What an answer of a receiver means for a message, and when it is sent again."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from storebot.core.alerts import retrying
from storebot.core.pacing import retry_after_s

LONGEST_ASKED_MS = 86_400_000  # that Retry-After may put a message off
_JITTER = 0.5  # so that receivers that failed together aren't tried together


class Answer(NamedTuple):
    """What came of posting a message: a status, or why there is none."""

    status: int = 0
    retry_after: str = ""
    error: str = ""

    @property
    def reason(self) -> str:
        """Say why it isn't delivered, in a few words."""
        if self.error or not self.status:
            return self.error or "no answer"
        moved = ": redirects aren't followed, give the new address" if 300 <= self.status < 400 else ""
        return f"it answered {self.status}{moved}"


class Fate(StrEnum):
    """What becomes of a message."""

    DELIVERED = "delivered"
    FAILED = "failed"  # sent again later
    GONE = "gone"  # 410: the receiver wants nothing any more


def fate(answer: Answer) -> Fate:
    """Return what an answer means: 2xx took it, 410 ends the subscription, anything else is tried again."""
    if 200 <= answer.status < 300:
        return Fate.DELIVERED
    return Fate.GONE if answer.status == 410 else Fate.FAILED


def next_try_at(attempts: int, now_ms: int, answer: Answer, jitter: float) -> int:
    """Return when a message is sent again after so many failed attempts: never earlier than its receiver asks.

    ``jitter`` is from 0 to 1: it makes the wait up to a half longer.
    """
    wait = retrying.next_try_at(attempts, 0)
    asked = retry_after_s(answer.retry_after, now_ms) if answer.retry_after else None
    least = min(asked * 1000, LONGEST_ASKED_MS) if asked else 0
    return now_ms + round(max(wait, least) * (1 + _JITTER * jitter))


def is_given_up(attempts: int, created_ms: int, now_ms: int) -> bool:
    """Whether a message that failed once more becomes a dead letter."""
    return retrying.is_given_up(attempts, created_ms, now_ms)
