"""A shop that fobs this client off: what it shows in a product's place is never taken for the product."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from storebot.exceptions import ExitCode
from storebot.items import Outcome
from tests.inside import Crawled, Place, store_folder
from tests.scripted import FILLER, Answer, ScriptedShop, listing
from tests.vendors.chromium import chromium_path

TEXT = '[discover]\nsitemaps = false\n[catalogue]\nurl = "/all"\n[politeness]\ndelay_s = 0\nconcurrency = 4\n'
PATHS = [f"/p/{number}" for number in range(1, 61)]


def page(path: str, availability: str) -> Answer:
    offer = {"@type": "Offer", "price": "19.90", "priceCurrency": "EUR", "availability": availability}
    data = {"@context": "https://schema.org", "@type": "Product", "name": f"Mug {path}", "sku": path, "offers": offer}
    text = f'<script type="application/ld+json">{json.dumps(data)}</script><h1>Mug {path}</h1>'
    return Answer(f"<html><body>{text}{FILLER}</body></html>".encode(), headers={"Content-Type": "text/html"})


@pytest.fixture
def shop() -> Iterator[ScriptedShop]:
    with ScriptedShop() as shop:
        shop.says("/all", listing(*PATHS))
        for path in PATHS:
            shop.says(path, page(path, "InStock"))
        yield shop


def published(done: Crawled) -> dict[str, int]:
    found = done.rows("SELECT availability, count(*) AS count FROM listings GROUP BY availability")
    return {row["availability"]: row["count"] for row in found}


def test_store_that_is_sold_out_all_at_once_is_held_and_nobody_is_told(shop: ScriptedShop, tmp_path: Path) -> None:
    """Case B07: 95 % of the store, the product that never sells out among them, flips in one run."""
    place = Place(shop.url, tmp_path / "store.db", "shop", store_folder(tmp_path, TEXT))
    assert place.crawl("backfill").summary.outcomes == {Outcome.NEW: 60}
    for path in PATHS[:57]:
        shop.says(path, page(path, "OutOfStock"))
    done = place.crawl("refresh")
    assert done.summary.exit_code is ExitCode.HELD
    assert done.summary.outcomes[Outcome.HELD] == 57
    assert "held, not published" in done.summary.reason
    assert published(done) == {"InStock": 60}
    assert done.rows("SELECT count(*) AS count FROM changes WHERE type = 'changed'") == [{"count": 0}]


def test_robot_checks_say_nothing_of_what_is_in_stock_and_end_the_run(shop: ScriptedShop, tmp_path: Path) -> None:
    """Case B03: with status 200, and without a title that a product has."""
    place = Place(shop.url, tmp_path / "store.db", "shop", store_folder(tmp_path, TEXT))
    place.crawl("backfill")
    check = "<title dir='ltr'>Robot Check</title><p>Enter the characters you see below</p>" + FILLER
    for path in PATHS:
        shop.says(path, Answer(check.encode(), headers={"Content-Type": "text/html"}))
    done = place.crawl("refresh")
    assert done.summary.exit_code is ExitCode.BLOCKED
    assert set(done.summary.outcomes) == {Outcome.BLOCKED}
    assert "of the last 10 visits were blocked" in done.summary.reason
    assert published(done) == {"InStock": 60}
    assert done.rows("SELECT breaker_state FROM stores") == [{"breaker_state": "open"}]
    assert done.rows("SELECT count(*) AS count FROM changes WHERE type <> 'new'") == [{"count": 0}]


def test_a_page_whose_script_goes_home_is_no_product(shop: ScriptedShop, tmp_path: Path) -> None:
    """Cases W05 and R01: a browser ends at another address than it was sent to, with no redirect on the way."""
    text = TEXT + '[fetch]\ntiers = ["browser"]\n[fetch.browser]\nsettle_s = 0.2\n'
    place = Place(shop.url, tmp_path / "store.db", "shop", store_folder(tmp_path, text))
    shop.says("/all", listing(*PATHS[:2])).says("/", listing(*PATHS[:2]))
    chromium = chromium_path()
    assert place.crawl("backfill", STOREBOT_CHROMIUM=chromium).summary.outcomes == {Outcome.NEW: 2}
    home = f"<html><body>{FILLER}<script>setTimeout(() => location.replace('/'), 50)</script></body></html>"
    shop.says(PATHS[0], Answer(home.encode(), headers={"Content-Type": "text/html"}))
    done = place.crawl("refresh", STOREBOT_CHROMIUM=chromium)
    assert done.summary.outcomes == {Outcome.MISSING: 1, Outcome.UNCHANGED: 1}
    assert "/, the home page" in done.visits()[PATHS[0]]["reason"]
    assert published(done) == {"InStock": 2}
