"""Never more than the limit and what is under way; and in the end all of it."""

from __future__ import annotations

from collections import deque

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storebot.core.budget import Budget, Limits, Use, Verdict
from storebot.items import Expense

ONE = Expense(requests=1, size_bytes=100, cost_micro=10)
NO_LIMIT = Limits()


def budget(run: Limits = NO_LIMIT, month: Limits = NO_LIMIT, spent_in_month: Expense | None = None) -> Budget:
    return Budget(Use(run, "this run", "EUR"), Use(month, "2026-07", "EUR", spent_in_month))


def send(it: Budget, expected: Expense = ONE, *, discovery: bool = False, started: bool = False) -> Verdict:
    """Ask, and begin what may go."""
    verdict = it.judge(expected, started=started, discovery=discovery).verdict
    if verdict is Verdict.GO:
        it.begin(expected, discovery=discovery)
    return verdict


def done(it: Budget, took: Expense = ONE, expected: Expense = ONE, *, discovery: bool = False) -> None:
    it.spend(took, discovery=discovery)
    it.end(expected, discovery=discovery)


def test_without_limits_everything_goes() -> None:
    it = budget()
    assert [send(it, Expense(requests=10**9)) for _ in range(3)] == [Verdict.GO] * 3
    assert it.used_up == ""


def test_a_request_waits_while_others_may_leave_it_room_and_stops_when_none_is_left() -> None:
    it = budget(Limits(requests=2))
    assert [send(it), send(it), send(it)] == [Verdict.GO, Verdict.GO, Verdict.WAIT]
    done(it)
    assert send(it) is Verdict.WAIT
    done(it)
    judged = it.judge(ONE, started=False, discovery=False)
    assert judged == (Verdict.STOP, "2 of 2 requests of this run")
    assert it.used_up == "2 of 2 requests of this run"


def test_what_took_less_than_expected_leaves_room() -> None:
    it = budget(Limits(cost_micro=25))
    assert [send(it), send(it), send(it)] == [Verdict.GO, Verdict.GO, Verdict.WAIT]
    done(it, Expense(requests=1))
    assert send(it) is Verdict.GO


def test_a_page_under_way_is_finished() -> None:
    it = budget(Limits(requests=1))
    assert send(it) is Verdict.GO
    done(it)
    assert send(it, started=True) is Verdict.GO
    assert send(it) is Verdict.STOP


def test_once_a_page_was_stopped_no_cheaper_one_slips_through() -> None:
    it = budget(Limits(cost_micro=15))
    assert send(it) is Verdict.GO
    done(it)
    assert send(it) is Verdict.STOP
    assert send(it, Expense(requests=1)) is Verdict.STOP


def test_the_months_other_runs_count() -> None:
    it = budget(month=Limits(cost_micro=100), spent_in_month=Expense(cost_micro=95))
    assert it.judge(ONE, started=False, discovery=False) == (Verdict.STOP, "0.000095 of 0.0001 EUR of 2026-07")
    assert it.used_up == ""
    spent = budget(month=Limits(requests=5), spent_in_month=Expense(requests=7))
    assert spent.used_up == "7 of 5 requests of 2026-07"


def test_a_new_month_is_a_new_budget() -> None:
    it = budget(month=Limits(requests=5), spent_in_month=Expense(requests=5))
    it.next_month("2026-08")
    assert send(it) is Verdict.GO
    assert it.month.sentence("requests") == "0 of 5 requests of 2026-08"


def test_discovery_takes_half_at_most_and_its_stop_leaves_the_pages_alone() -> None:
    it = budget(Limits(requests=7))
    for _ in range(3):
        assert send(it, discovery=True) is Verdict.GO
        done(it, discovery=True)
    judged = it.judge(ONE, started=False, discovery=True)
    assert judged == (Verdict.STOP, "half of what was left of 7 requests of this run went into discovery")
    assert send(it) is Verdict.GO


