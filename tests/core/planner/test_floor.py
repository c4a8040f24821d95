"""The floor: what a promise takes, whether it can be kept, and that it is kept."""

from __future__ import annotations

from math import inf

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from storebot.core.planner.floor import Floor, days, refusal

floors = st.builds(
    Floor,
    pages=st.integers(0, 2_000_000),
    max_age_h=st.integers(1, 24 * 400).map(float),
    budget=st.integers(1, 1_000_000),
    discovery=st.floats(0, 5_000),
    listings_share=st.sampled_from([0.0, 0.4]),
)


def test_share_of_the_sweep_is_pages_by_age_and_budget() -> None:
    floor = Floor(pages=14_000, max_age_h=14 * 24.0, budget=2_100, discovery=100.0, listings_share=0.0)
    assert (floor.for_pages, floor.sweep, floor.is_feasible) == (2_000.0, 0.5, True)
    assert floor.shortest_h == 7 * 24.0
    assert floor.least_budget == 1_100


@given(floors)
def test_least_budget_is_feasible_and_one_less_is_not(floor: Floor) -> None:
    assume(floor.pages)
    least = floor._replace(budget=floor.least_budget)
    assert least.sweep <= 1 + 1e-9
    assert not floor._replace(budget=floor.least_budget - 1).is_feasible
    if floor.is_feasible:
        assert floor.budget >= floor.least_budget


@given(floors)
def test_shortest_age_is_feasible_and_a_shorter_one_is_not(floor: Floor) -> None:
    assume(floor.pages and 0 < floor.shortest_h < inf)
    assert floor._replace(max_age_h=floor.shortest_h).sweep <= 1 + 1e-9
    assert not floor._replace(max_age_h=floor.shortest_h * 0.99).is_feasible
    assert floor.is_feasible == (floor.max_age_h >= floor.shortest_h)


@given(floors, st.integers(1, 1_000))
def test_more_pages_or_less_budget_never_make_a_promise_easier(floor: Floor, more: int) -> None:
    assert floor._replace(pages=floor.pages + more).sweep >= floor.sweep
    assert floor._replace(budget=floor.budget + more).sweep <= floor.sweep


@given(st.integers(0, 1_000_000))
def test_without_requests_for_pages_only_an_empty_store_can_be_promised(pages: int) -> None:
    floor = Floor(pages, 24.0, 10, 10.0, 0.4)
    assert floor.is_feasible == (pages == 0)
    assert floor.sweep == (inf if pages else 0.0)


@given(
    pages=st.integers(1, 60),
    max_age=st.integers(1, 40),
    gap=st.integers(1, 5),
    per_run=st.integers(1, 80),
)
def test_oldest_first_by_that_share_no_page_becomes_older_than_promised(
    pages: int, max_age: int, gap: int, per_run: int
) -> None:
    """Runs every ``gap`` hours, of which each gives the oldest pages the share that it says, rounded up."""
    assume(max_age >= gap)
    floor = Floor(pages, float(max_age), per_run * 24 // gap, 0.0, 0.0)
    share = floor.sweep_of_run(float(per_run), float(gap))
    assume(share < 1 or per_run * (max_age // gap) >= pages)
    swept = -int(-(share * per_run) // 1)
    looked = [0] * pages
    for now in range(gap, 20 * max_age, gap):
        for page in sorted(range(pages), key=looked.__getitem__)[:swept]:
            assert now - looked[page] <= max_age
            looked[page] = now
        assert now - min(looked) < max_age or swept >= pages


def test_share_of_a_run_is_that_of_the_day_where_runs_are_often() -> None:
    floor = Floor(14_000, 14 * 24.0, 2_000, 0.0, 0.0)
    assert floor.sweep_of_run(2_000 / 24, 1.0) == pytest.approx(floor.sweep)
    assert floor.sweep_of_run(0.0, 1.0) == 1.0
    assert floor.sweep_of_run(100.0, 400 * 24.0) == 1.0


def test_refusal_has_the_numbers_and_what_would_do() -> None:
    floor = Floor(pages=20_000, max_age_h=24.0, budget=1_000, discovery=4.0, listings_share=0.4)
    assert refusal(floor) == (
        "max_age = 1d can't be promised for 20,000 pages with 1,000 requests a day: 598 of them are left for product "
        "pages (4 find pages and up to 40% of the others look at the catalogue's pages), and 20,000 would be needed. "
        "budget = 33,338 would do, or max_age = 34d with this budget"
    )
    nothing = refusal(floor._replace(discovery=1_000.0, listings_share=0.0))
    assert nothing.endswith("with this budget no age can be promised")


@pytest.mark.parametrize(
    ("hours", "up", "text"),
    [(336.0, False, "14d"), (36.0, False, "36h"), (1.0, False, "1h"), (35.2, True, "36h"), (97.0, True, "5d")],
)
def test_age_is_written_as_in_a_store_file(hours: float, up: bool, text: str) -> None:
    assert days(hours, up=up) == text
