"""When a product is gone for good."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storebot.core.delist import (
    DAY_MS,
    HOUR_MS,
    Evidence,
    Misses,
    Rules,
    dead_link_ms,
    is_confirmed,
    is_plausible,
    is_trusted,
    next_look_ms,
)
from storebot.items import Outcome

RULES = Rules()
T0 = 1_800_000_000_000


def misses(times: int, hours: float, by: str = Evidence.NOT_FOUND, unnamed_h: float | None = None) -> Misses:
    """Return evidence of so many answers; the first was ``hours`` ago, the page last named ``unnamed_h`` ago."""
    since = None if unnamed_h is None else T0 - int(unnamed_h * HOUR_MS)
    return Misses(times, T0 - int(hours * HOUR_MS), T0, by, since)


@pytest.mark.parametrize(
    ("evidence", "confirmed"),
    [
        (misses(0, 0), False),
        (misses(1, 0), False),
        (misses(1, 100), False),  # one answer, however long ago
        (misses(2, 1), False),  # two within the hour are one outage
        (misses(24, 23), False),
        (misses(2, 24), True),
        (misses(2, 24, Evidence.SOFT_404), True),
        (misses(2, 24, Evidence.REDIRECT), True),
        (misses(1, 0, Evidence.GONE), True),  # D01: 410 at once
        (misses(1, 0, unnamed_h=48), True),  # D04: complete walks without it, and one direct answer
        (misses(0, 0, unnamed_h=4800), False),  # D04: walks alone never
        (misses(1, 0, unnamed_h=5), False),
    ],
)
def test_gone_is_what_its_own_address_confirmed(evidence: Misses, confirmed: bool) -> None:
    assert is_confirmed(evidence, RULES) is confirmed


@given(st.integers(1, 50), st.integers(0, 10**10), st.integers(1, 5), st.integers(0, 100))
def test_more_evidence_never_makes_it_less_sure(times: int, span: int, confirmations: int, hours: int) -> None:
    rules = Rules(confirmations=confirmations, hours=hours)
    before = Misses(times, T0, T0 + span, Evidence.NOT_FOUND)
    after = Misses(times + 1, T0, T0 + span + HOUR_MS, Evidence.NOT_FOUND)
    assert is_confirmed(after, rules) or not is_confirmed(before, rules)


@pytest.mark.parametrize(
    ("outcomes", "trusted"),
    [
        ({Outcome.MISSING: 5}, True),
        ({Outcome.MISSING: 5, Outcome.ERROR: 1}, True),
        ({Outcome.UNCHANGED: 70, Outcome.MISSING: 5, Outcome.ERROR: 30}, False),
        ({Outcome.UNCHANGED: 70, Outcome.MISSING: 5, Outcome.BLOCKED: 10, Outcome.INVALID: 10}, False),
        ({}, True),
    ],
)
def test_a_run_that_could_not_see_much_of_the_store_delists_nothing(
    outcomes: dict[Outcome, int], trusted: bool
) -> None:
    assert is_trusted(outcomes) is trusted


def test_a_delisted_page_is_looked_at_after_a_week_and_then_every_month() -> None:
    first = next_look_ms(T0, T0)
    second = next_look_ms(first, T0)
    assert (first - T0, second - first, next_look_ms(second, T0) - second) == (7 * DAY_MS, 30 * DAY_MS, 30 * DAY_MS)


def test_a_link_that_never_led_anywhere_is_asked_for_ever_more_seldom() -> None:
    waits = [dead_link_ms(T0, misses, HOUR_MS) - T0 for misses in range(1, 7)]
    assert waits == [HOUR_MS, DAY_MS, 7 * DAY_MS, 30 * DAY_MS, 30 * DAY_MS, 30 * DAY_MS]
    assert dead_link_ms(T0, 2, 2 * DAY_MS) == T0 + 2 * DAY_MS


@pytest.mark.parametrize(
    ("unnamed", "known", "plausible"), [(3, 3, True), (4, 5, False), (20, 100, True), (21, 100, False), (0, 0, True)]
)
def test_half_a_store_does_not_drop_out_of_its_catalogue(unnamed: int, known: int, plausible: bool) -> None:
    assert is_plausible(unnamed, known, 0.2) is plausible
