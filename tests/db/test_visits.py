"""What each outcome of a visit does to the page, its listings and their history."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import orjson
import pytest
from sqlalchemy import select, update

from storebot.core.fingerprint import details_hash, record_hash
from storebot.db import leases, runs
from storebot.db.database import Database
from storebot.db.holders import this_process
from storebot.db.schema import blocks, changes, listings, offers, pages, visits
from storebot.exceptions import LeaseLost, SaveFailed
from storebot.items import (
    VARIANTS,
    Availability,
    BlockSignal,
    CatalogPage,
    Outcome,
    PageType,
    Problem,
    Target,
)
from tests.db.shop import HOUR, NOW, STORE, Worker, alive, found, listing, parsed, unparsed

LATER = NOW + 48 * HOUR
DATE = "Sat, 01 Jan 2050 00:00:00 GMT"


def fields(row: dict[str, Any]) -> list[dict[str, Any]]:
    return list(orjson.loads(row["fields"]))


class TestNew:
    def test_a_first_parse_inserts_listing_and_offer_and_schedules_the_next_visit(self, database: Database) -> None:
        shop = Worker(database)
        shop.discover("1")
        (target,) = shop.pending()
        (saved,) = shop.save(parsed(target, etag='"a"', last_modified=DATE, page_sha256="f" * 64, size_bytes=7))
        assert (saved.outcome, saved.rows_written, saved.changes) == (Outcome.NEW, 1, 0)
        page = shop.only(pages)
        assert (page["status"], page["claim_token"], page["tries"]) == ("parsed", "", 0)
        assert (page["etag"], page["last_modified"]) == ('"a"', DATE)
        assert (page["fetched_at"], page["checked_at"], page["next_due_at"]) == (NOW, NOW, NOW + 24 * HOUR)
        row = shop.only(listings)
        assert (row["name"], row["price_minor"], row["status"]) == ("Mug", 1999, "active")
        assert (row["run_id"], row["parser"], row["parser_version"]) == (shop.run.run_id, STORE, "p1")
        assert shop.only(offers)["availability"] == "InStock"
        visit = shop.only(visits)
        assert (visit["outcome"], visit["bytes"], visit["rows_written"]) == ("new", 7, 1)
        assert shop.rows(changes) == []

    def test_it_is_a_change_event_only_where_the_run_announces_new_listings(self, database: Database) -> None:
        shop = Worker(database, announce_new=True)
        shop.known("1", listings=[listing(variant_id="S"), listing(variant_id="M")])
        events = shop.rows(changes)
        assert [(event["type"], event["variant_id"]) for event in events] == [("new", "S"), ("new", "M")]
        assert {"field": "name", "before": None, "after": "Mug"} in fields(events[0])

    def test_any_text_is_kept_as_it_is(self, database: Database) -> None:
        """T07: three-byte utf8 would refuse or cut this name."""
        shop = Worker(database)
        shop.known("1", listings=[listing(name="Mug 😅 𠮷", description="x" * 100_000)])
        row = shop.only(listings)
        assert row["name"] == "Mug 😅 𠮷"
        assert len(row["description"]) == 100_000


class TestKnownPage:
    def test_the_same_hash_touches_the_page_and_no_listing(self, database: Database) -> None:
        shop = Worker(database)
        shop.known("1", etag='"a"')
        before = shop.only(listings)
        (saved,) = shop.save(parsed(shop.due()[0], at=LATER, etag='"b"'))
        assert (saved.outcome, saved.rows_written, saved.changes) == (Outcome.UNCHANGED, 0, 0)
        assert shop.only(listings) == before
        page = shop.only(pages)
        assert (page["etag"], page["checked_at"], page["next_due_at"]) == ('"b"', LATER, LATER + 24 * HOUR)

    def test_another_price_rewrites_the_row_appends_an_offer_and_is_one_event(self, database: Database) -> None:
        shop = Worker(database)
        shop.known("1")
        (saved,) = shop.save(parsed(shop.due()[0], listing(price_minor=1499), at=LATER))
        assert (saved.outcome, saved.rows_written, saved.changes) == (Outcome.CHANGED, 1, 1)
        row = shop.only(listings)
        assert (row["price_minor"], row["last_changed_at"], row["first_seen_at"]) == (1499, LATER, NOW)
        assert [offer["price_minor"] for offer in shop.rows(offers)] == [1999, 1499]
        event = shop.only(changes)
        assert (event["type"], event["url_key"]) == ("changed", "https://shop.example/p/1")
        assert fields(event) == [{"field": "price_minor", "before": 1999, "after": 1499}]

    def test_another_title_is_an_event_but_no_offer(self, database: Database) -> None:
        shop = Worker(database)
        shop.known("1")
        shop.save(parsed(shop.due()[0], listing(name="Cup"), at=LATER))
        assert len(shop.rows(offers)) == 1
        assert len(shop.rows(changes)) == 1

    def test_a_name_that_lost_characters_leaves_the_clean_one_and_is_no_event_e02(self, database: Database) -> None:
        shop = Worker(database)
        clean = listing("Caf\u00e9 90")
        shop.known("1", listings=[replace(clean, record_hash=record_hash(clean), details_hash=details_hash(clean))])
        before = shop.only(listings)
        shop.save(parsed(shop.due()[0], listing("Caf\ufffd 90"), at=LATER))
        assert (shop.only(listings), shop.rows(changes)) == (before, [])
        shop.save(parsed(shop.due()[0], listing("Caf\ufffd 90", 2999), at=LATER + HOUR))
        assert (shop.only(listings)["name"], shop.only(listings)["price_minor"]) == ("Caf\u00e9 90", 2999)

    def test_another_availability_is_an_offer(self, database: Database) -> None:
        shop = Worker(database)
        shop.known("1")
        shop.save(parsed(shop.due()[0], listing(availability=Availability.OUT_OF_STOCK), at=LATER))
        assert [offer["availability"] for offer in shop.rows(offers)] == ["InStock", "OutOfStock"]

    def test_another_description_is_rewritten_in_silence(self, database: Database) -> None:
        shop = Worker(database)
        shop.known("1")
        (saved,) = shop.save(parsed(shop.due()[0], listing(description="New text"), at=LATER))
        assert (saved.outcome, saved.changes) == (Outcome.UNCHANGED, 0)
        assert shop.only(listings)["description"] == "New text"
        assert shop.rows(changes) == []

    def test_only_the_variant_that_differs_is_rewritten(self, database: Database) -> None:
        shop = Worker(database)
        shop.known("1", listings=[listing(variant_id="S"), listing(variant_id="M")])
        (saved,) = shop.save(
            parsed(shop.due()[0], listing(variant_id="S"), listing(variant_id="M", price_minor=5), at=LATER)
        )
        assert saved.rows_written == 1
        assert [(row["variant_id"], row["last_changed_at"]) for row in shop.rows(listings)] == [
            ("S", NOW),
            ("M", LATER),
        ]

    def test_a_variant_that_appears_is_new_one_that_goes_is_missing_and_may_return(self, database: Database) -> None:
        shop = Worker(database)
        small, large = listing(variant_id="S"), listing(variant_id="L")
        shop.known("1", listings=[small])
        shop.save(parsed(shop.due()[0], small, large, at=LATER))
        shop.save(parsed(shop.due()[0], large, at=LATER + 1))
        assert [(row["variant_id"], row["status"]) for row in shop.rows(listings)] == [
            ("S", "missing"),
            ("L", "active"),
        ]
        assert shop.rows(listings)[0]["last_seen_at"] == LATER
        shop.save(parsed(shop.due()[0], small, large, at=LATER + 2))
        assert {row["status"] for row in shop.rows(listings)} == {"active"}
        events = [(event["type"], event["variant_id"]) for event in shop.rows(changes)]
        assert events == [("new", "L"), ("missing", "S"), ("returned", "S")]

    def test_variants_that_a_page_no_longer_names_but_still_has_stay_as_they_are_a01(self, database: Database) -> None:
        shop = Worker(database)
        shop.known("1", listings=[listing(variant_id="S"), listing(variant_id="L")])
        unknown = (Problem(VARIANTS, "the shop loads the variants of this product by script"),)
        shop.save(parsed(shop.due()[0], listing(), at=LATER, problems=unknown))
        assert [(row["variant_id"], row["status"]) for row in shop.rows(listings)] == [
            ("S", "active"),
            ("L", "active"),
            ("", "active"),
        ]
        assert [event["type"] for event in shop.rows(changes)] == ["new"]

    def test_a_variant_that_is_gone_stays_gone_when_its_page_returns_from_a_404(self, database: Database) -> None:
        shop = Worker(database)
        small, large = listing(variant_id="S"), listing(variant_id="L")
        shop.known("1", listings=[small, large])
        shop.save(parsed(shop.due()[0], large, at=LATER))
        shop.save(unparsed(shop.due()[0], Outcome.MISSING, LATER + 1, status=404))
        shop.save(unparsed(shop.due()[0], Outcome.NOT_MODIFIED, LATER + 2, status=304))
        assert [(row["variant_id"], row["status"]) for row in shop.rows(listings)] == [
            ("S", "missing"),
            ("L", "active"),
        ]

    @pytest.mark.parametrize("moved", [{"parser_version": "p2"}, {"hash_version": 2}])
    def test_another_parser_rebases_without_an_event(self, database: Database, moved: dict[str, Any]) -> None:
        """C08: a code change never looks like a market move, and what the old parser missed is filled."""
        Worker(database).known("1", listings=[listing(price_minor=None)])
        shop = Worker(database, **moved)
        (saved,) = shop.save(parsed(shop.due()[0], listing(), at=LATER))
        assert (saved.outcome, saved.rows_written, saved.changes) == (Outcome.UNCHANGED, 1, 0)
        row = shop.only(listings)
        assert (row["price_minor"], row["last_changed_at"]) == (1999, NOW)
        assert [offer["cause"] for offer in shop.rows(offers)] == ["seen", "rebased"]
        assert shop.rows(changes) == []
        page = shop.only(pages)
        assert (page["parser_version"], page["hash_version"]) == (shop.run.parser_version, shop.run.hash_version)

    def test_two_changes_of_one_page_in_one_run_are_two_events(self, database: Database) -> None:
        shop = Worker(database)
        shop.known("1")
        shop.save(parsed(shop.due()[0], listing(price_minor=1), at=LATER))
        shop.save(parsed(shop.due()[0], listing(price_minor=2), at=LATER + 1))
        first, second = shop.rows(changes)
        assert first["id"] != second["id"]
        assert first["seq"] < second["seq"]


class TestNotSeen:
    def test_a_304_touches_the_page_alone_and_keeps_its_validators(self, database: Database) -> None:
        shop = Worker(database)
        shop.known("1", etag='"a"')
        before = shop.only(listings)
        (saved,) = shop.save(unparsed(shop.due()[0], Outcome.NOT_MODIFIED, LATER, status=304))
        assert saved.outcome is Outcome.NOT_MODIFIED
        page = shop.only(pages)
        assert (page["etag"], page["fetched_at"], page["checked_at"]) == ('"a"', NOW, LATER)
        assert (page["status"], page["next_due_at"]) == ("parsed", LATER + 24 * HOUR)
        assert shop.only(listings) == before

    def test_a_304_without_a_record_is_an_error_and_the_next_visit_is_unconditional(self, database: Database) -> None:
        """C03: never empty, never 'unchanged'."""
        shop = Worker(database)
        shop.discover("1")
        (target,) = shop.pending()
        (saved,) = shop.save(unparsed(target, Outcome.NOT_MODIFIED, status=304))
        assert saved.outcome is Outcome.ERROR
        assert "304" in saved.reason
        page = shop.only(pages)
        assert (page["status"], page["checked_at"], page["etag"]) == ("error", None, None)

    def test_a_304_from_an_older_parsers_validators_is_an_error(self, database: Database) -> None:
        """C08: the server keeps saying 304, so the wrong fields would stay for ever."""
        Worker(database).known("1", etag='"a"')
        shop = Worker(database, parser_version="p2")
        (saved,) = shop.save(unparsed(shop.due()[0], Outcome.NOT_MODIFIED, status=304))
        assert saved.outcome is Outcome.ERROR
        assert shop.only(pages)["etag"] is None

    def test_a_404_makes_the_listing_missing_deletes_nothing_and_is_undone_when_it_returns(
        self, database: Database
    ) -> None:
        shop = Worker(database)
        shop.known("1")
        shop.save(unparsed(shop.due()[0], Outcome.MISSING, LATER, status=404))
        shop.save(unparsed(shop.due()[0], Outcome.MISSING, LATER + 1, status=410))
        page, row = shop.only(pages), shop.only(listings)
        assert (page["misses"], page["status"], page["checked_at"]) == (2, "parsed", LATER + 1)
        assert page["next_due_at"] == LATER + 1 + HOUR
        assert (row["status"], row["price_minor"], row["last_seen_at"]) == ("missing", 1999, NOW)
        assert shop.rows(changes) == []
        shop.save(parsed(shop.due()[0], at=LATER + 2))
        assert (shop.only(pages)["misses"], shop.only(listings)["status"]) == (0, "active")

    @pytest.mark.parametrize(
        "outcome", [Outcome.BLOCKED, Outcome.INVALID, Outcome.ERROR, Outcome.SKIPPED, Outcome.MOVED]
    )
    def test_what_was_not_seen_leaves_row_validators_and_checked_at(self, database: Database, outcome: Outcome) -> None:
        """A 200 challenge page, a 5xx or a time-out never erases a listing."""
        shop = Worker(database)
        shop.known("1", etag='"a"', last_modified=DATE)
        row = shop.only(listings)
        shop.save(unparsed(shop.due()[0], outcome, LATER, etag='"challenge"', last_modified="x"))
        page = shop.only(pages)
        assert (page["etag"], page["last_modified"], page["checked_at"]) == ('"a"', DATE, NOW)
        assert (page["status"], page["claim_token"], page["next_due_at"]) == ("parsed", "", LATER + HOUR)
        assert page["last_error"] == f"test: {outcome}"
        assert shop.only(listings) == row

    @pytest.mark.parametrize(
        ("outcome", "status"), [(Outcome.BLOCKED, "pending"), (Outcome.INVALID, "error"), (Outcome.MISSING, "error")]
    )
    def test_a_page_that_was_never_parsed_waits_for_its_next_try(
        self, database: Database, outcome: Outcome, status: str
    ) -> None:
        shop = Worker(database)
        shop.discover("1")
        (target,) = shop.pending()
        shop.save(unparsed(target, outcome, at=shop.clock()))
        assert shop.only(pages)["status"] == status
        assert shop.pending() == []
        with database.write() as conn:
            conn.execute(update(pages).values(next_due_at=0))
        assert len(shop.pending()) == 1

    def test_the_signals_of_a_block_go_to_the_ledger(self, database: Database) -> None:
        shop = Worker(database)
        shop.discover("1")
        signals = (BlockSignal("status", "403", "acme"), BlockSignal("marker", "Robot? " * 500))
        shop.save(unparsed(shop.pending()[0], Outcome.BLOCKED, blocks=signals))
        status, marker = shop.rows(blocks)
        assert (status["kind"], status["value"], status["vendor"]) == ("status", "403", "acme")
        assert marker["url"] == "http://shop.example/p/1"

    def test_a_blocked_catalogue_page_is_in_the_ledgers_but_no_product_visit(self, database: Database) -> None:
        shop = Worker(database)
        target = Target(store=STORE, url="http://shop.example/?page=2", url_key="k", page_type=PageType.CATALOGUE)
        shop.save(unparsed(target, Outcome.BLOCKED, blocks=(BlockSignal("status", "403"),)))
        assert shop.only(visits)["page_type"] == "catalogue"
        assert len(shop.rows(blocks)) == 1
        with database.read() as conn:
            assert runs.tally(conn, shop.run.run_id) == {}
            assert runs.tally(conn, shop.run.run_id, PageType.CATALOGUE) == {Outcome.BLOCKED: 1}

    def test_validators_that_can_not_be_sent_back_are_not_stored(self, database: Database) -> None:
        """C07: a malformed date is ignored, a future one is the store's own."""
        shop = Worker(database)
        shop.known("1", "2", "3", last_modified="2026-06-01", etag='"line\nbreak"')
        assert {(page["last_modified"], page["etag"]) for page in shop.rows(pages)} == {(None, None)}


