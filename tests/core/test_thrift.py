"""Less is spent before nothing more may be: cheaper tiers, rarer looks."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storebot.core.thrift import (
    MAX_STRETCH,
    MIN_STRETCH,
    USUAL,
    Experience,
    Thrift,
    cheap_tiers,
    stretched_ms,
    thrift,
)
from storebot.items import Expense, Tier

HOUR_MS = 3_600_000
shares = st.dictionaries(st.sampled_from(["requests", "size_bytes", "browser_ms", "cost_micro"]), st.floats(0, 1.5))


@pytest.mark.parametrize(
    ("month", "passed", "stretch"),
    [({"requests": 0.8}, 0.2, 4.0), ({"requests": 0.9}, 0.1, 8.0), ({"cost_micro": 0.8}, 0.75, 2.0)],
)
def test_a_month_whose_budget_runs_ahead_of_it_is_stretched(
    month: dict[str, float], passed: float, stretch: float
) -> None:
    found = thrift({}, month, passed)
    assert found.scarce == month.keys()
    assert found.stretch == pytest.approx(stretch)


@pytest.mark.parametrize(
    ("month", "passed"),
    [({"requests": 0.79}, 0.1), ({"requests": 0.85}, 0.9), ({}, 0.1)],
    ids=["early", "even", "none"],
)
def test_a_month_in_its_pace_goes_on_as_it_is(month: dict[str, float], passed: float) -> None:
    assert thrift({}, month, passed) == Thrift()


def test_it_says_why() -> None:
    why = thrift({}, {"requests": 0.2, "cost_micro": 0.82}, 0.4).why
    assert why == "82% of the month's money is spent, and 40% of the month has passed"
    assert thrift({"cost_micro": 0.9}, {}, 0.4).why == "90% of the run's money is spent"


def test_of_a_run_only_that_is_spared_in_which_tiers_differ() -> None:
    assert thrift({"requests": 0.99, "size_bytes": 0.99}, {}, 0.5) == Thrift()
    assert thrift({"browser_ms": 0.8}, {}, 0.5).scarce == {"browser_ms"}
    assert thrift({"browser_ms": 0.8}, {}, 0.5).stretch == 1.0


@given(shares, shares, st.floats(0, 1))
def test_the_interval_is_stretched_within_bounds(run: dict[str, float], month: dict[str, float], passed: float) -> None:
    found = thrift(run, month, passed)
    assert found.stretch == 1.0 or MIN_STRETCH <= found.stretch <= MAX_STRETCH
    assert bool(found.scarce) == bool(found.why)


def test_cheap_tiers_are_those_that_take_the_least_of_what_is_scarce() -> None:
    tiers = (Tier.HTTP, Tier.HTTP2, Tier.BROWSER, Tier.API)
    expected = {**USUAL, Tier.API: USUAL[Tier.API]._replace(cost_micro=2_100)}
    assert cheap_tiers(tiers, expected, {"cost_micro"}) == {Tier.HTTP, Tier.HTTP2, Tier.BROWSER}
    assert cheap_tiers(tiers, expected, {"browser_ms"}) == {Tier.HTTP, Tier.HTTP2, Tier.API}
    assert cheap_tiers(tiers, expected, {"browser_ms", "cost_micro"}) == {Tier.HTTP, Tier.HTTP2}


def test_where_no_tier_is_cheap_in_all_the_first_is_left() -> None:
    expected = {Tier.BROWSER: Expense(browser_ms=9), Tier.API: Expense(cost_micro=9)}
    assert cheap_tiers((Tier.BROWSER, Tier.API), expected, {"browser_ms", "cost_micro"}) == {Tier.BROWSER}


def test_an_interval_is_stretched_by_what_it_is_or_a_day() -> None:
    assert stretched_ms(48 * HOUR_MS, 3.0) == 96 * HOUR_MS
    assert stretched_ms(0, 2.0) == 24 * HOUR_MS


def test_what_is_expected_is_the_mean_rounded_up_and_what_is_usual_before_it() -> None:
    experience = Experience()
    assert experience.expect(Tier.API) == USUAL[Tier.API]
    experience.add(Tier.API, Expense(requests=1, size_bytes=10, billed=1, cost_micro=2_100))
    experience.add(Tier.API, Expense(requests=2, size_bytes=11))
    assert experience.expect(Tier.API) == Expense(requests=2, size_bytes=11, billed=1)
    assert experience.expect(Tier.HTTP) == USUAL[Tier.HTTP]
