"""A page that is missing, then gone for good, then back: what becomes of its listings, and which events there are."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
from sqlalchemy import select

from storebot.core.delist import DAY_MS, Rules
from storebot.db import delisting
from storebot.db.database import Database
from storebot.db.schema import changes, listings, offers, pages
from storebot.items import Listing, Outcome
from tests.db.shop import HOUR, NOW, STORE, Worker, listing, parsed, unparsed

RULES = Rules()


def miss(shop: Worker, *hours: float, evidence: str = "404", **fields: Any) -> int:
    """Have the only page be missing at these hours, and each time end the run; return the events that it brought."""
    events = 0
    for hour in hours:
        at = NOW + int(hour * HOUR)
        (target,) = shop.due()
        shop.save(unparsed(target, Outcome.MISSING, at, evidence=evidence, **fields))
        events += confirm(shop, at)
    return events


def confirm(shop: Worker, at: int, rules: Rules = RULES) -> int:
    with shop.database.write() as conn:
        return delisting.confirm(conn, STORE, shop.run.run_id, rules, at)


def events(shop: Worker) -> list[tuple[str, str, Any, Any]]:
    """Return type, variant, and what the status was and is."""
    found = []
    for row in shop.rows(changes):
        status: dict[str, Any] = next((one for one in orjson.loads(row["fields"]) if one["field"] == "status"), {})
        found.append((row["type"], row["variant_id"], status.get("before"), status.get("after")))
    return found


class TestDelisted:
    def test_missing_is_no_event_delisted_is_one_and_only_one(self, database: Database) -> None:
        """D04: no notification before it's confirmed."""
        shop = Worker(database)
        shop.known("1")
        assert miss(shop, 1, 2, 20) == 0
        assert (shop.only(listings)["status"], events(shop)) == ("missing", [])
        assert miss(shop, 25) == 1
        assert (shop.only(listings)["status"], shop.only(pages)["misses"]) == ("delisted", 4)
        assert miss(shop, 24 * 8, 24 * 40) == 0
        assert events(shop) == [("delisted", "", "missing", "delisted")]

    def test_410_is_believed_at_once_d01(self, database: Database) -> None:
        shop = Worker(database)
        shop.known("1", listings=[listing(variant_id="S"), listing(variant_id="L")])
        assert miss(shop, 1, evidence="410") == 2
        assert {row["status"] for row in shop.rows(listings)} == {"delisted"}

    def test_the_record_and_its_history_stay_as_they_were(self, database: Database) -> None:
        shop = Worker(database)
        shop.known("1")
        before, history = shop.only(listings), shop.rows(offers)
        miss(shop, 1, 25)
        after = shop.only(listings)
        moved = {name for name in after if after[name] != before[name]}
        assert moved == {"status", "missing_why", "last_changed_at"}
        assert after["last_seen_at"] == NOW
        assert shop.rows(offers) == history

    def test_it_is_looked_at_after_a_week_then_every_month(self, database: Database) -> None:
        shop = Worker(database)
        shop.known("1")
        miss(shop, 1, 25)
        delisted_at = NOW + 25 * HOUR
        assert shop.only(pages)["next_due_at"] == delisted_at + 7 * DAY_MS
        miss(shop, 25 + 7 * 24)
        assert shop.only(pages)["next_due_at"] == delisted_at + 37 * DAY_MS

    @pytest.mark.parametrize("outcome", [Outcome.ERROR, Outcome.BLOCKED, Outcome.INVALID, Outcome.MOVED])
    def test_what_says_nothing_of_the_product_never_delists(self, database: Database, outcome: Outcome) -> None:
        """A time-out, a 5xx, a block page, an outage of days: none is evidence."""
        shop = Worker(database)
        shop.known("1")
        for day in range(1, 10):
            shop.save(unparsed(shop.due()[0], outcome, NOW + day * DAY_MS, status=503))
            assert confirm(shop, NOW + day * DAY_MS) == 0
        assert (shop.only(listings)["status"], shop.only(pages)["misses"]) == ("active", 0)

    def test_an_answer_that_sees_it_starts_the_count_anew(self, database: Database) -> None:
        """A temporary outage becomes no deletion."""
        shop = Worker(database)
        shop.known("1", etag='"a"')
        miss(shop, 1)
        shop.save(unparsed(shop.due()[0], Outcome.NOT_MODIFIED, NOW + 2 * HOUR, status=304))
        page = shop.only(pages)
        assert (page["misses"], page["first_missed_at"], page["missed_by"]) == (0, None, None)
        assert miss(shop, 30) == 0
        assert (shop.only(listings)["status"], events(shop)) == ("missing", [])

    def test_what_a_page_no_longer_named_when_it_was_last_seen_isnt_told_again(self, database: Database) -> None:
        shop = Worker(database)
        small, large = listing(variant_id="S"), listing(variant_id="L")
        shop.known("1", listings=[small, large])
        shop.save(parsed(shop.due()[0], large, at=NOW + 1))
        miss(shop, 1, 25)
        assert [(kind, variant) for kind, variant, *_ in events(shop)] == [("missing", "S"), ("delisted", "L")]

    def test_a_page_that_leads_to_another_is_none_of_it(self, database: Database) -> None:
        shop = Worker(database)
        shop.known("1", "2")
        first, second = shop.due()
        shop.save(parsed(first, at=NOW + 1, final_url=second.url, final_key=second.url_key), parsed(second, at=NOW + 1))
        assert confirm(shop, NOW + 90 * DAY_MS) == 0


