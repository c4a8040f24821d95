"""What the model expects to have changed by now, unseen, and what of it a plan sees."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from storebot.core.planner.forecast import seen_by, unseen
from storebot.core.planner.hazard import Flag
from storebot.core.planner.knowledge import Knowledge
from storebot.core.planner.lanes import Lane
from storebot.core.planner.scoring import Columns, Plan, choose

NOW = 1_000.0
COUNT = 6
A_DAY = 1 - np.exp(-24 / 480)  # by the rate that any store is believed to have


def columns(**given: list[float]) -> Columns:
    usual = {"looked": [NOW - 24.0] * COUNT, "listing": [-1] * COUNT, "value": [1.0] * COUNT}
    named = {name: np.array(given.get(name, usual.get(name, [0.0] * COUNT))) for name in Columns.__slots__}
    whole = ("flag", "category", "listing")
    typed: dict[str, Any] = {name: one.astype(np.int64) if name in whole else one for name, one in named.items()}
    return Columns(**typed)


def plan(listings: tuple[int, ...] = (), **lanes: list[int]) -> Plan:
    found = {Lane(name): np.array(places, np.int64) for name, places in lanes.items()}
    return Plan(listings=np.array(listings, np.int64), lanes=found, threshold=0.0)


def test_probability_grows_with_time_rate_and_signal_and_a_card_takes_some_of_it() -> None:
    pages = columns(
        looked=[NOW, NOW - 24, NOW - 240, NOW - 24, NOW - 24, NOW - 24],
        credit=[0.0, 0.0, 0.0, 9.0, 0.0, 0.0],
        exposure=[0.0, 0.0, 0.0, 240.0, 0.0, 0.0],
        listed=[0.0, 0.0, 0.0, 0.0, NOW - 1, 0.0],
        flag=[0, 0, 0, 0, 0, Flag.DIFFERS],
    )
    just, day, ten_days, often, carded, told = unseen(pages, Knowledge(), NOW)
    assert just == 0.0
    assert day == pytest.approx(A_DAY)
    assert day < often < 1
    assert day < ten_days
    assert 0 < carded < day
    assert told >= 0.99


def test_what_a_sitemap_would_have_told_of_did_not_happen() -> None:
    tells = Knowledge(reads_sitemaps=True, bumps=40.0, sitemap_page_hours=40 * 480.0)
    assert tells.recall > 0.3
    assert unseen(columns(), tells, NOW)[0] == pytest.approx(1 - np.exp(-24 / 480 * (1 - tells.recall)))


def test_new_pages_are_no_changes() -> None:
    assert unseen(columns(flag=[Flag.NEW] * COUNT), Knowledge(), NOW).sum() == 0


def test_plan_of_everything_sees_all_and_of_nothing_none() -> None:
    pages, known = columns(), Knowledge()
    odds = unseen(pages, known, NOW)
    assert seen_by(pages, known, plan(due=[*range(COUNT)]), odds) == pytest.approx(COUNT * A_DAY)
    assert seen_by(pages, known, plan(), odds) == 0


def test_catalogue_page_shows_a_part_of_its_products_changes_and_none_is_counted_twice() -> None:
    pages, known = columns(listing=[7, 7, 7, 8, -1, -1]), Knowledge()
    odds = unseen(pages, known, NOW)
    assert seen_by(pages, known, plan((7,)), odds) == pytest.approx(3 * known.visible * A_DAY)
    assert seen_by(pages, known, plan((7,), hazard=[0]), odds) == pytest.approx((1 + 2 * known.visible) * A_DAY)


def test_more_budget_never_sees_less() -> None:
    rng = np.random.default_rng(3)
    count = 400
    pages = Columns(
        looked=NOW - rng.uniform(1, 900, count),
        credit=rng.uniform(0, 4, count),
        exposure=rng.uniform(0, 900, count),
        listed=np.zeros(count),
        flag=rng.choice([0, 0, 0, Flag.LASTMOD, Flag.DIFFERS], count),
        category=np.zeros(count, np.int64),
        listing=np.full(count, -1),
        value=np.ones(count),
    )
    known = Knowledge()
    odds = unseen(pages, known, NOW)
    seen = []
    for budget in (10, 40, 160, 400):
        chosen = choose(pages, known, NOW, budget, np.random.default_rng(1), audit=0.0)
        seen.append(seen_by(pages, known, chosen, odds))
    assert seen == sorted(seen)
    assert seen[-1] == pytest.approx(odds.sum())
