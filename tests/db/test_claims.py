"""Claims: one page, one worker, whatever dies in between."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from sqlalchemy import update

from storebot.db import pages as verbs
from storebot.db.claims import MAX_TRIES, SUSPECT_TRIES
from storebot.db.database import Database
from storebot.db.retry import retrying
from storebot.db.schema import pages
from storebot.items import Outcome, PageStatus, Target
from tests.db.shop import HOUR, NOW, STORE, VERSIONS, Worker, listing, parsed, unparsed

DATE = "Sat, 01 Jan 2050 00:00:00 GMT"


def names(targets: list[Target]) -> list[str]:
    return [target.url_key.rpartition("/")[2] for target in targets]


def put(database: Database, **values: Any) -> None:
    with database.write() as conn:
        conn.execute(update(pages).values(**values))


class TestClaims:
    def test_a_claim_gives_each_page_once_in_the_order_of_discovery(self, database: Database) -> None:
        shop = Worker(database)
        shop.discover("1", "2", "3")
        assert names(shop.pending(2)) == ["1", "2"]
        assert names(shop.pending(2)) == ["3"]
        assert shop.pending(2) == []
        assert {row["status"] for row in shop.rows(pages)} == {"in_progress"}

    def test_a_claim_fetches_the_url_as_it_was_found(self, database: Database) -> None:
        shop = Worker(database)
        shop.discover("1")
        (target,) = shop.pending()
        assert (target.store, target.url, target.claim_token) == (STORE, "http://shop.example/p/1", "claim")

    def test_pages_of_another_store_are_not_given(self, database: Database) -> None:
        Worker(database, store="other").discover("1")
        assert Worker(database).pending() == []

    def test_due_pages_come_longest_due_first_and_others_not_at_all(self, database: Database) -> None:
        shop = Worker(database)
        shop.discover("1", "2", "3")
        shop.save(*(parsed(target, at=NOW - int(target.url_key[-1]) * HOUR) for target in shop.pending()))
        assert names(shop.due(before=NOW + 22 * HOUR)) == ["3", "2"]
        assert shop.due(before=NOW + 22 * HOUR) == []

    def test_no_time_to_be_due_before_means_now(self, database: Database) -> None:
        shop = Worker(database)
        shop.known("1", at=shop.clock())
        with database.write() as conn:
            assert verbs.claim_due(conn, STORE, "t", 10, 60, **VERSIONS) == []
            conn.execute(update(pages).values(next_due_at=1))
            assert len(verbs.claim_due(conn, STORE, "t", 10, 60, **VERSIONS)) == 1

    def test_never_parsed_and_parsed_pages_are_two_queues(self, database: Database) -> None:
        shop = Worker(database)
        shop.known("1")
        shop.discover("2")
        assert names(shop.due()) == ["1"]
        assert names(shop.pending()) == ["2"]

    @pytest.mark.parametrize("parsed_before", [False, True])
    def test_an_expired_claim_comes_back_to_its_own_queue(self, database: Database, parsed_before: bool) -> None:
        shop = Worker(database)
        shop.discover("1")
        if parsed_before:
            shop.save(parsed(shop.pending()[0]))
        claim, other = (shop.due, shop.pending) if parsed_before else (shop.pending, shop.due)
        assert len(claim()) == 1
        put(database, claim_expires_at=1)
        assert other() == []
        assert names(claim(token="successor")) == ["1"]

    def test_a_heartbeat_keeps_only_its_own_claims(self, database: Database) -> None:
        shop = Worker(database)
        shop.discover("1", "2")
        shop.pending(1, token="alive")
        shop.pending(1, token="dead")
        put(database, claim_expires_at=1)
        with database.write() as conn:
            assert verbs.extend_claims(conn, STORE, "alive", 60) == 1
        assert names(shop.pending()) == ["2"]

    def test_releasing_gives_back_what_the_dead_held_and_keeps_our_own(self, database: Database) -> None:
        shop = Worker(database)
        shop.known("1")
        shop.discover("2", "3")
        shop.due(token="dead")
        shop.pending(1, token="dead")
        shop.pending(1, token="ours")
        with database.write() as conn:
            assert verbs.release(conn, STORE, keep_token="ours") == 2
            assert verbs.counts(conn, STORE) == {
                PageStatus.PARSED: 1,
                PageStatus.PENDING: 1,
                PageStatus.IN_PROGRESS: 1,
            }

    def test_a_graceful_stop_takes_the_try_back_and_a_death_does_not(self, database: Database) -> None:
        shop = Worker(database)
        shop.discover("1", "2")
        shop.pending(1, token="stopped")
        shop.pending(1, token="died")
        with database.write() as conn:
            assert verbs.release(conn, STORE, token="stopped") == 1
            assert verbs.release(conn, STORE, keep_token="ours") == 1
        assert [row["tries"] for row in shop.rows(pages)] == [0, 1]

    def test_what_is_left_for_a_run(self, database: Database) -> None:
        shop = Worker(database)
        shop.known("1", at=shop.clock())
        shop.discover("2", "3", "4")
        shop.save(unparsed(shop.pending(1)[0], Outcome.BLOCKED, shop.clock()))
        shop.pending(1)
        began = shop.clock()
        with database.read() as conn:
            assert verbs.left(conn, STORE, "backfill", began) == 2
            assert verbs.left(conn, STORE, "backfill", NOW * 2) == 3  # the one that failed, for a run that begins then
            assert verbs.left(conn, STORE, "refresh", NOW * 2) == 4
            assert verbs.due_count(conn, STORE, NOW * 2) == 1


class TestValidators:
    def test_they_come_with_a_parse_of_the_same_parser(self, database: Database) -> None:
        shop = Worker(database)
        shop.known("1", etag='W/"a"', last_modified=DATE)
        (target,) = shop.due()
        assert (target.etag, target.last_modified) == ('W/"a"', DATE)
        assert target.content_hash == shop.only(pages)["content_hash"]

    @pytest.mark.parametrize("moved", [{"parser_version": "p2"}, {"hash_version": 2}])
    def test_they_stay_behind_where_parser_or_hash_moved(self, database: Database, moved: dict[str, Any]) -> None:
        """C08."""
        Worker(database).known("1", etag='"a"', last_modified=DATE)
        (target,) = Worker(database, **moved).due()
        assert (target.etag, target.last_modified) == (None, None)

    def test_they_stay_behind_where_no_parse_stands_behind_them(self, database: Database) -> None:
        """C03: the row was imported, or its first parse failed."""
        shop = Worker(database)
        shop.discover("1")
        put(database, etag='"a"', last_modified=DATE, **VERSIONS)
        (target,) = shop.pending()
        assert (target.etag, target.last_modified) == (None, None)

    @pytest.mark.parametrize("malformed", ["0", "2026-06-01", "Sat, 1 Jan 2050"])
    def test_a_malformed_date_is_never_sent(self, database: Database, malformed: str) -> None:
        """C07."""
        shop = Worker(database)
        shop.known("1")
        put(database, last_modified=malformed)
        assert shop.due()[0].last_modified is None


class TestPagesThatKillTheirWorker:
    def test_they_come_last_and_one_at_a_time(self, database: Database) -> None:
        shop = Worker(database)
        shop.discover("1", "2", "3")
        with database.write() as conn:
            conn.execute(update(pages).where(pages.c.url_key.like("%/_")).values(tries=SUSPECT_TRIES))
            conn.execute(update(pages).where(pages.c.url_key.like("%/3")).values(tries=0))
        assert names(shop.pending()) == ["3"]
        assert names(shop.pending()) == ["1"]
        assert names(shop.pending()) == ["2"]

    @pytest.mark.parametrize("parsed_before", [False, True])
    def test_they_are_set_aside_for_a_week_after_six_claims(self, database: Database, parsed_before: bool) -> None:
        shop = Worker(database)
        shop.discover("1")
        if parsed_before:
            shop.save(parsed(shop.pending()[0]))
        claim = shop.due if parsed_before else shop.pending
        for _ in range(MAX_TRIES):
            assert len(claim()) == 1
            put(database, claim_expires_at=1)
        assert claim() == [] if not parsed_before else shop.due(before=shop.clock()) == []
        page = shop.only(pages)
        assert page["status"] == "error"
        assert "set aside" in page["last_error"]
        with database.read() as conn:
            assert verbs.left(conn, STORE, "backfill", NOW) == 1  # no run is complete that never looked at it
        assert page["next_due_at"] > shop.clock() + 6 * 24 * HOUR
        put(database, next_due_at=1)
        assert len(claim()) == 1

    def test_a_saved_visit_clears_the_suspicion(self, database: Database) -> None:
        shop = Worker(database)
        shop.discover("1")
        put(database, tries=SUSPECT_TRIES)
        shop.save(unparsed(shop.pending()[0], Outcome.INVALID))
        assert shop.only(pages)["tries"] == 0


class TestConcurrency:
    def test_two_claimers_never_get_the_same_page(self, database: Database) -> None:
        shop = Worker(database)
        shop.discover(*(f"{number:03}" for number in range(120)))
        claimed: dict[str, list[str]] = {"a": [], "b": [], "c": []}
        start = threading.Barrier(len(claimed))

        def work(token: str) -> None:
            start.wait()
            while batch := retrying(
                database, lambda conn: verbs.claim_pending(conn, STORE, token, 7, 60, **VERSIONS), waits_s=[0.05] * 20
            ):
                claimed[token] += names(batch)

        threads = [threading.Thread(target=work, args=(token,)) for token in claimed]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        everything = [name for mine in claimed.values() for name in mine]
        assert len(everything) == len(set(everything)) == 120

    def test_a_worker_given_up_for_dead_cannot_overwrite_its_successor(self, database: Database) -> None:
        shop = Worker(database)
        shop.known("1")
        (late,) = shop.due()
        put(database, claim_expires_at=1)
        (fresh,) = shop.due(token="successor")
        assert shop.save(parsed(fresh, listing(price_minor=5)))[0].outcome is Outcome.CHANGED
        assert shop.save(parsed(late, listing(price_minor=7)))[0].outcome is Outcome.SKIPPED
        assert shop.only(pages)["status"] == "parsed"
