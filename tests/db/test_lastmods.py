"""What the planner makes of ``lastmod``: a signal where it's true, nothing where it's junk (cases S12, S13)."""

from __future__ import annotations

import logging
from datetime import UTC, datetime

import pytest

from storebot.core.planner.hazard import Flag
from storebot.core.planner.lanes import Lane
from storebot.db import rounds
from storebot.db.database import Database
from tests.db.planner_shop import LearningWorker
from tests.db.shop import HOUR, NOW, STORE, parsed

DAY = 24 * HOUR


def text(at_ms: int) -> str:
    return datetime.fromtimestamp(at_ms / 1000, UTC).isoformat()


def day(at_ms: int) -> str:
    return text(at_ms)[:10]


@pytest.fixture
def shop(database: Database) -> LearningWorker:
    """Two known pages, read at `NOW`, whose sitemap entries are a day older."""
    worker = LearningWorker(database)
    worker.discover("1", "2", lastmod=text(NOW - DAY))
    worker.save(*(parsed(target, at=NOW) for target in worker.pending()))
    return worker


def signal(shop: LearningWorker, name: str = "1") -> int:
    return int(shop.page(name)["signal"])


class TestSignals:
    def test_entry_that_moved_because_of_what_a_card_has_told_is_no_signal(self, shop: LearningWorker) -> None:
        """A run may read the catalogue before the sitemap."""
        shop.set_page("1", listed_at=NOW + 2 * HOUR, carded_at=NOW + 2 * HOUR)
        shop.set_page("2", listed_at=NOW + 2 * HOUR)
        shop.sitemap("1", "2", lastmod=text(NOW + HOUR), at=NOW + 2 * HOUR)
        assert (signal(shop), signal(shop, "2")) == (Flag.NONE, Flag.CHECKED)

    @pytest.mark.parametrize(
        ("lastmod", "flag"),
        [
            (text(NOW + HOUR), Flag.LASTMOD),
            (text(NOW - HOUR), Flag.NONE),  # before the last look: it was seen
            (day(NOW), Flag.LASTMOD),  # some time of that day
            (day(NOW - DAY), Flag.NONE),
            (text(NOW + 900 * DAY), Flag.LASTMOD),  # the future was just now
            ("yesterday", Flag.NONE),
            ("0001-01-01", Flag.NONE),
            (None, Flag.NONE),
        ],
    )
    def test_entry_that_moved_says_that_its_page_changed(
        self, shop: LearningWorker, lastmod: str | None, flag: Flag
    ) -> None:
        shop.sitemap("1", lastmod=lastmod, at=NOW + 2 * HOUR)
        assert signal(shop) == flag
        assert signal(shop, "2") == Flag.NONE

    def test_what_a_card_was_looked_at_for_since_is_a_weaker_signal(self, shop: LearningWorker) -> None:
        shop.set_page("1", listed_at=NOW + 2 * HOUR)
        shop.sitemap("1", lastmod=text(NOW + HOUR), at=NOW + 3 * HOUR)
        assert signal(shop) == Flag.CHECKED

    def test_new_page_needs_no_signal(self, shop: LearningWorker) -> None:
        shop.sitemap("3", lastmod=text(NOW), at=NOW)
        shop.sitemap("3", lastmod=text(NOW + HOUR), at=NOW + 2 * HOUR)
        assert signal(shop, "3") == Flag.NONE

    def test_entry_that_did_not_move_is_no_news(self, shop: LearningWorker) -> None:
        for hours in (2, 3):
            shop.sitemap("1", lastmod=text(NOW + HOUR), at=NOW + hours * HOUR)
        assert shop.memory.knowledge.bumps == 1.0
        assert shop.learner.flagged == [shop.page("1")["id"]]

    def test_flagged_page_is_due_at_once_in_a_store_with_a_plan_alone(self, database: Database) -> None:
        dates = []
        for planned in (False, True):
            shop = LearningWorker(database, planned=planned)
            shop.known(f"{planned}", at=NOW)
            shop.set_page(f"{planned}", next_due_at=NOW + 30 * DAY)
            shop.sitemap(f"{planned}", lastmod=text(NOW + HOUR), at=NOW + 2 * HOUR)
            dates.append(shop.page(f"{planned}")["next_due_at"])
        assert dates == [NOW + 30 * DAY, NOW + 2 * HOUR]

    def test_page_that_vanished_from_its_source_is_due_at_once(self, shop: LearningWorker, database: Database) -> None:
        for names in (("1", "2"), ("1",), ("1",)):
            with database.write() as conn:
                named = rounds.begin(conn, STORE, "sitemap", "", resumes=False)
                rounds.name(conn, named, [shop.page(name)["id"] for name in names], NOW)
                rounds.end(conn, {named: ""})
        shop.set_page("2", checked_at=1)
        with database.write() as conn:
            assert rounds.miss(conn, STORE, enough=2, share=1.0).found == 1
        assert (signal(shop), signal(shop, "2")) == (Flag.NONE, Flag.DIFFERS)