class TestRedirects:
    OLD, NEW = "https://shop.example/p/1", "https://shop.example/p/2"

    def test_a_page_whose_redirect_leads_to_an_unknown_key_takes_that_key(self, database: Database) -> None:
        shop = Worker(database)
        shop.known("1")
        (saved,) = shop.save(
            parsed(
                shop.due()[0], listing(price_minor=1), at=LATER, final_url="http://shop.example/p/2", final_key=self.NEW
            )
        )
        assert saved.outcome is Outcome.CHANGED
        page = shop.only(pages)
        assert (page["url_key"], page["url"]) == (self.NEW, "http://shop.example/p/2")
        assert len(shop.rows(offers)) == 2, "one price series"
        assert shop.only(changes)["url_key"] == self.NEW
        assert shop.discover("1") == 0, "the old key leads to the page"

    def test_a_redirect_that_turns_around_gives_the_old_key_back(self, database: Database) -> None:
        shop = Worker(database)
        shop.known("1")
        shop.save(parsed(shop.due()[0], at=LATER, final_url="http://shop.example/p/2", final_key=self.NEW))
        shop.save(parsed(shop.due()[0], at=LATER + 1, final_url="http://shop.example/p/1", final_key=self.OLD))
        assert shop.only(pages)["url_key"] == self.OLD
        assert shop.discover("1", "2") == 0

    def test_a_page_that_leads_to_a_known_one_is_gone_and_writes_no_second_listing(self, database: Database) -> None:
        shop = Worker(database)
        shop.known("1", "2")
        first, second = shop.due()
        saved = shop.save(
            parsed(first, listing(price_minor=1), at=LATER, final_url=second.url, final_key=second.url_key),
            parsed(second, at=LATER),
        )
        assert [one.outcome for one in saved] == [Outcome.MOVED, Outcome.UNCHANGED]
        assert [page["status"] for page in shop.rows(pages)] == ["gone", "parsed"]
        assert [row["status"] for row in shop.rows(listings)] == ["missing", "active"]
        assert shop.rows(changes) == []
        assert shop.discover("1", "2") == 0
        assert [target.url_key for target in shop.due()] == [self.NEW]

    def test_a_retired_pages_key_comes_back_when_the_redirect_turns_around(self, database: Database) -> None:
        shop = Worker(database)
        shop.known("1", "2")
        first, second = shop.due()
        shop.save(parsed(first, at=LATER, final_key=second.url_key), unparsed(second, Outcome.ERROR, LATER))
        shop.save(parsed(shop.due()[0], at=LATER + 1, final_key=first.url_key))
        keys = [(page["status"], page["url_key"]) for page in shop.rows(pages)]
        assert keys == [("gone", self.NEW), ("parsed", self.OLD)]
        shop.save(parsed(shop.due()[0], at=LATER + 2))
        assert [row["status"] for row in shop.rows(listings)] == ["missing", "active"]

    def test_two_pages_of_one_batch_that_lead_to_one_key_become_one_page(self, database: Database) -> None:
        shop = Worker(database)
        shop.discover("1", "3")
        shop.save(
            *(parsed(target, final_key=self.NEW, final_url="http://shop.example/p/2") for target in shop.pending())
        )
        assert [(page["url_key"], page["status"]) for page in shop.rows(pages)] == [
            (self.NEW, "parsed"),
            ("https://shop.example/p/3", "gone"),
        ]
        assert len(shop.rows(listings)) == 1


