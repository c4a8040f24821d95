"""Records come back from the database as they went in."""

from __future__ import annotations

from storebot.db.database import Database
from storebot.db.listings import current_listings
from storebot.items import Availability, Disagreement, ListingStatus, Outcome
from tests.db.shop import HOUR, NOW, STORE, Worker, listing, parsed, unparsed

FULL = listing(
    product_id="p",
    item_group_id="g",
    canonical_url="https://shop.example/c",
    brand="Ä",
    gtin="00012345678905",
    mpn="m",
    sku="s",
    regular_price_minor=2**40,
    price_min_minor=1,
    price_max_minor=2,
    availability=Availability.PRE_ORDER,
    condition="NewCondition",
    options={"size": "M", "colour": "rød"},
    category_path=("a", "b"),
    main_image="i",
    images=("i", "j"),
    description="d",
    rating_value="4.5",
    review_count=7,
    seller="x",
    field_source={"name": "jsonld"},
    disagreements=(Disagreement("price", {"jsonld": "1", "css:.p": "2"}),),
)


class TestCurrentListings:
    def test_every_field_comes_back(self, database: Database) -> None:
        shop = Worker(database)
        shop.known("1", listings=[FULL])
        with database.read() as conn:
            (current,) = current_listings(conn, STORE)
        assert current.listing == FULL
        assert (current.parser, current.parser_version, current.run_id) == (STORE, "p1", shop.run.run_id)

    def test_a_304_moves_the_times_of_its_listing_though_only_the_page_is_written(self, database: Database) -> None:
        shop = Worker(database)
        shop.known("1")
        shop.save(unparsed(shop.due()[0], Outcome.NOT_MODIFIED, NOW + HOUR))
        with database.read() as conn:
            (current,) = current_listings(conn, STORE)
        assert (current.last_seen_at, current.last_checked_at) == (NOW + HOUR, NOW + HOUR)
        assert (current.first_seen_at, current.last_changed_at) == (NOW, NOW)

    def test_a_missing_listing_was_checked_later_than_it_was_seen(self, database: Database) -> None:
        shop = Worker(database)
        shop.known("1")
        shop.save(unparsed(shop.due()[0], Outcome.NOT_MODIFIED, NOW + HOUR))
        shop.save(unparsed(shop.due()[0], Outcome.MISSING, NOW + 2 * HOUR))
        with database.read() as conn:
            (current,) = current_listings(conn, STORE)
        assert current.status is ListingStatus.MISSING
        assert (current.last_seen_at, current.last_checked_at) == (NOW + HOUR, NOW + 2 * HOUR)

    def test_they_are_read_in_short_pages(self, database: Database) -> None:
        """T03: a reader that stays open keeps the log from being cut."""
        shop = Worker(database)
        shop.known("1", "2", "3")
        shop.save(parsed(shop.due()[0], at=NOW + HOUR))
        with database.read() as conn:
            first = current_listings(conn, STORE, limit=2)
            rest = current_listings(conn, STORE, after_id=first[-1].id, limit=2)
            assert (len(first), len(rest)) == (2, 1)
            assert current_listings(conn, "other") == []
