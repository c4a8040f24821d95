"""Products that a page of a walk carries whole: visited without a claim of their own, in the page's transaction."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from storebot.db import moves
from storebot.db.context import carried_version
from storebot.db.database import Database
from storebot.db.pages import claim_due
from storebot.db.schema import aliases, catalogue_pages, checkpoints, listings, offers, pages, visits
from storebot.db.visits import refused
from storebot.exceptions import SaveFailed
from storebot.items import CatalogPage, Discovered, Listing, Outcome, Target, Visit
from tests.db.shop import HOUR, NOW, STORE, VERSIONS, Worker, listing, parsed, unparsed

LATER = NOW + 48 * HOUR


def carried(name: str, *records: Listing, at: int = NOW, **fields: Any) -> Visit:
    """Return the visit of a product that a feed carries: it has neither a page's id nor a claim."""
    target = Target(store=STORE, url=f"http://shop.example/p/{name}", url_key=f"https://shop.example/p/{name}")
    values = {"source": "shopify", "requests": 0, "final_key": target.url_key, **fields}
    return parsed(target, *records, at=at, **values)


def page(*found: Visit, number: int = 1, at: int = NOW, **fields: Any) -> CatalogPage:
    named = tuple(Discovered(visit.target.url, visit.target.url_key) for visit in found)
    values = {"found": named, "fingerprint": "f", "visits": found, **fields}
    return CatalogPage(
        store=STORE, walk="shopify", number=number, url="http://shop.example/products.json", at_ms=at, **values
    )


def test_pages_listings_visits_and_checkpoint_are_saved_together(database: Database) -> None:
    shop = Worker(database)
    *products, walked = shop.save(page(carried("1"), carried("2", listing("Bowl", 500))))
    assert [(one.outcome, one.rows_written) for one in products] == [(Outcome.NEW, 1), (Outcome.NEW, 1)]
    assert (walked.outcome, walked.new_pages) == (None, 2)
    assert [(row["status"], row["claim_token"], row["parser_version"]) for row in shop.rows(pages)] == [
        ("parsed", "", "p1+shopify")
    ] * 2
    assert [row["name"] for row in shop.rows(listings)] == ["Mug", "Bowl"]
    assert [(row["outcome"], row["requests"]) for row in shop.rows(visits)] == [("new", 0)] * 2
    assert shop.only(checkpoints)["page"] == 1
    assert shop.only(catalogue_pages)["entries"] == 2


def test_a_refused_checkpoint_takes_the_visits_with_it(database: Database) -> None:
    shop = Worker(database)
    shop.save(page(carried("1")))
    with pytest.raises(SaveFailed):
        shop.save(page(carried("2"), number=7))
    assert len(shop.rows(pages)) == len(shop.rows(visits)) == 1


def test_a_known_product_is_compared_as_a_fetched_one_is(database: Database) -> None:
    shop = Worker(database)
    shop.save(page(carried("1"), carried("2")))
    same, changed, _ = shop.save(page(carried("1", at=LATER), carried("2", listing(price_minor=1), at=LATER), at=LATER))
    assert (same.outcome, same.rows_written) == (Outcome.UNCHANGED, 0)
    assert (changed.outcome, changed.changes) == (Outcome.CHANGED, 1)
    assert len(shop.rows(offers)) == 3
    assert {row["next_due_at"] for row in shop.rows(pages)} == {LATER + 24 * HOUR}


def test_an_invalid_product_keeps_its_old_record(database: Database) -> None:
    shop = Worker(database)
    shop.save(page(carried("1")))
    bad = replace(carried("1", at=LATER), outcome=Outcome.INVALID, reason="name: none", listings=())
    saved, _ = shop.save(page(bad, at=LATER))
    assert saved.outcome is Outcome.INVALID
    assert shop.only(listings)["name"] == "Mug"
    assert shop.only(pages)["last_error"] == "name: none"


def test_a_source_that_moves_is_no_change_of_the_market(database: Database) -> None:
    shop = Worker(database)
    shop.known("1")
    (listed, _), (fetched,) = (
        shop.save(page(carried("1", listing("Mug, red", 100, variant_id="9"), at=LATER))),
        shop.save(parsed(shop.due()[0], at=LATER)),
    )
    assert [(one.outcome, one.changes) for one in (listed, fetched)] == [(Outcome.UNCHANGED, 0)] * 2
    assert [(row["variant_id"], row["status"]) for row in shop.rows(listings)] == [("", "active"), ("9", "missing")]
    assert [row["cause"] for row in shop.rows(offers)] == ["seen", "rebased"]
    assert shop.only(pages)["parser_version"] == "p1"


def test_validators_of_a_page_are_not_sent_for_a_record_that_a_feed_carried(database: Database) -> None:
    shop = Worker(database)
    shop.known("1", etag='"a"')
    shop.save(page(carried("1", etag='"a"')))
    (target,) = shop.due()
    assert target.etag is None


def test_a_key_that_moved_leads_to_its_page(database: Database) -> None:
    shop = Worker(database)
    shop.known("1")
    with database.write() as conn:
        moves.alias(conn, STORE, "https://shop.example/p/old", shop.only(pages)["id"], NOW, moves.REDIRECT)
    saved, walked = shop.save(page(carried("old", at=LATER)))
    assert (saved.outcome, walked.new_pages) == (Outcome.UNCHANGED, 0)
    assert (shop.only(pages)["url_key"], len(shop.rows(aliases))) == ("https://shop.example/p/1", 1)


def test_a_page_that_another_worker_has_is_left_to_it(database: Database) -> None:
    shop = Worker(database)
    shop.discover("1", "2")
    shop.pending(limit=1, token="other")
    first, second, _ = shop.save(page(carried("1"), carried("2")))
    assert (first.outcome, second.outcome) == (Outcome.SKIPPED, Outcome.NEW)
    assert "claim lost" in first.reason


def test_a_page_that_this_run_has_claimed_is_visited_all_the_same(database: Database) -> None:
    shop = Worker(database)
    shop.discover("1")
    (target,) = shop.pending(token=shop.token)
    saved, _, late = shop.save(page(carried("1")), unparsed(target, Outcome.ERROR))
    assert (saved.outcome, late.outcome) == (Outcome.NEW, Outcome.SKIPPED)
    assert shop.only(pages)["claim_token"] == ""


def test_a_key_that_no_index_can_hold_is_left_out(database: Database) -> None:
    shop = Worker(database)
    assert [one.outcome for one in shop.save(page(carried("x" * 2000), carried("1")))] == [Outcome.NEW, None]


def test_a_page_that_the_database_refuses_names_its_products_alone() -> None:
    record = page(carried("1"))
    assert refused(record, ValueError()) == replace(record, visits=())
    assert refused(replace(record, visits=()), ValueError()) is None


def test_pages_of_a_feed_that_could_not_be_read_are_withheld(database: Database) -> None:
    shop = Worker(database)
    shop.known("1")
    shop.save(page(carried("2")))
    with database.write() as conn:
        due = claim_due(conn, STORE, "claim", 10, 60, LATER, **VERSIONS, withheld=carried_version("p1", "shopify"))
    assert [target.url_key for target in due] == ["https://shop.example/p/1"]
    assert [target.url_key for target in shop.due()] == ["https://shop.example/p/2"]
