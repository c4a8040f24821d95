"""Corrections: a kept page read again against the rows that an earlier parser made of it, on every database."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import orjson
import pytest
from sqlalchemy import update

from storebot.db import reparsing
from storebot.db.context import RunContext
from storebot.db.corrections import Corrected, compare, correct
from storebot.db.database import Database
from storebot.db.reparsing import Selection
from storebot.db.schema import aliases, changes, listings, offers, pages, visits
from storebot.exceptions import LeaseLost
from storebot.items import VARIANTS, Availability, Listing, Outcome, Problem, Target, Visit
from tests.db.shop import HOUR, NOW, STORE, Worker, listing, parsed, unparsed

WANTED = Selection(store=STORE, version="p2", hash_version=1)


def subjects(database: Database, wanted: Selection = WANTED) -> list[reparsing.Subject]:
    with database.read() as conn:
        return reparsing.subjects(conn, wanted, list(reparsing.subject_ids(conn, wanted)))


def reread(shop: Worker, *found: Listing, at: int = NOW, **fields: Any) -> Visit:
    """Return the visit of the one page of the shop, read again."""
    target = subjects(shop.database)[0].target
    return parsed(target, *found, at=at, requests=0, page_sha256="e" * 64, **fields)


def run_of(shop: Worker) -> RunContext:
    return replace(reparsing.context(WANTED, shop.run.run_id, shop.token))


def corrected(shop: Worker, *found: Visit, announce: bool = False) -> list[Corrected]:
    with shop.database.write() as conn:
        return correct(conn, run_of(shop), found, announce=announce)


@pytest.fixture
def shop(database: Database) -> Worker:
    """A shop with one page, whose price was read wrong."""
    worker = Worker(database)
    worker.known("1", listings=[listing(price_minor=19)], etag='"a"', page_sha256="f" * 64)
    return worker


def test_a_value_that_differs_is_corrected_and_nothing_else_moves(shop: Worker) -> None:
    (page, row) = shop.only(pages), shop.only(listings)
    (found,) = corrected(shop, reread(shop, listing(price_minor=1999)))
    assert (found.outcome, found.rows_written, found.changes) == (Outcome.CHANGED, 1, 0)
    assert [(one.field, one.before, one.after) for one in found.differences] == [("price_minor", 19, 1999)]
    now = shop.only(listings)
    assert {name for name in now if now[name] != row[name]} == {
        "price_minor",
        "record_hash",
        "parser_version",
        "page_sha256",
        "run_id",
    } - ({"run_id"} if now["run_id"] == row["run_id"] else set())
    moved = shop.only(pages)
    assert {name for name in moved if moved[name] != page[name]} == {"content_hash", "parser_version"}
    assert [(one["cause"], one["price_minor"], one["at"]) for one in shop.rows(offers)] == [
        ("seen", 19, NOW),
        ("corrected", 1999, NOW),
    ]
    assert shop.rows(changes) == []
    assert (shop.rows(visits)[-1]["outcome"], shop.rows(visits)[-1]["requests"]) == ("changed", 0)


def test_corrected_twice_is_as_corrected_once(shop: Worker) -> None:
    visit = reread(shop, listing(price_minor=1999))
    corrected(shop, visit, announce=True)
    before = [shop.rows(table) for table in (pages, listings, offers, changes)]
    (found,) = corrected(shop, visit, announce=True)
    assert (found.outcome, found.differences) == (Outcome.UNCHANGED, [])
    assert [shop.rows(table) for table in (pages, listings, offers, changes)] == before


def test_announced_it_is_an_event_of_its_own_type_with_the_tracked_fields(shop: Worker) -> None:
    visit = reread(shop, listing(price_minor=1999, rating_value="4.5"))
    (found,) = corrected(shop, visit, announce=True)
    assert {one.field for one in found.differences} == {"price_minor", "rating_value"}
    event = shop.only(changes)
    assert event["type"] == "corrected"
    assert orjson.loads(event["fields"]) == [{"field": "price_minor", "before": 19, "after": 1999}]


def test_the_same_record_by_another_parser_is_vouched_for_and_no_row_counts_as_written(shop: Worker) -> None:
    (found,) = corrected(shop, reread(shop, listing(price_minor=19)))
    assert (found.outcome, found.rows_written) == (Outcome.UNCHANGED, 0)
    assert shop.only(pages)["parser_version"] == shop.only(listings)["parser_version"] == "p2"
    assert len(shop.rows(offers)) == 1


def test_comparing_says_the_same_and_writes_nothing(shop: Worker) -> None:
    visit = reread(shop, listing(price_minor=1999))
    before = [shop.rows(table) for table in (pages, listings, offers, changes, visits)]
    with shop.database.read() as conn:
        (told,) = compare(conn, reparsing.context(WANTED), [visit])
    assert [shop.rows(table) for table in (pages, listings, offers, changes, visits)] == before
    (done,) = corrected(shop, visit)
    assert (told.outcome, told.differences, told.rows_written) == (done.outcome, done.differences, done.rows_written)


def test_a_page_that_was_read_again_meanwhile_is_left_alone(shop: Worker) -> None:
    visit = reread(shop, listing(price_minor=1999))
    (target,) = shop.due()
    shop.save(parsed(target, listing(price_minor=19), at=NOW + HOUR))
    (found,) = corrected(shop, visit)
    assert (found.outcome, found.reason) == (Outcome.SKIPPED, "the page was read again meanwhile")
    assert shop.only(listings)["price_minor"] == 19


def test_a_page_that_went_missing_since_stays_missing_with_a_correct_record(shop: Worker) -> None:
    (target,) = shop.due()
    shop.save(unparsed(target, Outcome.MISSING, at=NOW + 48 * HOUR, status=404))
    before = shop.only(pages)
    corrected(shop, reread(shop, listing(price_minor=1999), listing(price_minor=5, variant_id="XL")))
    assert {row["status"] for row in shop.rows(listings)} == {"missing"}
    assert {row["missing_why"] for row in shop.rows(listings)} == {"page"}
    after = shop.only(pages)
    assert (after["misses"], after["checked_at"], after["next_due_at"]) == (
        before["misses"],
        before["checked_at"],
        before["next_due_at"],
    )


def test_variants_that_the_old_parser_missed_appear_and_those_it_made_up_go_missing(shop: Worker) -> None:
    corrected(shop, reread(shop, listing(variant_id="S"), listing(variant_id="L")))
    found = {row["variant_id"]: (row["status"], row["missing_why"]) for row in shop.rows(listings)}
    assert found == {"": ("missing", "variant"), "S": ("active", ""), "L": ("active", "")}
    (again,) = corrected(shop, reread(shop, listing(price_minor=19)))
    statuses = {row["variant_id"]: row["status"] for row in shop.rows(listings)}
    assert statuses == {"": "active", "S": "missing", "L": "missing"}
    assert (again.appeared, again.vanished) == (0, 2)


def test_variants_that_a_page_has_and_does_not_name_are_no_evidence(shop: Worker) -> None:
    corrected(shop, reread(shop, listing(), listing(variant_id="S")))
    unnamed = (Problem(VARIANTS, "the shop loads the variants of this product by script"),)
    corrected(shop, reread(shop, listing(), problems=unnamed))
    assert {row["status"] for row in shop.rows(listings)} == {"active"}


def test_an_invalid_page_keeps_its_row_and_its_parser(shop: Worker) -> None:
    target = subjects(shop.database)[0].target
    before = shop.only(pages), shop.only(listings)
    (found,) = corrected(shop, unparsed(target, Outcome.INVALID, at=NOW, reason="no name"))
    assert (found.outcome, found.reason) == (Outcome.INVALID, "no name")
    assert (shop.only(pages), shop.only(listings)) == before


def test_without_the_lease_nothing_is_corrected(shop: Worker) -> None:
    visit = reread(shop, listing(price_minor=1999))
    with pytest.raises(LeaseLost), shop.database.write() as conn:
        correct(conn, replace(run_of(shop), lease_token="another"), [visit], announce=False)
    assert shop.only(listings)["price_minor"] == 19


def test_text_and_options_that_are_the_same_are_no_difference(database: Database) -> None:
    shop = Worker(database)
    record = listing(
        options={"size": "XL", "colour": "röd"},
        category_path=("Kök", "Muggar"),
        images=("https://shop.example/a.jpg",),
        description="Ett ord – två\n",
        availability=Availability.OUT_OF_STOCK,
        rating_value="4.5",
        review_count=3,
    )
    shop.known("1", listings=[record])
    (found,) = corrected(shop, reread(shop, record))
    assert (found.outcome, found.differences) == (Outcome.UNCHANGED, [])


# --- which pages ------------------------------------------------------------------------------------------------------


def test_pages_of_an_older_parser_come_first_and_pages_without_a_record_not_at_all(database: Database) -> None:
    shop = Worker(database)
    shop.known("1", "2", "3")
    shop.discover("4")
    with database.write() as conn:
        conn.execute(update(pages).where(pages.c.url_key.like("%/p/1")).values(parser_version="p2"))
    with database.read() as conn:
        ids = list(reparsing.subject_ids(conn, WANTED))
    by_id = {row["id"]: row["url_key"][-1] for row in shop.rows(pages)}
    assert [by_id[one] for one in ids] == ["2", "3", "1"]
    with database.read() as conn:
        assert list(reparsing.subject_ids(conn, replace(WANTED, since_ms=NOW + 1))) == []


def test_a_record_that_a_feed_carried_has_no_page_to_be_read_again(shop: Worker) -> None:
    with shop.database.write() as conn:
        conn.execute(update(pages).values(parser_version="p1+shopify"))
    assert subjects(shop.database) == []


def test_a_page_is_looked_for_under_the_keys_that_it_went_by(shop: Worker) -> None:
    page = shop.only(pages)
    with shop.database.write() as conn:
        row = {"store": STORE, "old_key": "https://shop.example/p/old", "page_id": page["id"], "reason": "redirect"}
        conn.execute(aliases.insert().values({**row, "created_at": NOW}))
    (subject,) = subjects(shop.database)
    assert subject.keys == (page["url_key"], "https://shop.example/p/old")
    assert isinstance(subject.target, Target)
    with shop.database.read() as conn:
        found = reparsing.records_at(conn, STORE, [*subject.keys, "https://shop.example/p/unknown"])
    assert found == dict.fromkeys(subject.keys, NOW)
