"""Phase one: every page that was never read, and no other."""

from __future__ import annotations

from pathlib import Path

from storebot.demo import DemoStore
from storebot.items import Outcome, RunStatus
from tests.inside import Place, store_folder
from tests.scripted import Answer, ScriptedShop, listing, product

TEXT = '[discover]\nsitemaps = false\n[catalogue]\nurl = "/all"\n[politeness]\ndelay_s = 0\n'


def test_second_backfill_reads_only_what_is_new_and_asks_it_without_validators(tmp_path: Path) -> None:
    with ScriptedShop() as shop:
        shop.says("/all", listing("/p/1", "/p/2"))
        for number in (1, 2, 3):
            shop.says(
                f"/p/{number}", product(f"Mug {number}", ETag='"1"', Last_Modified="Wed, 01 Jan 2025 10:00:00 GMT")
            )
        place = Place(shop.url, tmp_path / "store.db", "shop", store_folder(tmp_path, TEXT))
        first = place.crawl("backfill")
        assert (first.summary.status, first.summary.outcomes) == (RunStatus.COMPLETE, {Outcome.NEW: 2})
        shop.asked.clear()
        shop.says("/all", listing("/p/1", "/p/2", "/p/3"))
        second = place.crawl("backfill")
        assert (second.summary.status, second.summary.outcomes) == (RunStatus.COMPLETE, {Outcome.NEW: 1})
        assert shop.paths("/p/") == ["/p/3"]
        assert second.summary.change_events == 0  # a store that is read for the first time has no news


def test_backfill_that_finds_no_product_has_failed_and_says_where_to_look(tmp_path: Path) -> None:
    with ScriptedShop() as shop:
        shop.says("/all", listing())
        done = Place(shop.url, tmp_path / "store.db", "shop", store_folder(tmp_path, TEXT)).crawl("backfill")
    assert (done.summary.status, int(done.summary.exit_code)) == (RunStatus.FAILED, 3)


def test_page_that_failed_is_read_by_the_next_backfill_once_its_time_has_come(tmp_path: Path) -> None:
    with ScriptedShop() as shop:
        shop.says("/all", listing("/p/1"))
        shop.says("/p/1", Answer(b"<title>Oops</title>" * 99, 500), product())
        place = Place(shop.url, tmp_path / "store.db", "shop", store_folder(tmp_path, TEXT))
        assert place.crawl("backfill", STOREBOT_ERROR_BACKOFF_S=0).summary.outcomes == {Outcome.ERROR: 1}
        done = place.crawl("backfill")
    assert (done.summary.status, done.summary.outcomes) == (RunStatus.COMPLETE, {Outcome.NEW: 1})


def test_every_product_of_the_demo_store_is_fetched_once_and_says_what_the_shop_says(tmp_path: Path) -> None:
    with DemoStore(products=15, markup="mixed", page_size=6, sitemap_size=5) as shop:
        done = Place(shop.url, tmp_path / "store.db").crawl("backfill")
        truth = {row["url"]: row for row in shop.truth()}
        assert set(shop.requests().paths("/p/").values()) == {1}
    assert (done.summary.status, done.summary.outcomes) == (RunStatus.COMPLETE, {Outcome.NEW: 15})
    rows = done.rows("SELECT pages.url, name, price_minor, currency FROM listings JOIN pages ON pages.id = page_id")
    assert {row["url"] for row in rows} == set(truth)
    for row in rows:
        told = truth[row["url"]]
        prices = [variant["price_minor"] for variant in told["variants"]] or [told["price_minor"]]
        assert row["price_minor"] in prices
        assert row["name"].startswith(told["name"])
        assert row["currency"] == told["currency"]
