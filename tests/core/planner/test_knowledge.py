"""What is learned of a store: rates, bursts, and which signals tell the truth."""

from __future__ import annotations

import random

import pytest

from storebot.core.planner.hazard import Flag
from storebot.core.planner.knowledge import (
    CARDS_ENOUGH,
    FIRST_RATE,
    Category,
    Knowledge,
    Past,
    moved,
    observe,
    observe_card,
)


class TestCategory:
    def test_a_sale_is_noticed_and_forgotten(self) -> None:
        category = Category()
        for hour in range(10):
            category.observe(float(hour), changed=1.0, expected=0.02)
        assert category.burst(10.0) > 3.5
        assert category.burst(10.0 + 72) == pytest.approx(1.0, abs=0.01)

    def test_calm_is_no_less_than_usual(self) -> None:
        category = Category()
        category.observe(0.0, changed=0.0, expected=50.0)
        assert category.burst(0.0) == 1.0


class TestRates:
    @pytest.mark.parametrize("gap_h", [6.0, 24.0, 96.0])
    def test_a_page_s_rate_is_found_however_seldom_it_is_looked_at(self, gap_h: float) -> None:
        true, rng = 1 / 72, random.Random(4)
        past, knowledge, now = Past(0.0), Knowledge(), 0.0
        for _ in range(600):
            now += gap_h
            changed = any(rng.random() < true for _ in range(int(gap_h)))
            observe(past, knowledge, now, changed=changed)
        rate = knowledge.hazard(past.credit, past.exposure_h, 0, now + 1000).rate
        assert rate == pytest.approx(true, rel=0.45)

    def test_category_means_are_pulled_to_the_stores_until_they_have_seen_enough(self) -> None:
        knowledge = Knowledge()
        knowledge.learn_means({1: (1000.0, 10_000.0), 2: (0.0, 10.0)})
        assert knowledge.categories[1].mean == pytest.approx(0.1, rel=0.05)
        assert knowledge.mean == pytest.approx(0.052, rel=0.05)
        assert knowledge.categories[2].mean == pytest.approx(knowledge.mean, rel=0.05)

    def test_a_category_that_nobody_saw_is_as_the_store(self) -> None:
        assert Knowledge().hazard(0, 0, 99, 5.0).rate == pytest.approx(FIRST_RATE)


