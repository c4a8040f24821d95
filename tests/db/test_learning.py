"""What visits teach the planner: in the rows of their pages, and of the store as a whole."""

from __future__ import annotations

import logging

import pytest
from sqlalchemy import event, select

from storebot.core.planner.hazard import Flag
from storebot.core.planner.knowledge import FIRST_RATE
from storebot.core.planner.lanes import Lane
from storebot.db import knowledge, visits
from storebot.db.database import Database
from storebot.db.lastmods import Lastmods
from storebot.db.learning import AGAIN_AFTER_MS, SAVE_EVERY_S
from storebot.db.schema import categories, pages
from storebot.db.schema import visits as ledger
from storebot.exceptions import LeaseLost
from storebot.items import Outcome
from tests.db.planner_shop import LearningWorker
from tests.db.shop import HOUR, NOW, STORE, listing, parsed, unparsed

DAY = 24 * HOUR
TAG, OTHER_TAG = '"a"', '"b"'
DATE = "Wed, 21 Oct 2026 07:28:00 GMT"


@pytest.fixture
def shop(database: Database) -> LearningWorker:
    """Three known pages, read at `NOW`."""
    worker = LearningWorker(database)
    worker.known("1", "2", "3", etag=TAG, at=NOW)
    return worker


def learned(shop: LearningWorker, name: str) -> tuple[float, float]:
    row = shop.page(name)
    return row["change_credit"], row["exposure_h"]


class TestPages:
    def test_first_read_says_nothing_of_how_often_a_page_changes(self, shop: LearningWorker) -> None:
        assert learned(shop, "1") == (0, 0)
        assert shop.memory.knowledge.changes == 2.0  # what is believed before

    def test_changed_and_unchanged_pages_are_told_apart_in_their_rows(self, shop: LearningWorker) -> None:
        one, two, three = shop.take(Lane.HAZARD, "1", "2", "3")
        shop.save(
            parsed(one, listing(price_minor=999), at=NOW + DAY),
            parsed(two, at=NOW + DAY),
            unparsed(three, Outcome.NOT_MODIFIED, at=NOW + DAY, status=304),
        )
        assert learned(shop, "1") == pytest.approx((1 + 12 * FIRST_RATE, 24.0), abs=0.01)
        assert learned(shop, "2") == learned(shop, "3") == pytest.approx((0, 24.0))
        knowledge = shop.memory.knowledge
        assert (knowledge.changes, knowledge.visible_changes) == (3.0, 2.2)

    def test_change_that_no_card_shows_is_no_visible_one(self, shop: LearningWorker) -> None:
        (one,) = shop.take(Lane.HAZARD, "1")
        shop.save(parsed(one, listing("Jug"), at=NOW + DAY))
        knowledge = shop.memory.knowledge
        assert (knowledge.changes, knowledge.visible_changes) == (3.0, 1.2)

    @pytest.mark.parametrize("outcome", [Outcome.ERROR, Outcome.BLOCKED, Outcome.INVALID, Outcome.MISSING])
    def test_error_is_no_observation(self, shop: LearningWorker, outcome: Outcome) -> None:
        shop.set_page("1", change_credit=2.5, exposure_h=100.0)
        (one,) = shop.take(Lane.HAZARD, "1")
        shop.save(unparsed(one, outcome, at=NOW + DAY))
        assert learned(shop, "1") == (2.5, 100.0)
        assert shop.memory.knowledge.plain_expected == 1.0

    def test_record_of_another_parser_says_nothing_of_the_market(self, database: Database) -> None:
        LearningWorker(database).known("1", at=NOW)
        later = LearningWorker(database, token="lease", parser_version="p2")
        (one,) = later.take(Lane.HAZARD, "1")
        later.save(parsed(one, listing("Jug"), at=NOW + DAY))
        assert learned(later, "1") == (0, 0)

    def test_look_answers_what_said_that_the_page_changed(self, shop: LearningWorker) -> None:
        for name in ("1", "2", "3"):
            shop.set_page(name, signal=Flag.DIFFERS.value)
        one, two, three = shop.take(Lane.SIGNAL, "1", "2", "3")
        shop.save(
            parsed(one, at=NOW + DAY),
            unparsed(two, Outcome.NOT_MODIFIED, at=NOW + DAY, status=304),
            unparsed(three, Outcome.ERROR, at=NOW + DAY),
        )
        assert [shop.page(name)["signal"] for name in ("1", "2", "3")] == [0, 0, Flag.DIFFERS]

    def test_lane_is_in_the_ledger(self, shop: LearningWorker) -> None:
        shop.save(*(parsed(target, at=NOW + DAY) for target in shop.take(Lane.AUDIT, "1")))
        shop.save(*(parsed(target, at=NOW + DAY) for target in shop.due(NOW + DAY)))
        assert [row["lane"] for row in shop.rows(ledger)] == ["new"] * 3 + ["audit"] + ["due"] * 2

    def test_without_a_plan_a_page_is_due_after_the_interval(self, shop: LearningWorker) -> None:
        (one,) = shop.take(Lane.HAZARD, "1")
        shop.save(parsed(one, at=NOW + DAY))
        assert shop.page("1")["next_due_at"] == NOW + 2 * DAY

    def test_with_a_plan_a_page_that_changes_often_is_due_sooner(self, database: Database) -> None:
        shop = LearningWorker(database, planned=True)
        shop.known("1", "2", at=NOW)
        at = NOW
        for day in range(1, 8):
            at = NOW + day * DAY
            one, two = shop.take(Lane.HAZARD, "1", "2")
            shop.save(parsed(one, listing(price_minor=1000 + day), at=at), parsed(two, at=at))
        often, seldom = (shop.page(name)["next_due_at"] - at for name in ("1", "2"))
        assert HOUR < often < seldom / 2


