"""When a message is tried again, and when it is given up."""

from __future__ import annotations

from storebot.core.alerts.retrying import GIVEN_UP_AFTER_MS, LEAST_ATTEMPTS, is_given_up, next_try_at

MINUTE = 60_000


def test_it_is_tried_again_twice_as_late_each_time_and_an_hour_at_most() -> None:
    waits = [next_try_at(attempts, 0) // MINUTE for attempts in (1, 2, 3, 6, 7, 100)]
    assert waits == [1, 2, 4, 32, 60, 60]


def test_it_is_given_up_after_days_of_trying_not_after_days_of_nobody_trying() -> None:
    assert is_given_up(LEAST_ATTEMPTS, 0, GIVEN_UP_AFTER_MS)
    assert not is_given_up(LEAST_ATTEMPTS, 1, GIVEN_UP_AFTER_MS)
    assert not is_given_up(LEAST_ATTEMPTS - 1, 0, GIVEN_UP_AFTER_MS)