class TestWhatIsWatched:
    def test_hours_are_counted_from_one_reading_to_the_next(self, shop: LearningWorker, database: Database) -> None:
        shop.sitemap("1", "2", lastmod=text(NOW - DAY), at=NOW)
        shop.remember()
        later = LearningWorker(database, token="lease", at=NOW + 6 * HOUR)
        later.sitemap("1", lastmod=text(NOW - DAY), at=NOW + 6 * HOUR)
        later.sitemap("2", "3", lastmod=text(NOW - DAY), at=NOW + 6 * HOUR)
        assert later.memory.knowledge.sitemap_page_hours == 12.0
        assert later.memory.knowledge.reads_sitemaps

    def test_sitemap_that_was_not_read_for_days_tells_nothing(self, shop: LearningWorker, database: Database) -> None:
        shop.sitemap("1", lastmod=text(NOW), at=NOW)
        shop.remember()
        assert not LearningWorker(database, token="lease", at=NOW + 5 * DAY).memory.knowledge.reads_sitemaps


class TestJunk:
    """Case S12: lastmod is always now, and the pages are as they were."""

    def many(self, database: Database, count: int = 40) -> LearningWorker:
        shop = LearningWorker(database)
        shop.known(*map(str, range(count)), at=NOW)
        return shop

    def test_sitemap_that_dates_itself_is_ignored_with_a_warning(
        self, database: Database, caplog: pytest.LogCaptureFixture
    ) -> None:
        shop = self.many(database)
        with caplog.at_level(logging.WARNING):
            for hours in (24, 25):
                at = NOW + hours * HOUR
                shop.sitemap(*map(str, range(40)), lastmod=text(at - 1000), at=at)
        assert shop.memory.knowledge.lastmod_is_junk
        assert shop.memory.knowledge.lift == 0.0
        assert {signal(shop, str(number)) for number in range(40)} == {Flag.NONE}
        assert caplog.text.count("lastmod says when the sitemap was made") == 1

    def test_shop_that_changed_many_pages_yesterday_is_believed(self, database: Database) -> None:
        shop = self.many(database)
        shop.sitemap(*map(str, range(40)), lastmod=text(NOW + HOUR), at=NOW + DAY)
        assert not shop.memory.knowledge.lastmod_is_junk
        assert signal(shop) == Flag.LASTMOD

    def test_sitemap_that_is_generated_every_night_shows_itself_by_what_is_found(self, database: Database) -> None:
        """More than nine of ten entries moved, and the records are as they were: what is learned is nothing."""
        shop = self.many(database)
        names = [*map(str, range(40))]
        for number in range(1, 8):
            generated, at = NOW + number * DAY, NOW + number * DAY + 8 * HOUR
            shop.remember()
            shop = LearningWorker(database, token="lease", at=at)
            shop.sitemap(*names, lastmod=text(generated), at=at)
            shop.save(*(parsed(target, at=at) for target in shop.take(Lane.SIGNAL, *names)))
        knowledge = shop.memory.knowledge
        assert not knowledge.lastmod_is_junk
        assert knowledge.lift < 0.1
        assert knowledge.recall == 0.0  # a page whose entry didn't move is suspected as any other

    def test_frozen_lastmod_hides_nothing(self, shop: LearningWorker, database: Database) -> None:
        """Case S13: it never moves, so nothing is told by it, and no page is suspected any less."""
        for number in range(1, 8):
            shop.remember()
            shop = LearningWorker(database, token="lease", at=NOW + number * DAY)
            shop.sitemap("1", "2", lastmod=text(NOW - DAY), at=NOW + number * DAY)
        assert shop.memory.knowledge.recall == 0.0
        assert len(shop.due(NOW + 7 * DAY)) == 2  # by the interval, whatever lastmod says
