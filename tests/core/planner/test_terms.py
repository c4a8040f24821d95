"""On what terms a run may refresh: its share, what finding pages takes of it, and the sweep that the floor needs."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storebot.core.planner.allowance import DAY_MS, Share
from storebot.core.planner.terms import Facts, Orders, terms

NOW = 40 * DAY_MS
HOUR = DAY_MS // 24


def test_run_that_is_given_its_requests_has_those_whatever_the_day_has() -> None:
    last = Share(NOW, 0.0, 0)
    found = terms(Orders(per_day=1_000, once=50), Facts(pages=9, discovery=3, last=last, now_ms=NOW), 0.4)
    assert (found.allowance, found.for_plan, found.sweep, found.floor) == (50.0, 47, 0.25, None)


def test_run_of_the_day_has_its_share() -> None:
    facts = Facts(pages=9, discovery=3, last=Share(NOW - HOUR, 100.0, 100), now_ms=NOW)
    assert terms(Orders(per_day=2_400), facts, 0.4).for_plan == 97


def test_share_that_only_finds_pages_is_saved() -> None:
    facts = Facts(pages=9, discovery=3, last=Share(NOW - HOUR, 0.0, 0), now_ms=NOW)
    assert terms(Orders(per_day=72), facts, 0.4).must_wait
    assert not terms(Orders(per_day=96), facts, 0.4).must_wait


def test_floor_raises_the_sweep_and_never_lowers_it() -> None:
    orders = Orders(per_day=1_000, max_age_h=240.0)
    assert terms(orders, Facts(pages=5_000, now_ms=NOW), 0.4).sweep == pytest.approx(0.5)
    assert terms(orders, Facts(pages=100, now_ms=NOW), 0.4).sweep == 0.25
    with_views = terms(orders, Facts(pages=5_000, has_views=True, now_ms=NOW), 0.4)
    assert with_views.sweep == pytest.approx(0.5 / 0.6)


def test_infeasible_floor_is_told_not_raised() -> None:
    found = terms(Orders(per_day=10, max_age_h=24.0), Facts(pages=5_000, now_ms=NOW), 0.4)
    assert found.floor is not None
    assert not found.floor.is_feasible
    assert found.sweep == 1.0


def test_without_a_budget_or_for_all_there_are_no_terms() -> None:
    for orders in (Orders(), Orders(per_day=5, full=True)):
        assert not orders.is_planned
        with pytest.raises(ValueError, match="without a budget"):
            terms(orders, Facts(pages=1), 0.4)


@given(
    pages=st.integers(0, 10**6),
    per_day=st.integers(1, 10**5),
    discovery=st.integers(0, 500),
    max_age=st.integers(0, 9_000),
    gap=st.integers(0, 3 * DAY_MS),
    had=st.floats(0, 10**5),
    views=st.booleans(),
)
def test_terms_are_within_their_bounds(
    pages: int, per_day: int, discovery: int, max_age: int, gap: int, had: float, views: bool
) -> None:
    facts = Facts(
        pages=pages,
        discovery=discovery,
        discovery_per_day=float(discovery),
        has_views=views,
        last=Share(NOW - gap, had, 0),
        now_ms=NOW,
    )
    found = terms(Orders(per_day=per_day, max_age_h=float(max_age)), facts, 0.4)
    assert 0 <= found.allowance <= per_day
    assert 0 <= found.for_plan <= max(found.allowance - discovery, 0)
    assert 0.25 <= found.sweep <= 1
    assert (found.floor is None) == (max_age == 0)
