"""What pages say of their true address: believed where the records bear it out, and taken back where it was wrong."""

from __future__ import annotations

import pytest

from storebot.core.canonical import MOST_NAMES
from storebot.db import canonicals
from storebot.db.database import Database
from storebot.db.schema import changes, listings, pages
from storebot.items import Listing, Outcome
from tests.db.shop import NOW, STORE, Worker, listing, parsed, unparsed
from tests.db.test_moves import LATER, NEW, OLD, THIRD, leads, next_run, series


def read(shop: Worker, *names: str, canonical: str = "", listings: tuple[Listing, ...] = ()) -> None:
    """Have pages read that name this canonical key."""
    shop.discover(*names)
    shop.save(*(parsed(target, *listings, canonical_key=canonical) for target in shop.pending(1000)))


def settle(shop: Worker) -> int:
    with shop.database.write() as conn:
        return canonicals.settle(conn, STORE, LATER)


def due(shop: Worker) -> list[str]:
    return sorted(target.url_key for target in shop.due())


class TestBelieved:
    def test_a_page_is_folded_into_the_known_one_that_it_names(self, database: Database) -> None:
        shop = Worker(database)
        read(shop, "1")
        read(shop, "2", canonical=OLD)
        assert settle(shop) == 1
        assert (series(shop), leads(shop)) == ({OLD: [1999]}, {NEW: (OLD, "canonical")})
        assert [row["status"] for row in shop.rows(listings)] == ["active", "missing"]
        assert shop.rows(changes) == []
        assert due(shop) == [OLD]
        assert shop.discover("1", "2") == 0
        assert settle(shop) == 0

    def test_it_doesnt_matter_which_was_read_first(self, database: Database) -> None:
        shop = Worker(database)
        read(shop, "2", canonical=OLD)
        read(shop, "1")
        assert settle(shop) == 1
        assert (series(shop), leads(shop)) == ({OLD: [1999]}, {NEW: (OLD, "canonical")})

    def test_the_older_series_goes_on_under_the_canonical_key(self, database: Database) -> None:
        first = Worker(database)
        first.known("1", listings=[listing(price_minor=100, sku="A")])
        shop = next_run(first)
        read(shop, "2", listings=(listing(price_minor=90, sku="A"),))
        old = next(target for target in shop.due() if target.url_key == OLD)
        shop.save(parsed(old, listing(price_minor=90, sku="A"), at=LATER, canonical_key=NEW))
        assert settle(shop) == 1
        assert series(shop) == {NEW: [100, 90]}
        assert {row["first_seen_at"] for row in shop.rows(listings)} == {NOW}

    def test_an_amp_copy_is_noted_as_one(self, database: Database) -> None:
        shop = Worker(database)
        read(shop, "1")
        read(shop, "1/amp", canonical=OLD)
        settle(shop)
        assert leads(shop) == {f"{OLD}/amp": (OLD, "amp")}

    def test_the_key_that_no_page_has_is_taken_by_the_eldest_that_names_it(self, database: Database) -> None:
        shop = Worker(database)
        read(shop, "a", "b", canonical=OLD)
        assert settle(shop) == 2
        assert leads(shop) == {f"https://shop.example/p/{name}": (OLD, "canonical") for name in "ab"}
        (target,) = shop.due()
        assert (target.url_key, target.url, target.canonical_key) == (OLD, "http://shop.example/p/a", OLD)
        read(shop, "c", canonical=OLD)
        assert settle(shop) == 1, "and who comes later is folded into it"

    def test_many_pages_are_settled_in_one_go(self, database: Database) -> None:
        shop = Worker(database)
        numbers = range(1, 260)
        read(shop, *(str(number) for number in numbers))
        for number in numbers:
            shop.discover(f"{number}/copy")
        shop.save(
            *(parsed(target, canonical_key=target.url_key.removesuffix("/copy")) for target in shop.pending(1000))
        )
        assert settle(shop) == len(numbers)
        assert len(series(shop)) == len(numbers)


