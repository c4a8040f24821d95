"""When a message that couldn't be delivered is tried again, and when it is given up."""

from __future__ import annotations

FIRST_WAIT_MS = 60_000  # what services that say "too many requests" ask for is less, as a rule
LONGEST_WAIT_MS = 3_600_000
GIVEN_UP_AFTER_MS = 3 * 86_400_000  # a channel that breaks on a Friday evening is mended on Monday
LEAST_ATTEMPTS = 10  # however old: nothing may have tried for days


def next_try_at(attempts: int, now_ms: int) -> int:
    """Return when a message is tried again after so many failed attempts: each time twice as late, an hour at most."""
    return now_ms + min(FIRST_WAIT_MS << min(max(attempts - 1, 0), 16), LONGEST_WAIT_MS)


def is_given_up(attempts: int, created_ms: int, now_ms: int) -> bool:
    """Whether a message that failed once more becomes a dead letter."""
    return attempts >= LEAST_ATTEMPTS and now_ms - created_ms >= GIVEN_UP_AFTER_MS