class TestFences:
    def test_a_lost_claim_writes_nothing(self, database: Database) -> None:
        shop = Worker(database)
        shop.discover("1")
        (late,) = shop.pending()
        with database.write() as conn:
            conn.execute(update(pages).values(claim_expires_at=1))
        (fresh,) = shop.pending(token="successor")
        (saved,) = shop.save(parsed(late))
        assert saved.outcome is Outcome.SKIPPED
        assert "claim lost" in saved.reason
        assert shop.rows(listings) == []
        assert shop.rows(visits) == []
        assert shop.save(parsed(fresh))[0].outcome is Outcome.NEW

    def test_a_second_visit_on_one_claim_writes_nothing(self, database: Database) -> None:
        shop = Worker(database)
        shop.discover("1")
        (target,) = shop.pending()
        saved = shop.save(parsed(target), parsed(target, listing(price_minor=1)))
        assert [one.outcome for one in saved] == [Outcome.NEW, Outcome.SKIPPED]
        assert len(shop.rows(visits)) == 1

    def test_a_lost_lease_refuses_the_whole_batch(self, database: Database) -> None:
        shop = Worker(database)
        shop.discover("1")
        (target,) = shop.pending()
        with database.write() as conn:
            leases.extend(conn, STORE, "lease", -1)
            leases.take(conn, STORE, "successor", this_process(), 60, alive)
        with pytest.raises(LeaseLost, match="'shop' was lost"):
            shop.save(parsed(target))
        assert shop.rows(listings) == []

    def test_a_batch_is_all_or_nothing(self, database: Database) -> None:
        """M02: the checkpoint of a page can't be there without its rows, nor the other way round."""
        shop = Worker(database)
        shop.discover("1")
        (target,) = shop.pending()
        page = CatalogPage(store=STORE, walk="w", number=1, url="u", at_ms=NOW, found=tuple(found("2", "3")))
        ahead = CatalogPage(store=STORE, walk="w", number=7, url="u", at_ms=NOW, found=())
        with pytest.raises(SaveFailed, match="page 7 came out of order after page 1"):
            shop.save(parsed(target), page, ahead)
        assert [row["url_key"] for row in shop.rows(pages)] == ["https://shop.example/p/1"]
        assert shop.rows(visits) == []
        saved = shop.save(parsed(target), page)
        assert [(one.outcome, one.new_pages) for one in saved] == [(Outcome.NEW, 0), (None, 2)]

    def test_the_counts_of_a_run_add_up_to_its_visits(self, database: Database) -> None:
        shop = Worker(database)
        shop.known("1", "2", "3")
        shop.discover("4")
        one, two, three = shop.due()
        shop.save(
            parsed(one, at=LATER, size_bytes=10),
            parsed(two, listing(price_minor=1), at=LATER, size_bytes=10, requests=2),
            unparsed(three, Outcome.NOT_MODIFIED),
            unparsed(shop.pending()[0], Outcome.ERROR),
        )
        with database.read() as conn:
            assert runs.tally(conn, shop.run.run_id) == {
                Outcome.NEW: 3,
                Outcome.UNCHANGED: 1,
                Outcome.CHANGED: 1,
                Outcome.NOT_MODIFIED: 1,
                Outcome.ERROR: 1,
            }
            totals = runs.totals(conn, shop.run.run_id)
            assert len(conn.execute(select(visits)).all()) == sum(totals.outcomes.values())
        assert (totals.requests, totals.size_bytes, totals.rows_written) == (8, 20, 4)
        assert (totals.rows_skipped, totals.change_events) == (2, 1)
