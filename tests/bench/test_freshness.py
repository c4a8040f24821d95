"""The planner in a small simulated shop: what `python -m bench freshness` measures in a large one."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest

from bench.freshness.planner import Planner, RoundRobin
from bench.freshness.shop import HOT, Shop, make
from bench.freshness.simulate import Policy, Score, simulate
from storebot.core.planner.scoring import LISTINGS_MOST

SMALL = replace(
    HOT, products=600, categories=12, days=30, births_a_day=2, deaths_a_day=2, flash_sales_a_day=0.28, site_sales=0
)
SHARE, EVERY_H = 0.1, 4
SEEDS = (1, 2)


@cache
def shop(seed: int, **changed: float) -> Shop:
    return make(seed, replace(SMALL, **changed))  # type: ignore[arg-type]


def run(policy: Policy, of: Shop, share: float = SHARE) -> Score:
    score = simulate(policy, of, share, seed=5, every_h=EVERY_H)
    assert score.late == 0, "a run asked for more than its budget"
    assert score.requests <= SMALL.products * share * SMALL.days
    assert score.wasted == 0, "pages that are gone are never fetched"
    return score


@pytest.mark.parametrize("seed", SEEDS)
class TestPlanner:
    def test_without_signals_it_beats_round_robin(self, seed: int) -> None:
        plain = run(RoundRobin(), shop(seed)).caught_share
        assert run(Planner("index"), shop(seed)).caught_share >= 1.4 * plain

    def test_with_hints_by_far(self, seed: int) -> None:
        plain = run(RoundRobin(), shop(seed)).caught_share
        assert run(Planner("hints", hints=True, sitemaps=True), shop(seed)).caught_share >= 4 * plain

    def test_no_page_is_older_than_the_floor(self, seed: int) -> None:
        share, sweep = 0.3, 0.5
        score = run(Planner("full", sitemaps=True, listings=True, sweep=sweep), shop(seed), share)
        assert score.oldest_h <= 24 / (sweep * (1 - LISTINGS_MOST) * share) < SMALL.days * 24 / 2

    def test_a_sitemap_of_junk_costs_little(self, seed: int) -> None:
        junk = shop(seed, lastmod_recall=0.0, lastmod_false_a_day=1.0)
        without = run(Planner("no sitemap"), junk).caught_share
        assert run(Planner("junk", sitemaps=True), junk).caught_share >= 0.9 * without

    def test_the_due_date_form_does_nearly_as_well(self, seed: int) -> None:
        exact = run(Planner("exact", sitemaps=True, listings=True), shop(seed)).caught_share
        due = run(Planner("due", sitemaps=True, listings=True, exact=False), shop(seed)).caught_share
        assert due >= 0.9 * exact


def test_a_replay_is_exact() -> None:
    first = run(Planner("full", sitemaps=True, listings=True), shop(1))
    assert run(Planner("full", sitemaps=True, listings=True), shop(1)) == first
