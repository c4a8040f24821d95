"""What becomes of a message by its answer, and when it's sent again."""

from __future__ import annotations

import pytest

from storebot.core.alerts.retrying import FIRST_WAIT_MS, LONGEST_WAIT_MS
from storebot.core.webhooks.answers import LONGEST_ASKED_MS, Answer, Fate, fate, next_try_at

NOW = 1_800_000_000_000


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (200, Fate.DELIVERED),
        (204, Fate.DELIVERED),
        (301, Fate.FAILED),
        (404, Fate.FAILED),
        (410, Fate.GONE),
        (429, Fate.FAILED),
        (503, Fate.FAILED),
        (0, Fate.FAILED),
    ],
)
def test_only_2xx_delivers_and_only_410_ends(status: int, expected: Fate) -> None:
    assert fate(Answer(status)) is expected


def test_waits_grow_to_an_hour_and_jitter_makes_them_longer_only() -> None:
    waits = [next_try_at(attempts, NOW, Answer(500), 0.0) - NOW for attempts in range(1, 40)]
    assert waits[0] == FIRST_WAIT_MS
    assert waits == sorted(waits)
    assert waits[-1] == LONGEST_WAIT_MS
    assert next_try_at(1, NOW, Answer(500), 1.0) - NOW == FIRST_WAIT_MS * 1.5


@pytest.mark.parametrize(
    ("retry_after", "wait_ms"),
    [
        ("1", FIRST_WAIT_MS),
        ("7200", 7_200_000),
        ("Fri, 15 Jan 2027 10:00:00 GMT", 7_200_000),
        ("999999999", LONGEST_ASKED_MS),
        ("soon", FIRST_WAIT_MS),
    ],
)
def test_retry_after_puts_it_off_and_never_brings_it_forward(retry_after: str, wait_ms: int) -> None:
    assert next_try_at(1, NOW, Answer(429, retry_after), 0.0) - NOW == wait_ms
