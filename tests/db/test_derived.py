"""What stages read of listings, and what they said of them, on each backend."""

from __future__ import annotations

from storebot.core.stage import PastOffer
from storebot.db import derived
from storebot.db.database import Database
from storebot.db.derived import Said
from storebot.items import ListingStatus, Outcome
from tests.db.shop import HOUR, NOW, STORE, Worker, listing, parsed, unparsed


def said(listing_id: int, facts: str = "{}", **fields: object) -> Said:
    usual = {"version": "1", "inputs": "i", "number": None, "group_key": None, "flagged": 0}
    return Said(listing_id=listing_id, facts=facts, **{**usual, **fields})  # type: ignore[arg-type]


class TestWhatStagesRead:
    def test_listings_of_one_store_or_of_all_in_short_pages(self, database: Database) -> None:
        Worker(database).known("1", "2")
        Worker(database, token="other", store="other").known("3")
        with database.read() as conn:
            assert derived.count(conn, None) == 3
            assert derived.count(conn, STORE) == 2
            assert derived.stores_with_listings(conn) == ["other", STORE]
            first = derived.subjects(conn, None, limit=2)
            rest = derived.subjects(conn, None, after_id=first[-1].id, limit=2)
            assert [one.listing.store for one in [*first, *rest]] == [STORE, STORE, "other"]
            assert [one.listing.store for one in derived.subjects(conn, "other")] == ["other"]

    def test_the_times_of_an_active_listing_are_its_pages(self, database: Database) -> None:
        shop = Worker(database)
        shop.known("1", "2")
        one, two = shop.due()
        shop.save(unparsed(one, Outcome.NOT_MODIFIED, NOW + HOUR), unparsed(two, Outcome.MISSING, NOW + HOUR))
        with database.read() as conn:
            active, missing = sorted(derived.subjects(conn, STORE), key=lambda one: one.status.value)
        assert (active.status, active.last_seen_at) == (ListingStatus.ACTIVE, NOW + HOUR)
        assert (missing.status, missing.last_seen_at, missing.last_checked_at) == (
            ListingStatus.MISSING,
            NOW,
            NOW + HOUR,
        )

    def test_history_is_that_of_each_variant_oldest_first(self, database: Database) -> None:
        shop = Worker(database)
        red, blue = (listing(variant_id=colour, options={"colour": colour}) for colour in ("red", "blue"))
        shop.known("1", listings=[red, blue])
        cheaper = listing(price_minor=1_500, variant_id="red", options={"colour": "red"})
        shop.save(parsed(shop.due()[0], cheaper, blue, at=NOW + HOUR))
        with database.read() as conn:
            (page_id,) = {one.page_id for one in derived.subjects(conn, STORE)}
            found = derived.history(conn, [page_id])
            assert derived.history(conn, []) == {}
        assert found[page_id, "red"] == (
            PastOffer(NOW, 1_999, None, "EUR", "InStock", "seen"),
            PastOffer(NOW + HOUR, 1_500, None, "EUR", "InStock", "seen"),
        )
        assert [offer.price_minor for offer in found[page_id, "blue"]] == [1_999]

    def test_only_visits_that_saw_their_page_are_looks(self, database: Database) -> None:
        shop = Worker(database)
        shop.known("1")
        for hour, outcome in enumerate((Outcome.NOT_MODIFIED, Outcome.ERROR, Outcome.BLOCKED, Outcome.MISSING), 1):
            shop.save(unparsed(shop.due()[0], outcome, NOW + hour * HOUR))
        with database.read() as conn:
            first = derived.seen(conn, STORE, after_id=0, limit=1)
            rest = derived.seen(conn, STORE, after_id=first[-1][0], limit=10)
            assert [at for _, _, at in [*first, *rest]] == [NOW, NOW + HOUR]
            assert derived.seen(conn, "other", after_id=0, limit=10) == []


class TestWhatStagesSaid:
    def test_it_comes_back_as_it_was_said_and_again_replaces_it(self, database: Database) -> None:
        with database.write() as conn:
            derived.save(conn, "s", [said(1, '{"ä":1}', number=2**60, group_key="g:Ä", flagged=1), said(2)], [])
            derived.save(conn, "other", [said(1)], [])
            first = derived.said(conn, "s", [1, 2, 3])
            assert set(first) == {1, 2}
            assert first[1] == said(1, '{"ä":1}', number=2**60, group_key="g:Ä", flagged=1)._replace(at=first[1].at)
            assert first[1].at > NOW - 10**12
            derived.save(conn, "s", [], [first[1]._replace(version="2"), first[2]._replace(inputs="j")])
            again = derived.said(conn, "s", [1, 2])
            assert again == {1: first[1]._replace(version="2"), 2: first[2]._replace(inputs="j")}
            assert derived.said(conn, "s", []) == {}

    def test_it_can_be_taken_back(self, database: Database) -> None:
        with database.write() as conn:
            derived.save(conn, "s", [said(number) for number in range(1, 6)], [])
            derived.save(conn, "other", [said(1)], [])
            derived.remove(conn, "s", [1, 3, 99])
            assert derived.spoken_of(conn, "s", after_id=0, limit=2) == [2, 4]
            assert derived.spoken_of(conn, "s", after_id=4, limit=2) == [5]
            assert derived.spoken_of(conn, "other", after_id=0, limit=2) == [1]
