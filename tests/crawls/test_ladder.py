"""The demo store becomes an application that scripts fill: a real Chromium reads it where it has to, and no more."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from storebot.demo.running import DemoStore
from tests.crawls.scrapy_process import Crawl
from tests.crawls.watched import Watched, store_file
from tests.vendors.chromium import chromium_path

PRODUCTS = 6
FETCH = """
[fetch]
tiers = ["http", "browser"]
[fetch.browser]
wait_for = [".product-name", ".price"]
"""


@pytest.fixture
def chromium() -> str:
    return chromium_path()


def refreshed(watched: Watched) -> Crawl:
    """Run a refresh with all pages due."""
    with closing(sqlite3.connect(watched.database)) as connection, connection:
        connection.execute("UPDATE pages SET next_due_at = 0")
    return watched.forked("refresh")


def test_a_shop_that_turns_into_an_application_is_read_by_a_browser_and_no_record_changes_by_that(
    tmp_path: Path, chromium: str
) -> None:
    stores = store_file(tmp_path, FETCH, {"concurrency = 16": "concurrency = 1"})
    with DemoStore(products=PRODUCTS, page_size=10, markup="mixed", seed=3) as shop:
        watched = Watched(shop, tmp_path / "store.db", stores, {"STOREBOT_CHROMIUM": chromium})
        done = watched.forked("backfill")
        assert (done.exit_code, done.count("new")) == (0, PRODUCTS), done.stderr
        assert "tiers" not in done.fields
        before = watched.records(), watched.offers()
        shop.lie("needs_javascript", "^/p/")
        done = refreshed(watched)
        assert (done.exit_code, done.count("unchanged")) == (0, PRODUCTS), done.stderr
        assert (done.fields["escalations"], done.fields["tiers"]) == ("4", f"browser:{PRODUCTS}")
        assert sorted(shop.requests().paths("/p/").values()) == [1] * (PRODUCTS - 4) + [2] * 4
        assert (watched.records(), watched.offers()) == before
        steps = {row["steps"] for row in watched.rows("SELECT steps FROM visits WHERE run_id = 2")}
        assert steps == {None, 'http: no product, and its scripts fill <div id="app">, which is empty'}
        truth = shop.advance(price=2)
        done = refreshed(watched)
        assert (done.exit_code, done.count("changed"), done.count("unchanged")) == (0, len(truth), PRODUCTS - 2)
        assert done.fields["escalations"] == "0", "what works is remembered"
        assert set(shop.requests().paths("/p/").values()) == {1}
