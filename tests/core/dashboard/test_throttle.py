"""How often a password may be tried."""

from __future__ import annotations

from storebot.core.dashboard import throttle
from storebot.core.dashboard.throttle import SPAN_S, Throttle


def test_the_first_tries_are_free_and_the_next_wait_twice_as_long_each() -> None:
    tries = Throttle(3)
    for _ in range(3):
        assert tries.wait_s("anna", 100.0) == 0
        tries.failed("anna", 100.0)
    waits = []
    for _ in range(3):
        waits.append(tries.wait_s("anna", 100.0))
        tries.failed("anna", 100.0)
    assert waits == [1, 2, 4]
    assert tries.wait_s("anna", 103.0) == 5
    assert tries.wait_s("ben", 100.0) == 0


def test_nobody_waits_longer_than_a_span_and_then_it_begins_anew() -> None:
    tries = Throttle(0)
    for _ in range(2000):
        tries.failed("anna", 0.0)
    assert tries.wait_s("anna", 1.0) == SPAN_S - 1
    assert tries.wait_s("anna", SPAN_S) == 0
    tries.failed("anna", SPAN_S)
    assert tries.wait_s("anna", SPAN_S) == 2


def test_a_success_forgets_the_failures() -> None:
    tries = Throttle(1)
    tries.failed("anna", 0.0)
    tries.succeeded("anna")
    assert tries.wait_s("anna", 0.0) == 0


def test_it_remembers_so_many_names_and_no_more() -> None:
    tries = Throttle(1)
    for number in range(throttle.MOST_NAMES + 1):
        tries.failed(f"name {number}", 0.0)
    assert tries.wait_s("name 0", 0.0) == 0
    assert tries.wait_s("name 1", 0.0) > 0
