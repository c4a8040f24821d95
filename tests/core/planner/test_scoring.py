"""All pages at once: the same index, and what a run fetches."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from storebot.core.planner import hazard
from storebot.core.planner.hazard import Flag
from storebot.core.planner.knowledge import CARDS_ENOUGH, Category, Knowledge
from storebot.core.planner.scoring import (
    Columns,
    Lane,
    Plan,
    choose,
    expected,
    hours_to_due,
    index,
    listing_worth,
    threshold_for,
)

NOW = 1000.0


def pages(count: int, seed: int = 3, *, listed: bool = True) -> Columns:
    rng = np.random.default_rng(seed)
    return Columns(
        looked=NOW - rng.uniform(1, 400, count),
        credit=rng.uniform(0, 3, count),
        exposure=rng.uniform(0, 900, count),
        listed=np.where(rng.random(count) < 0.5, NOW - rng.uniform(0, 100, count), 0.0) * listed,
        flag=rng.choice(list(Flag), count, p=[0.8, 0.05, 0.05, 0.05, 0.05]).astype(np.int64),
        category=rng.integers(0, 5, count),
        listing=(rng.integers(-1, count // 20, count) if listed else np.full(count, -1)).astype(np.int64),
        value=rng.choice([1.0, 5.0], count),
    )


def knowledge() -> Knowledge:
    known = Knowledge(reads_sitemaps=True, sitemap_page_hours=1e5, bumps=500.0, card_pairs=CARDS_ENOUGH)
    known.card_equal = CARDS_ENOUGH
    known.categories = {number: Category(0.001 * (number + 1), seen=float(number), at_h=NOW - 2) for number in range(5)}
    return known


def chosen(plan: Plan) -> list[int]:
    return [int(place) for places in plan.lanes.values() for place in places]


def run(columns: Columns, budget: int, seed: int = 1, **options: float) -> Plan:
    return choose(columns, knowledge(), NOW, budget, np.random.default_rng(seed), **options)  # type: ignore[arg-type]


def test_it_says_of_each_page_what_the_formulas_for_one_say() -> None:
    columns, known = pages(300), knowledge()
    of = expected(columns, known, NOW)
    scores, due = index(of, NOW - columns.looked), hours_to_due(of, 0.3)
    for place in range(len(columns)):
        one = known.hazard(
            float(columns.credit[place]),
            float(columns.exposure[place]),
            int(columns.category[place]),
            NOW,
            flag=Flag(int(columns.flag[place])),
            listed=bool(columns.listed[place] and NOW - columns.listed[place] <= hazard.LISTED_FOR_H),
            value=float(columns.value[place]),
        )
        assert scores[place] == pytest.approx(hazard.index(one, NOW - columns.looked[place]))
        assert due[place] == pytest.approx(hazard.hours_to_due(one, 0.3))


class TestChoice:
    @pytest.mark.parametrize("budget", [0, 1, 7, 100, 399, 400, 5000])
    def test_no_more_than_the_budget_and_no_page_twice(self, budget: int) -> None:
        plan = run(pages(400, listed=False), budget)
        assert plan.requests <= budget
        assert len(set(chosen(plan))) == len(chosen(plan))
        if budget >= 400:
            assert sorted(chosen(plan)) == list(range(400)), "a budget for all of them fetches all of them"

    def test_what_was_never_read_and_what_is_known_to_differ_comes_first(self) -> None:
        columns = pages(400, listed=False)
        columns.value[columns.flag == Flag.NONE] = 100.0
        urgent = {int(place) for place in np.flatnonzero(columns.flag >= Flag.DIFFERS)}
        assert urgent <= set(chosen(run(columns, 100)))

    def test_the_oldest_are_reserved_whatever_the_signals_say(self) -> None:
        columns = pages(400, listed=False)
        columns.flag[:] = Flag.DIFFERS
        oldest = set(np.argsort(columns.looked)[:10].tolist())
        assert set(run(columns, 40).lanes[Lane.SWEEP].tolist()) == oldest

    def test_every_page_is_swept_in_the_time_that_the_share_promises(self) -> None:
        columns, rng = pages(200, listed=False), np.random.default_rng(1)
        seen: set[int] = set()
        for hour in range(200 // 5):  # a quarter of 20 a run
            plan = choose(columns, knowledge(), NOW + hour, 20, rng)
            columns.looked[chosen(plan)] = NOW + hour
            seen |= set(chosen(plan))
        assert seen == set(range(200))

    def test_audits_are_at_random_and_the_same_seed_plans_the_same(self) -> None:
        columns = pages(1000)
        first, again, other = run(columns, 200), run(columns, 200), run(columns, 200, seed=2)
        assert chosen(first) == chosen(again)
        assert first.lanes[Lane.AUDIT].tolist() != other.lanes[Lane.AUDIT].tolist()

    def test_lanes_say_why(self) -> None:
        columns = pages(400)
        plan = run(columns, 150)
        assert set(columns.flag[plan.lanes[Lane.NEW]]) == {Flag.NEW}
        assert set(columns.flag[plan.lanes[Lane.HAZARD]]) <= {Flag.NONE}
        assert set(columns.flag[plan.lanes[Lane.SIGNAL]]) <= {Flag.CHECKED, Flag.LASTMOD, Flag.DIFFERS}

    def test_value_decides_between_pages_that_are_alike(self) -> None:
        columns = pages(100, listed=False)
        for name, value in (("looked", NOW - 100), ("credit", 1.0), ("exposure", 500.0), ("flag", 0), ("category", 0)):
            getattr(columns, name)[:] = value
        columns.value[:] = 1.0
        columns.value[40:50] = 3.0
        best = choose(columns, knowledge(), NOW, 10, np.random.default_rng(1), sweep=0.0, audit=0.0)
        assert sorted(chosen(best)) == list(range(40, 50))

    def test_pages_that_are_no_candidates_only_get_swept_or_audited(self) -> None:
        columns = pages(400, listed=False)
        few = np.zeros(400, bool)
        few[:30] = True
        plan = choose(columns, knowledge(), NOW, 40, np.random.default_rng(1), candidates=few)
        worthiest = {place for lane in (Lane.NEW, Lane.SIGNAL, Lane.HAZARD) for place in plan.lanes[lane].tolist()}
        assert len(worthiest & set(range(30))) >= 25

    def test_an_empty_store_needs_nothing(self) -> None:
        assert run(pages(0), 10).requests == 0


class TestListings:
    def test_a_catalogue_page_is_worth_what_its_cards_are(self) -> None:
        columns, known = pages(400), knowledge()
        numbers, worth = listing_worth(columns, expected(columns, known, NOW), known, NOW)
        assert sorted(numbers) == sorted(set(columns.listing[columns.listing >= 0].tolist()))
        assert (worth > 0).all()
        known.card_pairs = 0
        hints = listing_worth(columns, expected(columns, known, NOW), known, NOW)[1]
        assert (hints < worth).all(), "a find costs a second request"

    def test_they_take_two_fifths_at_most(self) -> None:
        columns = pages(2000)
        columns.flag[:] = Flag.NONE
        assert 0 < len(run(columns, 100).listings) <= 40

    def test_where_nothing_is_listed_there_are_none(self) -> None:
        assert len(run(pages(400, listed=False), 100).listings) == 0


def test_the_threshold_spends_what_there_is() -> None:
    columns, known = pages(3000, listed=False), knowledge()
    columns.flag[:] = Flag.NONE
    threshold = threshold_for(columns, known, NOW, 20.0, np.random.default_rng(1))
    due = hours_to_due(expected(columns, known, NOW), threshold)
    assert len(columns) * float(np.mean(1 / np.maximum(due, 0.25))) == pytest.approx(20.0, rel=0.15)


def test_thresholds_follow_the_budget() -> None:
    columns, known = pages(3000, listed=False), knowledge()
    found: Sequence[float] = [
        threshold_for(columns, known, NOW, per_hour, np.random.default_rng(1)) for per_hour in (1.0, 10.0, 100.0)
    ]
    assert sorted(found, reverse=True) == list(found)