class TestCategories:
    def test_category_is_the_first_two_levels_of_the_path(self, database: Database) -> None:
        shop = LearningWorker(database)
        shop.discover("1", "2", "3", "4")
        one, two, three, four = shop.pending()
        shop.save(
            parsed(one, listing(category_path=("Home", "Mugs", "Tea"))),
            parsed(two, listing(category_path=("Home", " Mugs "))),
            parsed(three, listing(category_path=("Home",))),
            parsed(four),
        )
        first, second, third, fourth = (shop.page(name)["category_id"] for name in ("1", "2", "3", "4"))
        assert first == second != third
        assert fourth == 0
        assert {row["id"]: row["name"] for row in shop.rows(categories)} == {first: "Home > Mugs", third: "Home"}

    def test_page_that_is_as_it_was_keeps_its_category(self, database: Database) -> None:
        shop = LearningWorker(database)
        shop.known("1", listings=[listing(category_path=("Home",))], etag=TAG, at=NOW)
        (one,) = shop.take(Lane.HAZARD, "1")
        shop.save(unparsed(one, Outcome.NOT_MODIFIED, at=NOW + DAY, status=304))
        assert shop.page("1")["category_id"] == shop.rows(categories)[0]["id"]

    def test_store_that_files_each_product_by_itself_has_a_bounded_number(
        self, database: Database, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(knowledge, "MOST_CATEGORIES", 2)
        shop = LearningWorker(database)
        shop.discover("1", "2", "3")
        for target in shop.pending():
            shop.save(parsed(target, listing(category_path=(target.url_key,))))
        assert len(shop.rows(categories)) == 2
        assert [shop.page(name)["category_id"] == 0 for name in ("1", "2", "3")] == [False, False, True]


class TestMemory:
    def test_what_is_known_of_a_store_is_found_again(self, shop: LearningWorker, database: Database) -> None:
        (one,) = shop.take(Lane.AUDIT, "1")
        shop.save(parsed(one, listing(price_minor=5, category_path=("Home",)), etag=OTHER_TAG, at=NOW + DAY))
        shop.memory.lastmods_at = NOW + DAY
        shop.remember()
        with database.read() as conn:
            again = knowledge.load(conn, STORE, NOW + DAY)
        shop.memory.knowledge.reads_sitemaps = True  # as the sitemap was read lately
        assert again == shop.memory

    def test_it_is_saved_with_a_commit_now_and_then(self, shop: LearningWorker, database: Database) -> None:
        def saved() -> float:
            with database.read() as conn:
                return knowledge.load(conn, STORE, NOW).knowledge.changes

        for seconds, expected in ((1.0, 2.0), (SAVE_EVERY_S, 4.0)):
            shop.seconds = seconds
            (one,) = shop.take(Lane.HAZARD, "1")
            shop.save(parsed(one, listing(price_minor=round(seconds)), at=NOW + DAY + round(seconds)))
            assert saved() == expected

    def test_what_another_version_wrote_is_left_out(self, shop: LearningWorker, database: Database) -> None:
        with database.write() as conn:
            text = '{"unknown": 1, "knowledge": {"unknown": 2, "mean": 0.5}}'
            conn.exec_driver_sql(f"UPDATE stores SET planner = '{text}'")
        with database.read() as conn:
            assert knowledge.load(conn, STORE, NOW).knowledge.mean == 0.5

    def test_batch_that_is_rolled_back_is_forgotten(self, shop: LearningWorker, database: Database) -> None:
        (one,) = shop.take(Lane.HAZARD, "1")
        changed = parsed(one, listing(price_minor=5, category_path=("Home",)), at=NOW + DAY)
        before = shop.memory.knowledge.changes
        with database.write() as conn:
            visits.save(conn, shop.run, [changed])
            conn.rollback()  # the connection broke before the commit
        assert shop.memory.knowledge.changes == before + 1  # until somebody tries again
        shop.save(changed)
        assert shop.memory.knowledge.changes == before + 1
        assert shop.page("1")["category_id"] == shop.rows(categories)[0]["id"]
        assert shop.memory.names == {"Home": shop.rows(categories)[0]["id"]}

    def test_save_that_raises_teaches_nothing(self, shop: LearningWorker, database: Database) -> None:
        (one,) = shop.take(Lane.HAZARD, "1")
        before = shop.memory.knowledge.changes
        with database.write() as conn:
            conn.exec_driver_sql("UPDATE stores SET lease_token = 'another'")
        with pytest.raises(LeaseLost):
            shop.save(parsed(one, listing(price_minor=5), at=NOW + DAY))
        assert shop.memory.knowledge.changes == before

    def test_means_are_learned_once_a_day_from_all_pages(self, shop: LearningWorker, database: Database) -> None:
        shop.set_page("1", change_credit=200.0, exposure_h=2000.0)
        with database.write() as conn:
            shop.learner.learn_means(conn, NOW)
            learned_mean = shop.memory.knowledge.mean
            shop.learner.learn_means(conn, NOW + DAY - 1)
        assert learned_mean == pytest.approx(220 / 11_600)
        assert shop.memory.means_at == NOW

    @pytest.mark.parametrize("backend", ["sqlite"], indirect=True)
    def test_visits_take_one_update_each_and_a_batch_one_query(self, shop: LearningWorker, database: Database) -> None:
        targets = shop.take(Lane.HAZARD, "1", "2", "3")
        statements: list[str] = []

        def note(*args: object) -> None:
            statements.append(str(args[2]))

        event.listen(database._writing, "before_cursor_execute", note)
        shop.save(*(unparsed(target, Outcome.NOT_MODIFIED, at=NOW + DAY, status=304) for target in targets))
        event.remove(database._writing, "before_cursor_execute", note)
        kinds = [(statement.split()[0], "pages" in statement) for statement in statements]
        assert kinds.count(("SELECT", True)) == 1
        assert kinds.count(("UPDATE", True)) == 1  # executed with one set of parameters a visit
        # Beside them the transaction's begin, the lease, the ledger, and the tallies: one row for all of these.
        assert len(statements) == 6


class TestValidators:
    """Case C05: validators that lie are found by audits, and never sent again."""

    def test_another_record_under_the_same_tag_ends_conditional_requests(
        self, shop: LearningWorker, caplog: pytest.LogCaptureFixture
    ) -> None:
        """Case C05: the price went from 49 to 39, and the validators stayed."""
        assert shop.learner.may_ask_conditionally(NOW)
        (one,) = shop.take(Lane.AUDIT, "1")
        with caplog.at_level(logging.WARNING):
            shop.save(parsed(one, listing(price_minor=3900), etag=TAG, at=NOW + DAY))
        assert not shop.learner.may_ask_conditionally(NOW + DAY)
        assert "its 304 is not to be believed" in caplog.text
        assert "another record under the validators that were known" in shop.memory.validators_lie
        assert shop.memory.validators_lie_at == NOW + DAY

    def test_frozen_last_modified_is_a_lie_where_there_is_no_tag(self, database: Database) -> None:
        shop = LearningWorker(database)
        shop.known("1", last_modified=DATE, at=NOW)
        (one,) = shop.take(Lane.AUDIT, "1")
        shop.save(parsed(one, listing(price_minor=3900), last_modified=DATE, at=NOW + DAY))
        assert shop.memory.validators_lie

    @pytest.mark.parametrize(
        ("lane", "price", "tag"),
        [(Lane.AUDIT, 3900, OTHER_TAG), (Lane.AUDIT, 1999, TAG), (Lane.HAZARD, 3900, TAG), (Lane.AUDIT, 3900, None)],
        ids=["the tag moved too", "nothing changed", "no audit", "no tag any more"],
    )
    def test_no_proof_is_no_lie(self, shop: LearningWorker, lane: Lane, price: int, tag: str | None) -> None:
        (one,) = shop.take(lane, "1")
        shop.save(parsed(one, listing(price_minor=price), etag=tag, last_modified=DATE, at=NOW + DAY))
        assert not shop.memory.validators_lie

    def test_304_right_after_another_page_was_sent_is_a_lie(self, shop: LearningWorker) -> None:
        (one,) = shop.take(Lane.AUDIT, "1")
        shop.save(parsed(one, listing(price_minor=3900), etag=OTHER_TAG, at=NOW + DAY, false_304=True))
        assert "304 to what was known" in shop.memory.validators_lie
        assert (shop.memory.validators_asked, shop.memory.validators_lies) == (1, 1)

    def test_304_of_a_server_that_lied_is_no_observation(self, shop: LearningWorker) -> None:
        (one,) = shop.take(Lane.HAZARD, "1")
        shop.learner.distrust("it was seen", NOW)
        shop.save(unparsed(one, Outcome.NOT_MODIFIED, at=NOW + DAY, status=304))
        assert learned(shop, "1") == (0, 0)

    def test_validators_are_tried_again_after_a_month_where_audits_watch_them(self, database: Database) -> None:
        for planned in (False, True):
            shop = LearningWorker(database, planned=planned)
            shop.learner.distrust("it was seen", NOW)
            assert not shop.learner.may_ask_conditionally(NOW + AGAIN_AFTER_MS - 1)
            assert shop.learner.may_ask_conditionally(NOW + AGAIN_AFTER_MS) is planned


@pytest.mark.parametrize(
    ("text", "bumps"),
    [
        ("2027-01-15", 1),  # `NOW` is at eight in the morning of that day: it may have changed since
        ("2027-01-15T07:59:59Z", 0),
        ("2027-01-15 12:00", 1),
        ("2027-01-14", 0),
        ("yesterday", 0),
    ],
)
def test_a_day_without_a_time_is_news_until_it_is_over(shop: LearningWorker, text: str, bumps: int) -> None:
    """Case I03."""
    lastmods = Lastmods(STORE, shop.memory)
    before = shop.memory.knowledge.bumps
    with shop.database.read() as conn:
        (row,) = conn.execute(select(pages).where(pages.c.url_key == shop.page("1")["url_key"])).all()
    lastmods.signal(row, text, NOW + 2 * DAY)
    assert shop.memory.knowledge.bumps - before == bumps
