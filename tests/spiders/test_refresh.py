"""Phase two: the pages that are due, with the validators of their last accepted parse."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from storebot.demo import DemoStore
from storebot.items import Outcome, RunStatus
from tests.inside import Place, store_folder
from tests.scripted import Answer, ScriptedShop, listing, product

TEXT = '[discover]\nsitemaps = false\n[catalogue]\nurl = "/all"\n[politeness]\ndelay_s = 0\n'
DATE = "Wed, 01 Jan 2025 10:00:00 GMT"


@pytest.fixture
def shop() -> Iterator[ScriptedShop]:
    with ScriptedShop() as shop:
        shop.says("/all", listing("/p/1", "/p/2"))
        shop.says("/p/1", product("Mug", ETag='"v1"', Last_Modified=DATE), Answer(status=304))
        shop.says("/p/2", product("Cup"), product("Cup", price="21.00"))
        yield shop


def test_validators_of_the_last_visit_are_sent_and_a_304_touches_one_row(shop: ScriptedShop, tmp_path: Path) -> None:
    place = Place(shop.url, tmp_path / "store.db", "shop", store_folder(tmp_path, TEXT))
    place.crawl("backfill")
    shop.asked.clear()
    done = place.crawl("refresh")
    assert (done.summary.status, done.summary.outcomes) == (
        RunStatus.COMPLETE,
        {Outcome.NOT_MODIFIED: 1, Outcome.CHANGED: 1},
    )
    (mug,), (cup,) = shop.requests("/p/1"), shop.requests("/p/2")
    assert (mug.headers["if-none-match"], mug.headers["if-modified-since"]) == ('"v1"', DATE)
    assert "if-none-match" not in cup.headers
    assert (done.summary.rows_written, done.summary.change_events) == (1, 1)
    (change,) = done.rows("SELECT fields FROM changes")
    assert "1990" in change["fields"]
    assert "2100" in change["fields"]


def test_page_is_left_alone_until_it_is_due(shop: ScriptedShop, tmp_path: Path) -> None:
    stores = store_folder(tmp_path, f'{TEXT}[refresh]\ninterval = "24h"\nhead_pages = 1')
    place = Place(shop.url, tmp_path / "store.db", "shop", stores)
    place.crawl("backfill")
    shop.asked.clear()
    done = place.crawl("refresh")
    assert (done.summary.status, done.summary.checked) == (RunStatus.COMPLETE, 0)
    assert shop.paths("/p/") == []


def test_refresh_reads_what_a_backfill_left(shop: ScriptedShop, tmp_path: Path) -> None:
    shop.says("/p/2", Answer(b"<title>Oops</title>" * 99, 500), product("Cup"))
    place = Place(shop.url, tmp_path / "store.db", "shop", store_folder(tmp_path, TEXT))
    place.crawl("backfill", STOREBOT_ERROR_BACKOFF_S=0)
    assert place.crawl("refresh").summary.outcomes == {Outcome.NOT_MODIFIED: 1, Outcome.NEW: 1}


def test_refresh_of_the_demo_store_rewrites_what_changed_and_nothing_else(tmp_path: Path) -> None:
    with DemoStore(products=12, page_size=5) as shop:
        place = Place(shop.url, tmp_path / "store.db")
        place.crawl("backfill")
        changed = {change.url for change in shop.advance(changed=3)}
        done = place.crawl("refresh")
    assert (done.summary.rows_written, done.summary.change_events) == (3, 3)
    assert done.summary.outcomes == {Outcome.CHANGED: 3, Outcome.NOT_MODIFIED: 9}
    rows = done.rows("SELECT url FROM visits JOIN pages ON pages.id = page_id WHERE outcome = 'changed'")
    assert {row["url"] for row in rows} == changed
