"""Limits are what is declared, else what is usual in the store, else a default."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storebot.core.gate_limits import Declared, Limits, Past, Planned, limits_from

QUIET = [Past(500, 5, 1)] * 3
LIVELY = [Past(500, 100, 20)] * 5


def test_a_store_without_history_has_the_defaults() -> None:
    assert limits_from([], Declared()) == Limits()
    assert limits_from(LIVELY[:2], Declared()) == Limits()


def test_three_times_what_is_usual_may_change() -> None:
    limits = limits_from(LIVELY, Declared())
    assert limits.changed == pytest.approx(0.6)
    assert limits.missing == pytest.approx(0.12)


def test_a_quiet_store_has_a_floor_and_a_stormy_one_a_ceiling() -> None:
    assert (limits_from(QUIET, Declared()).changed, limits_from(QUIET, Declared()).missing) == (0.3, 0.1)
    storm = limits_from([Past(500, 450, 400)] * 3, Declared())
    assert (storm.changed, storm.missing) == (0.9, 0.5)


def test_one_odd_run_does_not_move_what_is_usual() -> None:
    assert limits_from([*QUIET, Past(500, 500, 400)], Declared()) == limits_from(QUIET, Declared())


def test_a_run_that_compared_little_says_nothing() -> None:
    assert limits_from([Past(19, 19, 0)] * 9, Declared()) == Limits()


def test_what_is_declared_wins_nought_included() -> None:
    limits = limits_from(LIVELY, Declared(changed=0.0, price_ratio=10.0, sample=7))
    assert (limits.changed, limits.price_ratio, limits.sample) == (0.0, 10.0, 7)
    assert limits.missing == pytest.approx(0.12)


@pytest.mark.parametrize(("at", "planned"), [(99, ""), (100, "prices"), (150, "all"), (199, "prices"), (200, "")])
def test_a_window_begins_with_its_first_moment_and_ends_before_its_last(at: int, planned: str) -> None:
    windows = (Planned(100, 200, "prices", "a sale"), Planned(140, 160, "all", "a new shop"))
    assert limits_from([], Declared(planned=windows), at_ms=at).planned == planned


@given(st.lists(st.builds(lambda seen, share: Past(seen, int(seen * share), 0), st.integers(0, 999), st.floats(0, 1))))
def test_history_never_opens_the_gate_nor_shuts_it(history: list[Past]) -> None:
    assert 0.3 <= limits_from(history, Declared()).changed <= 0.9
