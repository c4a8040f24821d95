"""What the cards of a catalogue page do to the pages that they show."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import orjson
import pytest
from sqlalchemy import update

from storebot.core.gate import State
from storebot.core.gate_limits import Limits
from storebot.core.gate_tally import Tally
from storebot.core.planner.hazard import Flag
from storebot.core.record import hashed
from storebot.db import promotion
from storebot.db.cards import currency_of
from storebot.db.database import Database
from storebot.db.gating import Gate
from storebot.db.knowledge import Memory
from storebot.db.learning import Learner
from storebot.db.reparsing import Selection, subject_ids
from storebot.db.saved import Saved, count
from storebot.db.schema import catalogue_views, changes, holds, listings, offers, pages, visits
from storebot.exceptions import SaveFailed
from storebot.items import Availability, Card, CatalogPage, Discovered, Listing, Outcome, Record, Visit
from tests.db.shop import HOUR, NOW, STORE, Worker, listing, parsed, unparsed

LATER = NOW + 5 * HOUR
WALK = "catalogue /page-{page}"


def card(name: str, price_minor: int | None = 1999, **fields: Any) -> Card:
    said = Card(f"http://shop.example/p/{name}", f"https://shop.example/p/{name}", price_minor, "EUR")
    return said._replace(**fields)


def view(*cards: Card, number: int = 1, at: int = NOW) -> CatalogPage:
    found = tuple(Discovered(one.url, one.url_key) for one in cards)
    url = f"http://shop.example/page-{number}"
    return CatalogPage(
        store=STORE, walk=WALK, number=number, url=url, at_ms=at, found=found, cards=cards, checkpoint=False
    )


def record(*found: Listing) -> tuple[Listing, ...]:
    """Return listings with the hashes that a crawl gives them: a card's record is hashed anew."""
    return hashed(found).listings


class Shop(Worker):
    """A worker that learns, at a store whose pages have been read."""

    def __init__(self, database: Database, *names: str, proven: bool = False, **run: Any) -> None:
        self.learner = Learner(STORE, Memory())
        super().__init__(database, learner=self.learner, **run)
        self.knowledge = self.learner.memory.knowledge
        if proven:
            self.knowledge.card_pairs = self.knowledge.card_equal = 50
        if names:
            self.read(*names)

    def save(self, *records: Record) -> list[Saved]:
        saved = super().save(*records)
        self.learner.committed()
        return saved

    def read(self, *names: str, at: int = NOW, **fields: Any) -> None:
        """Have pages be read: each says of itself what its address does."""
        self.discover(*names)
        self.save(*(self.look(target, at=at, **fields) for target in self.pending()))

    def look(self, target: Any, *found: Listing, at: int = NOW, **fields: Any) -> Visit:
        """Return the visit of a page that says what is given, else that it's a mug for 19.99."""
        name = target.url.rpartition("/")[2]
        own = [replace(one, url_key=target.url_key) for one in found or (listing(f"Mug {name}"),)]
        one = hashed(own)
        visit = parsed(target, at=at, **{"etag": '"a"', "source_hash": "s", **fields})
        visit.listings, visit.content_hash, visit.details_hash = one
        return visit

    def page(self, name: str) -> dict[str, Any]:
        (found,) = (row for row in self.rows(pages) if row["url"].endswith(f"/p/{name}"))
        return found

    def signals(self) -> dict[str, int]:
        return {row["url"].rpartition("/")[2]: row["signal"] for row in self.rows(pages)}


def test_a_look_at_a_catalogue_page_is_noted_with_what_its_cards_show(database: Database) -> None:
    shop = Shop(database, "1", "2")
    saved = shop.save(view(card("2", 500, availability=Availability.SOLD_OUT), card("1"), card("3"), at=LATER))
    assert [(one.outcome, one.new_pages) for one in saved] == [(None, 1)]
    (seen,) = shop.rows(catalogue_views)
    ids = [shop.page(name)["id"] for name in "213"]
    assert (seen["walk"], seen["number"], seen["viewed_at"], seen["cards"]) == (WALK, 1, LATER, 3)
    assert orjson.loads(seen["shown"]) == ids
    shown = [(row["view_id"], row["listed_at"], row["card_price_minor"]) for row in shop.rows(pages)]
    assert shown == [(seen["id"], LATER, 1999), (seen["id"], LATER, 500), (seen["id"], LATER, 1999)]
    assert shop.rows(visits)[2:] == []  # no visit is made of what brings nothing