def test_discovery_waits_for_its_own_that_are_under_way() -> None:
    it = budget(Limits(requests=4))
    assert [send(it, discovery=True) for _ in range(3)] == [Verdict.GO, Verdict.GO, Verdict.WAIT]


def test_the_first_request_of_discovery_goes_in_any_case() -> None:
    assert send(budget(Limits(requests=1)), discovery=True) is Verdict.GO


@pytest.mark.parametrize(
    ("limits", "spent", "sentence"),
    [
        (Limits(requests=1500), Expense(requests=1500), "1,500 of 1,500 requests of this run"),
        (Limits(size_bytes=2 * 10**9), Expense(size_bytes=2 * 10**9), "2,000.0 of 2,000.0 MB of this run"),
        (Limits(browser_ms=90_000), Expense(browser_ms=90_000), "1.5 of 1.5 browser minutes of this run"),
        (Limits(cost_micro=250_000), Expense(cost_micro=250_000), "0.25 of 0.25 EUR of this run"),
    ],
    ids=["requests", "bytes", "browser", "money"],
)
def test_a_limit_is_told_in_its_own_unit(limits: Limits, spent: Expense, sentence: str) -> None:
    assert Use(limits, "this run", "EUR", spent).used_up == sentence


amounts = st.builds(
    Expense,
    st.integers(0, 20),
    st.integers(0, 2_000),
    st.just(0),
    st.integers(0, 90),
    st.integers(0, 3),
    st.integers(0, 9),
)
limits = st.builds(
    Limits,
    *(st.none() | st.integers(1, most) for most in (60, 6_000, 300, 40)),
)


@given(limits, limits, amounts, st.lists(st.tuples(amounts, amounts, st.booleans(), st.booleans()), max_size=40))
def test_what_is_spent_never_exceeds_a_limit_but_by_what_was_under_way(
    run: Limits, month: Limits, before: Expense, requests: list[tuple[Expense, Expense, bool, bool]]
) -> None:
    """Whatever requests take, how many are under way, and in which order they end.

    A request that goes fits in with what is spent and expected; so at any time only that is over the limit which those
    under way took beyond what was expected of them, and what pages that had begun still needed.
    """
    it = budget(run, month, before)
    away: deque[tuple[Expense, Expense, bool]] = deque()
    excess = Expense()
    for expected, took, discovery, started in requests:
        verdict = send(it, expected, discovery=discovery, started=started)
        while verdict is Verdict.WAIT:
            assert away, "nothing is under way that it could wait for"
            excess = _finish(it, away, excess)
            verdict = send(it, expected, discovery=discovery, started=started)
        if verdict is Verdict.GO:
            away.append((expected, took, discovery))
            if started:
                excess = excess.plus(expected)
    while away:
        excess = _finish(it, away, excess)
    for use in (it.run, it.month):
        for name, limit in use.limits.each():
            begun = getattr(before, name) if use is it.month else 0
            assert getattr(use.spent, name) <= max(limit, begun) + getattr(excess, name)


def _finish(it: Budget, away: deque[tuple[Expense, Expense, bool]], excess: Expense) -> Expense:
    """End the request that is longest under way; return by how much all were underestimated."""
    expected, took, discovery = away.popleft()
    done(it, took, expected, discovery=discovery)
    return excess.plus(Expense(*(max(0, really - thought) for really, thought in zip(took, expected, strict=True))))


@given(st.integers(1, 40), st.integers(1, 8))
def test_requests_as_expected_use_the_whole_limit_and_no_more(limit: int, concurrency: int) -> None:
    it = budget(Limits(requests=limit))
    away = sent = 0
    while True:
        verdict = send(it) if away < concurrency else Verdict.WAIT
        if verdict is Verdict.STOP:
            break
        if verdict is Verdict.GO:
            away, sent = away + 1, sent + 1
        else:
            away -= 1
            done(it)
    assert sent == limit
