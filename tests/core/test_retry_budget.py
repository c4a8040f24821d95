"""How often a run may ask again."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from storebot.core.retry_budget import FREE, RetryBudget


def test_a_short_run_may_have_a_bad_minute() -> None:
    budget = RetryBudget(most=1000, share=0.2)
    assert all(budget.take("network", requests=10) for _ in range(FREE))
    assert not budget.take("network", requests=10)


def test_a_long_run_has_its_share() -> None:
    budget = RetryBudget(most=1000, share=0.2)
    assert sum(budget.take("network", requests=1000) for _ in range(1000)) == 200
    assert budget.take("block", requests=1006)


def test_no_run_has_more_than_the_most() -> None:
    budget = RetryBudget(most=60, share=0.2)
    assert sum(budget.take("network", requests=1_000_000) for _ in range(100)) == 60
    assert not RetryBudget(most=0, share=1.0).take("network", requests=1)


def test_all_kinds_share_it_and_are_told() -> None:
    budget = RetryBudget(most=3, share=0.2)
    assert [budget.take(kind, requests=9) for kind in ("block", "network", "block", "proxy")] == [True] * 3 + [False]
    assert budget.told == "3 retries were made (2 block, 1 network)"
    assert budget.refused == 1
    assert RetryBudget(most=0, share=0.2).told == "no retry was made"


@given(st.integers(0, 300), st.floats(0, 1), st.lists(st.integers(0, 3000), max_size=400))
def test_the_bound_holds_at_any_moment(most: int, share: float, requests: list[int]) -> None:
    budget = RetryBudget(most=most, share=share)
    for sent in sorted(requests):
        budget.take("network", sent)
        assert budget.used.total() <= min(most, max(FREE, share * sent + 1))
