"""When a store that says no is left alone."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from storebot.core.breaker import should_open
from storebot.items import Outcome

COUNTS = st.dictionaries(st.sampled_from(list(Outcome)), st.integers(0, 500))


def blocked(count: int, of: int) -> dict[Outcome, int]:
    return {Outcome.BLOCKED: count, Outcome.UNCHANGED: of - count}


def test_too_few_blocked_visits_never_open_it_though_they_are_all_visits() -> None:
    assert not should_open(blocked(9, of=9), share=0.5, minimum=10)
    assert should_open(blocked(10, of=10), share=0.5, minimum=10)


def test_share_of_all_visits_decides_beyond_the_minimum() -> None:
    assert not should_open(blocked(10, of=21), share=0.5, minimum=10)
    assert should_open(blocked(10, of=20), share=0.5, minimum=10)


def test_visits_that_failed_otherwise_are_no_blocks() -> None:
    assert not should_open({Outcome.ERROR: 100, Outcome.MISSING: 100}, share=0.01, minimum=1)


def test_nothing_visited_opens_nothing_whatever_the_minimum() -> None:
    assert not should_open({}, share=0.5, minimum=0)


@given(COUNTS, st.floats(0.01, 1), st.integers(1, 50))
def test_one_more_blocked_visit_never_closes_it(outcomes: dict[Outcome, int], share: float, minimum: int) -> None:
    more = {**outcomes, Outcome.BLOCKED: outcomes.get(Outcome.BLOCKED, 0) + 1}
    if should_open(outcomes, share=share, minimum=minimum):
        assert should_open(more, share=share, minimum=minimum)