def test_a_link_without_a_price_is_no_card(database: Database) -> None:
    shop = Shop(database, "1", "2")
    shop.save(view(card("1"), card("2", None), at=LATER))
    assert [row["listed_at"] for row in shop.rows(pages)] == [LATER, NOW * 0]


def test_before_it_is_proven_a_card_is_a_hint(database: Database) -> None:
    shop = Shop(database, "1", "2")
    shop.save(view(card("1"), card("2"), at=LATER))
    shop.save(view(card("1"), card("2", 900), at=LATER + HOUR))
    assert shop.signals() == {"1": Flag.NONE, "2": Flag.DIFFERS}
    assert shop.page("2")["next_due_at"] == 0
    assert shop.learner.flagged == [shop.page("2")["id"]]
    assert {row["price_minor"] for row in shop.rows(listings)} == {1999}
    assert shop.rows(changes) == []


def test_a_hint_is_given_once_though_every_look_shows_the_same(database: Database) -> None:
    """A card that shows a member's price must not cost a request with every look at it."""
    shop = Shop(database, "1")
    shop.save(view(card("1", 900), at=LATER))
    assert shop.signals() == {"1": Flag.DIFFERS}
    (target,) = shop.due()
    shop.save(shop.look(target, at=LATER + HOUR))
    shop.save(view(card("1", 900), at=LATER + 2 * HOUR))
    assert shop.signals() == {"1": Flag.NONE}


