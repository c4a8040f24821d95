"""What one page's past says of its next change."""

from __future__ import annotations

from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storebot.core.planner.hazard import (
    LONGEST_H,
    Hazard,
    at_least_one,
    change_rate,
    changes_behind_one,
    decay,
    hours_to_due,
    index,
)

rates = st.floats(1e-5, 1.0)
hazards = st.builds(Hazard, rates, rates, st.floats(0, 0.99), st.floats(0.1, 10))


class TestRate:
    def test_a_page_without_a_past_changes_as_its_category_does(self) -> None:
        assert change_rate(0, 0, 0.01) == pytest.approx(0.01)

    def test_much_evidence_outweighs_the_category(self) -> None:
        assert change_rate(100, 1000, 0.001) == pytest.approx(100.5 / 1500)

    def test_silence_lowers_it_and_changes_raise_it(self) -> None:
        assert change_rate(0, 500, 0.01) < 0.01 < change_rate(3, 100, 0.01)

    @given(st.floats(1e-9, 50))
    def test_one_difference_stands_for_one_change_at_least(self, expected: float) -> None:
        behind = changes_behind_one(expected)
        assert 1 <= behind <= 1 + expected
        assert behind >= expected - 1e-6

    def test_many_expected_changes_stand_behind_one_difference(self) -> None:
        assert changes_behind_one(5.0) == pytest.approx(5 / at_least_one(5.0))

    def test_half_is_forgotten_in_forty_five_days(self) -> None:
        assert decay(45 * 24.0) == pytest.approx(0.5)


class TestIndex:
    @given(hazards, st.floats(0, 2000), st.floats(0, 2000))
    def test_it_never_falls_with_time(self, hazard: Hazard, one: float, other: float) -> None:
        early, late = sorted((one, other))
        assert index(hazard, early) <= index(hazard, late) * (1 + 1e-9) + 1e-12

    @given(hazards)
    def test_right_after_a_look_it_is_what_a_signal_makes_of_it(self, hazard: Hazard) -> None:
        stale = hazard.changed / hazard.rate / 240
        assert index(hazard, 0.0) == pytest.approx(hazard.value * (hazard.changed + stale), abs=1e-12)

    def test_a_signal_outweighs_months_of_waiting(self) -> None:
        assert index(Hazard(0.001, 0.001, 0.99), 0.0) > index(Hazard(0.001, 0.001), 24 * 20)

    def test_the_value_weighs(self) -> None:
        assert index(Hazard(0.01, 0.01, 0, 3.0), 24) == pytest.approx(3 * index(Hazard(0.01, 0.01), 24))


class TestDue:
    @given(hazards, st.floats(0.001, 5))
    def test_it_is_when_the_index_reaches_the_threshold(self, hazard: Hazard, threshold: float) -> None:
        due = hours_to_due(hazard, threshold)
        assert 0 <= due <= LONGEST_H
        if 0 < due < LONGEST_H:
            assert index(hazard, due) >= threshold > index(hazard, max(due - 0.5, 0.0))

    def test_what_a_signal_proves_is_due_at_once(self) -> None:
        assert hours_to_due(Hazard(0.01, 0.01, 0.99), 0.5) == 0

    def test_what_hardly_changes_is_looked_at_in_four_months(self) -> None:
        assert hours_to_due(Hazard(1e-6, 1e-6), inf) == LONGEST_H