class TestRelisted:
    def back(self, shop: Worker, *found: Listing, at: int = NOW + 60 * HOUR, **fields: Any) -> None:
        shop.save(parsed(shop.due()[0], *found, at=at, **fields))

    def delisted(self, database: Database, *found: Listing, **fields: Any) -> Worker:
        shop = Worker(database)
        shop.known("1", listings=found or [listing()], **fields)
        miss(shop, 1, 25)
        return shop

    def test_it_returns_with_its_history(self, database: Database) -> None:
        shop = self.delisted(database)
        before = shop.only(listings)
        self.back(shop, listing(price_minor=1499))
        row = shop.only(listings)
        assert (row["id"], row["first_seen_at"], row["status"]) == (before["id"], before["first_seen_at"], "active")
        assert (row["missing_why"], row["price_minor"]) == ("", 1499)
        assert [offer["price_minor"] for offer in shop.rows(offers)] == [1999, 1499]
        assert events(shop)[1:] == [("relisted", "", "delisted", "active")]
        assert [one["field"] for one in orjson.loads(shop.rows(changes)[1]["fields"])] == ["status", "price_minor"]
        page = shop.only(pages)
        assert (page["delisted_at"], page["misses"], page["first_missed_at"]) == (None, 0, None)

    def test_just_as_it_was(self, database: Database) -> None:
        shop = self.delisted(database)
        self.back(shop)
        assert (shop.only(listings)["status"], len(shop.rows(offers))) == ("active", 1)
        assert events(shop)[1:] == [("relisted", "", "delisted", "active")]

    def test_by_a_304(self, database: Database) -> None:
        shop = self.delisted(database, etag='"a"')
        (saved,) = shop.save(unparsed(shop.due()[0], Outcome.NOT_MODIFIED, NOW + 60 * HOUR, status=304))
        assert (saved.outcome, saved.changes) == (Outcome.NOT_MODIFIED, 1)
        assert shop.only(listings)["status"] == "active"
        assert events(shop)[1:] == [("relisted", "", "delisted", "active")]

    def test_read_by_another_parser_it_is_news_that_it_is_back_and_nothing_else(self, database: Database) -> None:
        self.delisted(database)
        shop = Worker(database, parser_version="p2")
        self.back(shop, listing(price_minor=1))
        assert events(shop)[1:] == [("relisted", "", "delisted", "active")]
        assert [one["field"] for one in orjson.loads(shop.rows(changes)[1]["fields"])] == ["status"]
        assert [offer["cause"] for offer in shop.rows(offers)] == ["seen", "rebased"]

    def test_without_one_of_its_variants_that_one_stays_gone(self, database: Database) -> None:
        small, large = listing(variant_id="S"), listing(variant_id="L")
        shop = self.delisted(database, small, large)
        self.back(shop, small)
        assert [row["status"] for row in shop.rows(listings)] == ["active", "delisted"]
        assert [(kind, variant) for kind, variant, *_ in events(shop)[2:]] == [("relisted", "S")]
        miss(shop, 70, 100)
        self.back(shop, small, at=NOW + 110 * HOUR)
        assert [row["status"] for row in shop.rows(listings)] == ["active", "delisted"], "it wasn't seen since"
        self.back(shop, small, large, at=NOW + 120 * HOUR)
        assert [row["status"] for row in shop.rows(listings)] == ["active", "active"]
        assert events(shop)[-1] == ("relisted", "L", "delisted", "active")

    def test_it_may_go_again_and_each_time_is_told_once(self, database: Database) -> None:
        shop = self.delisted(database)
        self.back(shop)
        miss(shop, 70, 100)
        self.back(shop, at=NOW + 200 * HOUR)
        assert [kind for kind, *_ in events(shop)] == ["delisted", "relisted", "delisted", "relisted"]
        with database.read() as conn:
            ids = conn.execute(select(changes.c.id)).scalars().all()
        assert len(set(ids)) == 4