class TestDoubted:
    @pytest.mark.parametrize(
        ("mine", "theirs"),
        [
            (listing("Mug", sku="A"), listing("Mug", sku="B")),
            (listing("Mug", sku="1"), listing("Cup", sku="1")),
            (listing("Mug"), listing("Cup")),
            (listing("Mug", 100), listing("Mug", 200)),
        ],
        ids=["another SKU", "one SKU for all", "another name", "another price, and no number"],
    )
    def test_a_page_of_another_product_stays_what_it_is(
        self, database: Database, mine: Listing, theirs: Listing
    ) -> None:
        shop = Worker(database)
        read(shop, "1", listings=(theirs,))
        read(shop, "2", canonical=OLD, listings=(mine,))
        assert (settle(shop), leads(shop), due(shop)) == (0, {}, [OLD, NEW])

    def test_a_page_that_sells_more_than_the_one_it_names_stays(self, database: Database) -> None:
        shop = Worker(database)
        read(shop, "1", listings=(listing(sku="A"),))
        read(shop, "2", canonical=OLD, listings=(listing(sku="A"), listing(sku="B", variant_id="b")))
        assert settle(shop) == 0

    def test_pages_without_numbers_are_believed_only_where_all_that_name_the_key_are_alike(
        self, database: Database
    ) -> None:
        shop = Worker(database)
        read(shop, "1")
        read(shop, "2", canonical=OLD)
        read(shop, "3", canonical=OLD, listings=(listing("Cup"),))
        assert settle(shop) == 0

    def test_a_key_that_no_page_has_is_given_to_none_of_several_products(self, database: Database) -> None:
        shop = Worker(database)
        read(shop, "2", canonical=OLD)
        read(shop, "3", canonical=OLD, listings=(listing("Cup"),))
        assert (settle(shop), due(shop)) == (0, [NEW, THIRD])

    def test_more_names_than_a_page_can_have_are_a_fault_of_the_template(self, database: Database) -> None:
        shop = Worker(database)
        read(shop, "1")
        read(shop, *(f"x{number}" for number in range(MOST_NAMES + 1)), canonical=OLD)
        assert settle(shop) == 0

    def test_loops_and_chains_wait(self, database: Database) -> None:
        shop = Worker(database)
        read(shop, "1", canonical=NEW)
        read(shop, "2", canonical=OLD)
        assert settle(shop) == 0
        read(shop, "3", canonical=OLD)
        assert (settle(shop), due(shop)) == (0, [OLD, NEW, THIRD])

    def test_a_page_that_was_never_read_is_waited_for(self, database: Database) -> None:
        shop = Worker(database)
        read(shop, "2", canonical=OLD)
        shop.discover("1")
        assert settle(shop) == 0
        shop.save(parsed(shop.pending()[0]))
        assert settle(shop) == 1

    def test_a_claim_that_is_withdrawn_is_forgotten(self, database: Database) -> None:
        shop = Worker(database)
        read(shop, "2", canonical=OLD)
        shop.save(parsed(shop.due()[0], at=LATER))
        read(shop, "1")
        assert settle(shop) == 0


class TestTakenBack:
    def test_a_key_had_by_claim_goes_to_its_own_page_when_that_is_found(self, database: Database) -> None:
        shop = Worker(database)
        read(shop, "2", canonical=OLD)
        settle(shop)
        assert shop.discover("1", "2") == 1
        (own,) = shop.pending()
        assert (own.url_key, own.url) == (OLD, "http://shop.example/p/1")
        assert due(shop) == [NEW]
        other = parsed(own, listing("Cup"))
        shop.save(other)
        assert settle(shop) == 0, "it was another product"
        assert sorted(series(shop)) == [OLD, NEW]

    def test_and_the_two_become_one_where_it_is_the_same_product(self, database: Database) -> None:
        shop = Worker(database)
        read(shop, "2", canonical=OLD)
        settle(shop)
        shop.discover("1")
        shop.save(parsed(shop.pending()[0]))
        assert settle(shop) == 1
        assert (sorted(series(shop)), leads(shop)) == ([OLD], {NEW: (OLD, "canonical")})

    def test_a_page_whose_canonical_address_is_gone_is_looked_for_at_its_other_name(self, database: Database) -> None:
        shop = Worker(database)
        read(shop, "1")
        read(shop, "2", canonical=OLD)
        settle(shop)
        shop.save(parsed(shop.due()[0], at=LATER, etag='"1"'))
        (saved,) = shop.save(unparsed(shop.due()[0], Outcome.MISSING, LATER, reason="HTTP 404"))
        assert saved.outcome is Outcome.MOVED
        assert saved.reason == "HTTP 404; it is looked for at http://shop.example/p/2, which was another name of it"
        (target,) = shop.due()
        assert (target.url_key, target.url, target.etag) == (NEW, "http://shop.example/p/2", None)
        assert (series(shop), leads(shop)) == ({NEW: [1999]}, {OLD: (NEW, "unseen")})
        assert [row["status"] for row in shop.rows(listings)] == ["active", "missing"]
        (saved,) = shop.save(unparsed(target, Outcome.MISSING, LATER + 1))
        assert saved.outcome is Outcome.MISSING, "there is no way back to where it wasn't"

    def test_redirects_are_no_way_back(self, database: Database) -> None:
        shop = Worker(database)
        shop.known("1")
        shop.save(parsed(shop.due()[0], at=LATER, final_url="http://shop.example/p/2", final_key=NEW))
        (saved,) = shop.save(unparsed(shop.due()[0], Outcome.MISSING, LATER + 1))
        assert saved.outcome is Outcome.MISSING


def test_stores_are_settled_apart(database: Database) -> None:
    shop = Worker(database)
    read(shop, "2", canonical=OLD)
    other = Worker(database, token="other", store="other")
    with database.write() as conn:
        assert canonicals.settle(conn, other.store, LATER) == 0
    assert [row["url_key"] for row in shop.rows(pages)] == [NEW]