def test_pairs_of_card_and_page_within_an_hour_are_learned(database: Database) -> None:
    shop = Shop(database)
    shop.save(view(card("1"), card("2"), card("3", 500), card("4"), at=NOW))
    late, *targets = sorted(shop.pending(), key=lambda target: target.url_key, reverse=True)
    shop.save(*(shop.look(target, at=NOW + HOUR // 2) for target in targets))
    shop.save(shop.look(late, at=NOW + 2 * HOUR))
    assert (shop.knowledge.card_pairs, shop.knowledge.card_equal) == (3, 2)


def test_a_page_pairs_with_its_card_once(database: Database) -> None:
    shop = Shop(database)
    shop.save(view(card("1"), at=NOW))
    shop.save(*(shop.look(target, at=NOW + 1) for target in shop.pending()))
    shop.save(*(shop.look(target, at=NOW + 2) for target in shop.due()))
    assert shop.knowledge.card_pairs == 1


def test_a_page_with_variants_pairs_with_no_card(database: Database) -> None:
    shop = Shop(database)
    shop.save(view(card("1"), at=NOW))
    variants = [listing("Mug", 1999, variant_id="red"), listing("Mug", 2999, variant_id="blue")]
    shop.save(*(shop.look(target, *variants, at=NOW + 1) for target in shop.pending()))
    assert shop.knowledge.card_pairs == 0


def test_a_proven_card_is_an_observation_of_the_listing(database: Database) -> None:
    shop = Shop(database, "1", "2", proven=True)
    shop.save(view(card("1"), card("2"), at=LATER))
    before = shop.page("1")
    saved, walked = shop.save(view(card("1", 1500), card("2"), at=LATER + HOUR))
    assert (saved.outcome, saved.changes, walked.cards_same) == (Outcome.CHANGED, 1, 1)
    (found, _) = shop.rows(listings)
    assert (found["price_minor"], orjson.loads(found["field_source"])["price"]) == (1500, "card")
    (event,) = shop.rows(changes)
    assert (event["type"], event["at"]) == ("changed", LATER + HOUR)
    assert orjson.loads(event["fields"]) == [{"field": "price_minor", "before": 1999, "after": 1500}]
    assert [(row["cause"], row["price_minor"]) for row in shop.rows(offers)][2:] == [("card", 1500)]
    page = shop.page("1")
    assert (page["carded_at"], page["etag"], page["source_hash"]) == (LATER + HOUR, None, None)
    assert (page["checked_at"], page["fetched_at"], page["next_due_at"]) == (NOW, NOW, before["next_due_at"])
    assert page["parser_version"] == before["parser_version"]
    assert page["change_credit"] > before["change_credit"]
    (visit,) = shop.rows(visits)[2:]
    assert (visit["outcome"], visit["requests"], visit["lane"]) == ("changed", 0, "listing")


def test_the_page_confirms_its_card_without_another_event(database: Database) -> None:
    shop = Shop(database, "1", proven=True)
    shop.save(view(card("1"), at=LATER))
    shop.save(view(card("1", 1500), at=LATER + HOUR))
    (target,) = shop.due()
    assert (target.etag, target.source_hash) == (None, None)
    (saved,) = shop.save(shop.look(target, listing("Mug 1", 1500), at=LATER + 2 * HOUR))
    assert (saved.outcome, saved.changes) == (Outcome.UNCHANGED, 0)
    assert shop.only(pages)["carded_at"] is None
    assert "card" not in shop.only(listings)["field_source"]
    assert len(shop.rows(changes)) == 1
    assert len(shop.rows(offers)) == 2


def test_the_page_contradicts_its_card(database: Database) -> None:
    """A card may be wrong: what the page says is published again, and the card isn't believed for staying as it is."""
    shop = Shop(database, "1", proven=True)
    shop.save(view(card("1"), at=LATER))
    shop.save(view(card("1", 1500), at=LATER + HOUR))
    (target,) = shop.due()
    (saved,) = shop.save(shop.look(target, at=LATER + 2 * HOUR))
    assert (saved.outcome, shop.only(listings)["price_minor"]) == (Outcome.CHANGED, 1999)
    shop.save(view(card("1", 1500), at=LATER + 3 * HOUR))
    assert shop.only(listings)["price_minor"] == 1999
    assert shop.only(pages)["signal"] == Flag.DIFFERS


def test_a_price_that_rises_above_the_struck_one_takes_it_away(database: Database) -> None:
    shop = Shop(database, proven=True)
    shop.discover("1")
    (target,) = shop.pending()
    shop.save(shop.look(target, listing("Mug 1", 1999, regular_price_minor=2500)))
    shop.save(view(card("1"), at=LATER))
    shop.save(view(card("1", 2600), at=LATER + HOUR))
    found = shop.only(listings)
    assert (found["price_minor"], found["regular_price_minor"]) == (2600, None)


@pytest.mark.parametrize(
    "fields",
    [
        pytest.param({"parser_version": "p0"}, id="a record by another parser"),
        pytest.param({"hash_version": 0}, id="a record of other hashes"),
    ],
)
def test_a_record_that_is_not_by_todays_parser_only_gets_a_hint(database: Database, fields: dict[str, Any]) -> None:
    shop = Shop(database, "1", proven=True)
    shop.save(view(card("1"), at=LATER))
    with database.write() as conn:
        conn.execute(update(pages).values(**fields))
    shop.save(view(card("1", 1500), at=LATER + HOUR))
    assert (shop.only(listings)["price_minor"], shop.only(pages)["signal"]) == (1999, Flag.DIFFERS)


@pytest.mark.parametrize(
    "fields",
    [
        pytest.param({"claim_token": "other", "status": "in_progress"}, id="being read"),
        pytest.param({"misses": 1}, id="missing"),
        pytest.param({"status": "gone"}, id="gone"),
        pytest.param({"parser_version": "p1+shopify"}, id="carried by a feed"),
    ],
)
def test_pages_that_speak_for_themselves_are_left_alone(database: Database, fields: dict[str, Any]) -> None:
    shop = Shop(database, "1", proven=True)
    shop.save(view(card("1"), at=LATER))
    with database.write() as conn:
        conn.execute(update(pages).values(**fields))
    shop.save(view(card("1", 1500), at=LATER + HOUR))
    assert (shop.only(listings)["price_minor"], shop.only(pages)["signal"]) == (1999, Flag.NONE)


def test_a_page_that_is_due_anyway_is_left_to_be_read(database: Database) -> None:
    """Without a plan a refresh visits it: it would be counted twice."""
    shop = Shop(database, "1", proven=True)
    shop.save(view(card("1"), at=LATER))
    due = NOW + 24 * HOUR
    shop.save(view(card("1", 1500), at=due))
    assert (shop.only(listings)["price_minor"], shop.only(pages)["signal"]) == (1999, Flag.NONE)
    shop.learner.planned = True
    shop.save(view(card("1", 1400), at=due + 1))
    assert shop.only(pages)["signal"] == Flag.DIFFERS


def test_one_odd_price_waits_for_the_page_itself(database: Database) -> None:
    """A price a hundred times as high isn't published by a card, and the page is asked at once."""
    shop = Shop(database, "1", "2", proven=True, gate=Gate(Limits(), Tally(seen=500), ()))
    shop.save(view(card("1"), card("2"), at=LATER))
    held, _ = shop.save(view(card("1", 199900), card("2"), at=LATER + HOUR))
    assert held.outcome is Outcome.HELD
    assert (shop.page("1")["signal"], shop.page("1")["next_due_at"]) == (Flag.DIFFERS, 0)
    assert {row["price_minor"] for row in shop.rows(listings)} == {1999}
    assert shop.page("1")["change_credit"] == 0
    assert shop.page("1")["etag"] == '"a"'
    count(shop.run.gate, [held])  # type: ignore[arg-type]
    (target, *_) = sorted(shop.due(before=LATER), key=lambda one: one.url_key)
    (confirmed,) = shop.save(shop.look(target, listing("Mug 1", 199900), at=LATER + 2 * HOUR))
    assert confirmed.outcome is Outcome.CHANGED
    assert {row["status"] for row in shop.rows(holds)} == {"superseded"}


def test_prices_that_all_moved_by_a_hundred_are_held(database: Database) -> None:
    names = [str(number) for number in range(40)]
    gate = Gate(Limits(), Tally(), ())
    shop = Shop(database, *names, proven=True, gate=gate)
    shop.save(view(*map(card, names), at=LATER))
    saved = shop.save(view(*(card(name, 199900) for name in names), at=LATER + HOUR))
    assert [one.outcome for one in saved] == [Outcome.HELD] * 40 + [None]
    count(gate, saved)
    assert gate.judge(final=True).state is State.TRIP
    assert {row["price_minor"] for row in shop.rows(listings)} == {1999}
    assert shop.rows(changes) == []
    assert shop.signals() == dict.fromkeys(names, Flag.DIFFERS)


def test_cards_that_show_what_is_published_are_counted_by_the_gate(database: Database) -> None:
    """Else a run whose only visits are those that cards brought would have nothing but changes."""
    names = [str(number) for number in range(40)]
    gate = Gate(Limits(), Tally(), ())
    shop = Shop(database, *names, proven=True, gate=gate)
    shop.save(view(*map(card, names), at=LATER))
    saved = shop.save(view(card("0", 1500), *map(card, names[1:]), at=LATER + HOUR))
    count(gate, saved)
    assert (gate.tally.seen, gate.tally.changed) == (40, 1)


def test_price_of_a_card_that_was_held_and_is_published_leaves_no_hint(database: Database) -> None:
    """Its page was due at once for what nobody knew: now it's known, and needs no request of its own."""
    names = [str(number) for number in range(40)]
    gate = Gate(Limits(), Tally(), ())
    shop = Shop(database, *names, proven=True, gate=gate)
    shop.save(view(*map(card, names), at=LATER))
    (one, *_) = saved = shop.save(view(card("0", 1500), *map(card, names[1:]), at=LATER + HOUR))
    assert (one.outcome, shop.page("0")["signal"]) == (Outcome.HELD, Flag.DIFFERS)
    count(gate, saved)
    assert [one.outcome for some in promotion.promote(database, shop.run, gate) for one in some] == [Outcome.CHANGED]
    assert (shop.page("0")["signal"], shop.page("0")["carded_at"]) == (Flag.NONE, LATER + HOUR)


def test_stock_is_a_hint_where_prices_are_believed(database: Database) -> None:
    shop = Shop(database, "1", proven=True)
    shop.save(view(card("1"), at=LATER))
    shop.save(view(card("1", availability=Availability.OUT_OF_STOCK), at=LATER + HOUR))
    assert (shop.only(pages)["signal"], shop.only(listings)["availability"]) == (Flag.DIFFERS, "InStock")


def test_a_product_that_vanished_from_its_catalogue_page_is_due_at_once(database: Database) -> None:
    shop = Shop(database, "1", "2", "3", "4")
    shop.save(view(card("1"), card("2"), card("3"), card("4"), at=LATER))
    shop.save(view(card("1"), card("3"), card("4"), at=LATER + HOUR))
    assert shop.signals() == {"1": Flag.NONE, "2": Flag.DIFFERS, "3": Flag.NONE, "4": Flag.NONE}
    assert (shop.page("2")["next_due_at"], shop.page("2")["view_id"]) == (0, 0)


def test_a_product_that_another_pushed_to_the_next_page_is_there(database: Database) -> None:
    shop = Shop(database, "1", "2", "3", "4")
    shop.save(view(card("1"), card("2"), at=LATER), view(card("3"), card("4"), number=2, at=LATER))
    shop.save(view(card("new"), card("1"), at=LATER + HOUR))
    assert set(shop.signals().values()) == {Flag.NONE}
    first, second = shop.rows(catalogue_views)
    assert (shop.page("new")["view_id"], shop.page("2")["view_id"]) == (first["id"], second["id"])


def test_a_catalogue_that_is_sorted_anew_flags_nothing(database: Database) -> None:
    shop = Shop(database, "1", "2", "3", "4", "5", "6")
    shop.save(view(card("1"), card("2"), card("3"), at=LATER))
    shop.save(view(card("3"), card("4"), card("6"), at=LATER + HOUR))
    assert set(shop.signals().values()) == {Flag.NONE}
    assert shop.page("1")["view_id"] == 0


def test_a_second_card_of_a_page_in_one_batch_says_nothing_new(database: Database) -> None:
    shop = Shop(database, "1", proven=True)
    shop.save(view(card("1"), at=LATER))
    both = [view(card("1", 1500), number=number, at=LATER + HOUR) for number in (1, 2)]
    saved = shop.save(*both)
    assert [one.outcome for one in saved] == [Outcome.CHANGED, None, None]
    assert shop.only(pages)["signal"] == Flag.NONE


def test_a_page_whose_card_brought_a_price_is_not_read_again_from_the_archive(database: Database) -> None:
    """The kept page is older than the card: reading it again would bring the old price back."""
    shop = Shop(database, "1", "2", proven=True)
    shop.save(view(card("1"), card("2"), at=LATER))
    shop.save(view(card("1", 1500), card("2"), at=LATER + HOUR))
    with database.read() as conn:
        found = subject_ids(conn, Selection(store=STORE, version="p2", hash_version=1))
    assert list(found) == [shop.page("2")["id"]]


def test_what_fails_is_not_learned(database: Database) -> None:
    shop = Shop(database)
    shop.save(replace(view(card("1"), at=NOW), checkpoint=True))
    (target,) = shop.pending()
    broken = replace(view(card("2"), at=NOW), number=7, checkpoint=True)
    with pytest.raises(SaveFailed):
        shop.save(shop.look(target, at=NOW + 1), broken)
    with database.read() as conn, shop.learner.attempt(conn):
        pass
    assert shop.knowledge.card_pairs == 0


def test_the_currency_of_cards_that_name_none_is_that_of_the_listings(database: Database) -> None:
    shop = Shop(database)
    with database.read() as conn:
        assert currency_of(conn, STORE) == ""
    shop.read("1")
    with database.read() as conn:
        assert currency_of(conn, STORE) == "EUR"


def test_a_card_of_a_missing_page_does_not_bring_it_back(database: Database) -> None:
    shop = Shop(database, "1", proven=True)
    shop.save(view(card("1"), at=LATER))
    (target,) = shop.due()
    shop.save(unparsed(target, Outcome.MISSING, at=LATER + 1))
    shop.save(view(card("1", 1500), at=LATER + HOUR))
    assert (shop.only(listings)["status"], shop.only(listings)["price_minor"]) == ("missing", 1999)


@pytest.mark.parametrize("at_once", [True, False], ids=["one batch", "two"])
@pytest.mark.parametrize("first", ["card", "sitemap"])
def test_an_entry_that_moved_and_a_card_that_tells_why_leave_no_signal_in_either_order(
    database: Database, first: str, at_once: bool
) -> None:
    shop = Shop(database, "1", proven=True)
    shop.save(view(card("1"), at=NOW + HOUR))
    told = view(card("1", 1777), at=LATER)
    moved = "2027-01-15T10:00:00+00:00"  # an hour and a half after the last look
    entry = Discovered("http://shop.example/p/1", "https://shop.example/p/1", moved)
    sitemap = CatalogPage(store=STORE, walk="sitemap", number=1, url="s", at_ms=LATER, found=(entry,), checkpoint=False)
    records = (told, sitemap) if first == "card" else (sitemap, told)
    for some in (records,) if at_once else ((one,) for one in records):
        shop.save(*some)
    page = shop.page("1")
    assert (page["carded_at"], page["sitemap_lastmod"]) == (LATER, moved)
    assert page["signal"] == Flag.NONE
