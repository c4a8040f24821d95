"""What is measured when a run ends, and which earlier runs it is compared with."""

from __future__ import annotations

from storebot.core.expect import Measures
from storebot.db import expectations, runs
from storebot.db.database import Database
from storebot.items import Outcome, RunStatus
from tests.db.shop import HOUR, NOW, STORE, Worker, listing, unparsed


def test_fields_of_the_listings_on_sale_are_counted(database: Database) -> None:
    shop = Worker(database)
    shop.known("a", listings=[listing(brand="Acme", images=("https://shop.example/1.jpg",))])
    shop.known("b", listings=[listing(price_minor=None, price_min_minor=5), listing(price_minor=None, variant_id="2")])
    shop.known("gone", listings=[listing(brand="Acme")])
    shop.save(*(unparsed(target, Outcome.MISSING, status=404) for target in shop.due() if "gone" in target.url))
    with database.read() as conn:
        found = expectations.measure(conn, STORE, now_ms=NOW + HOUR, started_ms=NOW)
    assert (found.listings, found.elapsed_s) == (3, 3600)
    filled = {name: round(share * 3) for name, share in found.fill.items()}
    assert [filled[name] for name in ("name", "brand", "price", "price_min", "images", "category_path", "gtin")] == [
        3, 1, 2, 1, 1, 0, 0
    ]  # fmt: skip
    with database.read() as conn:
        nothing = expectations.measure(conn, "other", now_ms=NOW, started_ms=NOW, max_age_ms=HOUR)
    assert nothing == Measures()


def test_pages_that_were_not_looked_at_for_too_long_are_counted(database: Database) -> None:
    shop = Worker(database)
    shop.known("old", at=NOW)
    shop.known("new", at=NOW + HOUR)
    with database.read() as conn:
        ages = {"now_ms": NOW + 2 * HOUR, "started_ms": NOW}
        assert expectations.measure(conn, STORE, **ages, max_age_ms=HOUR).old == 1
        assert expectations.measure(conn, STORE, **ages, max_age_ms=2 * HOUR).old == 0


def test_marks_are_kept_with_the_run_and_come_back_for_the_next(database: Database) -> None:
    measured = Measures(listings=7, elapsed_s=1.5, fill={"price": 0.5})
    with database.write() as conn:
        for kind, status in (
            ("refresh", RunStatus.HELD),
            ("refresh", RunStatus.FAILED),
            ("backfill", RunStatus.PARTIAL),
        ):
            run_id = runs.start(conn, STORE, kind)
            runs.finish(conn, run_id, status, "", outcomes={}, measured=measured, missed=("7 are few",))
        assert [run.missed for run in runs.last(conn, STORE)] == [["7 are few"]] * 3
        assert expectations.past(conn, STORE, "refresh", run_id + 1) == [measured]
        assert expectations.past(conn, STORE, "backfill", run_id) == []