class TestLastmod:
    def watched(self, *, honest: bool, visits: int = 200) -> Knowledge:
        knowledge, now = Knowledge(reads_sitemaps=True), 0.0
        knowledge.sitemap_page_hours, knowledge.bumps = 1000.0 * 240, visits
        for number in range(visits):
            now += 1.0
            observe(Past(now - 24, flag=Flag.LASTMOD), knowledge, now, changed=honest or number % 50 == 0)
        return knowledge

    def test_a_lastmod_that_tells_the_truth_is_believed(self) -> None:
        assert self.watched(honest=True).lift > 0.9

    def test_one_that_moves_with_every_generation_is_worth_nothing_s12(self) -> None:
        """S12: lastmod is always now, the pages are as they were."""
        knowledge = self.watched(honest=False)
        assert knowledge.lift < 0.1
        assert knowledge.recall == 0.0

    def test_entries_that_move_more_often_than_pages_change_are_no_news_before_anything_is_learned(self) -> None:
        assert Knowledge(reads_sitemaps=True, sitemap_page_hours=24_000.0, bumps=1000.0).lift < 0.15

    def test_one_that_the_sitemap_itself_gives_away_is_worth_nothing_at_once(self) -> None:
        assert Knowledge(lastmod_is_junk=True).lift == Knowledge(lastmod_is_junk=True).lift_checked == 0.0

    def test_changes_that_no_lastmod_told_of_lower_its_recall_s13(self) -> None:
        """S13: lastmod frozen while pages change: audits tell, and hazard takes over."""
        knowledge = self.watched(honest=True)
        before, now = knowledge.recall, 300.0
        for _ in range(200):
            now += 1.0
            observe(Past(now - 24), knowledge, now, changed=True, audit=True)
        assert before > 2 * knowledge.recall

    def test_the_visits_that_signals_asked_for_say_nothing_of_what_they_miss(self) -> None:
        knowledge = self.watched(honest=True)
        before = knowledge.audit_hours
        observe(Past(0.0, flag=Flag.LASTMOD), knowledge, 24.0, changed=False, audit=True)
        observe(Past(0.0), knowledge, 24.0, changed=True)
        assert knowledge.audit_hours == before

    @pytest.mark.parametrize(
        ("past", "lastmod_h", "flag"),
        [
            (Past(10.0), 12.0, Flag.LASTMOD),
            (Past(10.0), 9.0, Flag.NONE),
            (Past(10.0, listed_h=20.0), 15.0, Flag.CHECKED),
            (Past(10.0, listed_h=20.0), 25.0, Flag.LASTMOD),
            (Past(10.0, flag=Flag.DIFFERS), 25.0, Flag.DIFFERS),
        ],
        ids=["newer", "older-than-the-look", "older-than-the-card", "newer-than-the-card", "known-to-differ"],
    )
    def test_it_is_news_only_where_it_is_newer_than_the_last_look(
        self, past: Past, lastmod_h: float, flag: Flag
    ) -> None:
        counted = moved(past, lastmod_h)
        assert (past.flag, counted) == (flag, flag in (Flag.LASTMOD, Flag.CHECKED))

    def test_a_change_that_its_card_has_told_since_counts_and_asks_for_no_look(self) -> None:
        before, after = Past(10.0, listed_h=20.0, carded_h=20.0), Past(10.0, listed_h=20.0, carded_h=20.0)
        assert (moved(before, 15.0), before.flag) == (True, Flag.NONE)
        assert (moved(after, 25.0), after.flag) == (True, Flag.LASTMOD)


class TestCards:
    def test_prices_are_believed_after_fifty_pairs_that_agree(self) -> None:
        pairs = {(49, 49): False, (50, 49): True, (100, 97): False}
        found = {pair: Knowledge(card_pairs=pair[0], card_equal=pair[1]).cards_are_prices for pair in pairs}
        assert found == pairs

    def test_a_card_that_shows_nothing_new_leaves_little_of_a_moved_lastmod(self) -> None:
        past, knowledge = Past(0.0, flag=Flag.LASTMOD), Knowledge()
        observe_card(past, knowledge, 5.0, differs=False)
        assert past.flag is Flag.CHECKED
        assert knowledge.signalled(Flag.CHECKED, 0.01) < knowledge.signalled(Flag.LASTMOD, 0.01)

    def test_one_that_shows_the_change_explains_it(self) -> None:
        past, proven = Past(0.0, flag=Flag.LASTMOD), Knowledge(card_pairs=CARDS_ENOUGH, card_equal=CARDS_ENOUGH)
        observe_card(past, proven, 5.0, differs=True)
        assert (past.flag, past.listed_h, past.looked_h) == (Flag.NONE, 5.0, 0.0)

    def test_where_cards_arent_believed_a_difference_asks_for_the_page(self) -> None:
        past = Past(0.0, flag=Flag.LASTMOD)
        observe_card(past, Knowledge(), 5.0, differs=True)
        assert (past.flag, past.credit, past.listed_h) == (Flag.DIFFERS, 0.0, 5.0)

    def test_what_cards_saw_isnt_counted_twice(self) -> None:
        """The page is looked at after a day in which its card was: little of the day was unseen."""
        knowledge = Knowledge(changes=100.0, visible_changes=100.0)
        past = Past(0.0)
        observe_card(past, knowledge, 24.0, differs=False)
        observe(past, knowledge, 24.0, changed=False)
        assert past.exposure_h == pytest.approx(24.0, rel=0.05)

    def test_the_share_of_changes_on_cards_is_learned(self) -> None:
        knowledge = Knowledge()
        for number in range(200):
            observe(Past(0.0), knowledge, 24.0, changed=True, visible=number % 4 == 0)
        assert knowledge.visible == pytest.approx(0.95 * 0.25, rel=0.05)
