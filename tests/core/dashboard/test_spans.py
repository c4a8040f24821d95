"""Spans put together into bars."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from storebot.core.dashboard.spans import bars


def test_bars_without_anything_between_them_are_there_too() -> None:
    length, found = bars([(0, "new", 2), (30, "new", 1), (30, "error", 4), (0, "new", 1)], 10, 100)
    assert length == 10
    assert [(bar.at, dict(bar.counts)) for bar in found] == [
        (0, {"new": 3}),
        (10, {}),
        (20, {}),
        (30, {"new": 1, "error": 4}),
    ]


def test_nothing_has_no_bars() -> None:
    assert bars([], 10, 5) == (10, [])


@given(st.lists(st.tuples(st.integers(0, 500).map(lambda n: n * 10), st.sampled_from("ab"), st.integers(1, 9))))
def test_nothing_is_lost_and_there_are_never_more_bars_than_asked_for(rows: list[tuple[int, str, int]]) -> None:
    length, found = bars(rows, 10, 7)
    assert len(found) <= 7
    assert length % 10 == 0
    assert sum(sum(bar.counts.values()) for bar in found) == sum(row[2] for row in rows)
