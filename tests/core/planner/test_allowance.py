"""Shares of a day's budget: whatever the cron, the day's budget is spent, and never much more."""

from __future__ import annotations

from itertools import zip_longest

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storebot.core.planner.allowance import DAY_MS, Share, allowance


def spend_all(per_day: int, gaps_ms: list[int], beyond: list[int]) -> int:
    """Return what runs spend that begin so far apart, and spend all that they may; ``beyond`` it, in some."""
    now, last, total = 0, None, 0
    for gap, more in zip_longest([0, *gaps_ms], [*beyond, 0], fillvalue=0):
        now += gap
        share = allowance(per_day, last, now)
        spent = int(share) + more
        last, total = Share(now, share, spent), total + spent
    return total


def test_first_run_has_the_budget_of_a_day() -> None:
    assert allowance(1_000, None, 5) == 1_000


@pytest.mark.parametrize("runs_a_day", [1, 2, 24, 288])
def test_every_cron_spends_the_day_s_budget(runs_a_day: int) -> None:
    days = 10
    gaps = [DAY_MS // runs_a_day] * (runs_a_day * days - 1)
    total = spend_all(1_000, gaps, [])
    # The first run has a day's at once; from then on each day brings its own.
    assert 1_000 * days <= total + 1 <= 1_000 * (days + 1) + 1


@given(
    st.integers(1, 10**6),
    st.lists(st.integers(0, 3 * DAY_MS), max_size=30),
)
def test_never_more_than_a_day_beyond_the_days_that_passed(per_day: int, gaps: list[int]) -> None:
    assert spend_all(per_day, gaps, []) <= per_day * (sum(gaps) / DAY_MS + 1) + 1e-6 * per_day + 1e-6


@given(st.integers(1, 10_000), st.lists(st.integers(0, DAY_MS), min_size=1, max_size=20), st.data())
def test_what_was_spent_beyond_is_taken_off(per_day: int, gaps: list[int], data: st.DataObject) -> None:
    beyond = data.draw(st.lists(st.integers(0, 5), min_size=len(gaps), max_size=len(gaps)))
    total = spend_all(per_day, gaps, beyond)
    # All but what a run spends beyond a share of nought, which nothing can be taken off from.
    assert total <= per_day * (sum(gaps) / DAY_MS + 1) + sum(beyond) + 1


@given(
    st.integers(1, 10**6),
    st.floats(0, 10**6),
    st.integers(0, 10**6),
    st.integers(-DAY_MS, 400 * DAY_MS),
)
def test_share_is_never_negative_nor_more_than_a_day_s(per_day: int, had: float, spent: int, gap: int) -> None:
    assert 0 <= allowance(per_day, Share(0, had, spent), gap) <= per_day


def test_rest_is_carried_over_for_one_day_at_most() -> None:
    hour = DAY_MS // 24
    assert allowance(240, Share(0, 10.0, 4), hour) == pytest.approx(16.0)
    assert allowance(240, Share(0, 240.0, 0), hour) == 240
    assert allowance(240, Share(0, 10.0, 25), hour) == 0.0
