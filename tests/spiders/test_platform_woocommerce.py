"""A WooCommerce shop by its Store API: whole crawls against a local shop that speaks the protocol."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from storebot.exceptions import ExitCode
from storebot.items import Outcome
from tests.inside import Crawled, Place
from tests.platform_shops import JSON, WooShop
from tests.scripted import Answer, challenge

ALONE = '[discover]\nplatform = "woocommerce"\nsitemaps = false\n'
LATEST = "/wp-json/wc/store/v1/products"


@pytest.fixture
def shop() -> Iterator[WooShop]:
    with WooShop(53) as shop:
        yield shop


def place(shop: WooShop, folder: Path, text: str = ALONE) -> Place:
    path = folder / "stores" / "shop" / "store.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f'base_url = "http://shop.example"\nproduct_url = "/product/"\n{text}', encoding="utf-8")
    return Place(shop.url, folder / "store.db", "shop", path.parents[1])


def outcomes(crawled: Crawled) -> dict[Outcome, int]:
    return {outcome: count for outcome, count in crawled.summary.outcomes.items() if count}


def test_a_clamped_listing_is_walked_to_the_end_that_it_declares(shop: WooShop, tmp_path: Path) -> None:
    """Case P08: 100 were asked for, and 20 come."""
    here = place(shop, tmp_path)
    backfill = here.crawl("backfill")
    assert (backfill.summary.exit_code, outcomes(backfill)) == (ExitCode.COMPLETE, {Outcome.NEW: 53})
    assert shop.listing_pages() == [1, 2, 3]
    assert len(shop.paths(LATEST)) == 6  # and for each page once the variations of its products
    assert shop.paths("/product/") == []
    shop.asked.clear()
    refresh = here.crawl("refresh")
    assert outcomes(refresh) == {Outcome.UNCHANGED: 53}
    assert refresh.summary.requests == 6  # robots.txt is kept
    assert refresh.summary.rows_written == refresh.summary.change_events == 0


def test_variations_are_listings_with_their_options_and_their_own_prices(shop: WooShop, tmp_path: Path) -> None:
    backfill = place(shop, tmp_path).crawl("backfill")
    query = (
        "SELECT listings.* FROM listings JOIN pages ON pages.id = page_id WHERE pages.url LIKE ? ORDER BY variant_id"
    )
    red, blue = backfill.rows(query, "%/mug-5/")
    assert [(row["variant_id"], row["price_minor"], row["sku"], json.loads(row["options"])) for row in (red, blue)] == [
        ("500", 1005, "M5-0", {"Color": "Red"}),
        ("501", 1105, "M5-1", {"Color": "Blue"}),
    ]
    assert red["name"] == "Mug \u2013 No. 5"
    assert (red["currency"], red["availability"]) == ("EUR", "InStock")
    assert red["url"].endswith("/product/mug-5/?attribute_pa_color=red")


def test_three_changed_products_are_three_changes(shop: WooShop, tmp_path: Path) -> None:
    here = place(shop, tmp_path)
    here.crawl("backfill")
    shop.goods[0].price = 900
    shop.goods[25].in_stock = False
    shop.goods[52].name = "Mug 5300"
    refresh = here.crawl("refresh")
    assert outcomes(refresh) == {Outcome.CHANGED: 3, Outcome.UNCHANGED: 50}
    changes = refresh.rows("SELECT fields FROM changes")
    assert sorted(one["field"] for row in changes for one in json.loads(row["fields"])) == [
        "availability",
        "name",
        "price_minor",
    ]


def test_products_whose_variations_are_not_given_are_read_as_pages(shop: WooShop, tmp_path: Path) -> None:
    """A range of prices is no price, and a variant that isn't seen must not go missing."""
    shop.gives_variations = False
    backfill = place(shop, tmp_path).crawl("backfill")
    assert (backfill.summary.exit_code, outcomes(backfill)) == (ExitCode.COMPLETE, {Outcome.NEW: 53})
    assert len(shop.paths("/product/")) == 10


@pytest.mark.parametrize(
    ("answer", "said"),
    [(Answer(b"oops", 500), "page 2 failed"), (challenge(), "page 2 blocked"), (Answer(b"", 0), "page 2 failed")],
    ids=["500", "blocked", "cut"],
)
def test_a_page_whose_variations_fail_is_a_page_that_failed(
    shop: WooShop, tmp_path: Path, answer: Answer, said: str
) -> None:
    def override(path: str, query: Mapping[str, str]) -> Answer | None:
        return answer if query.get("type") == "variation" and "25" in query["parent"].split(",") else None

    shop.override = override
    backfill = place(shop, tmp_path).crawl("backfill")
    assert backfill.summary.exit_code is ExitCode.PARTIAL
    assert said in backfill.summary.reason
    assert outcomes(backfill) == {Outcome.NEW: 20}


def test_an_older_shop_is_asked_at_its_older_address(shop: WooShop, tmp_path: Path) -> None:
    shop.root = "/wp-json/wc/store/products"
    here = place(shop, tmp_path)
    for phase, outcome in (("backfill", Outcome.NEW), ("refresh", Outcome.UNCHANGED)):
        crawled = here.crawl(phase)
        assert (crawled.summary.exit_code, outcomes(crawled)) == (ExitCode.COMPLETE, {outcome: 53})
        assert crawled.summary.reason == ""


def test_a_page_number_beyond_the_last_is_the_end_and_no_cap(shop: WooShop, tmp_path: Path) -> None:
    """A cache in front of the shop may lose the headers that count."""
    beyond = Answer(b'{"code":"rest_post_invalid_page_number","data":{"status":400}}', 400, JSON)

    def override(path: str, query: Mapping[str, str]) -> Answer | None:
        found = shop.platform(path, query) if path == LATEST else None
        if found is None or query.get("type"):
            return None
        return beyond if int(query["page"]) > 3 else found._replace(headers=JSON)

    shop.override = override
    backfill = place(shop, tmp_path).crawl("backfill")
    assert (backfill.summary.exit_code, backfill.summary.reason) == (ExitCode.COMPLETE, "")
    assert outcomes(backfill) == {Outcome.NEW: 53}


def test_an_interface_that_needs_a_login_gives_way_to_the_catalogue(shop: WooShop, tmp_path: Path) -> None:
    refused = Answer(b'{"code":"rest_cannot_access","message":"Only authenticated users"}', 401, JSON)
    shop.override = lambda path, query: refused if path.startswith("/wp-json") else None
    text = '[discover]\nplatform = "woocommerce"\nsitemaps = false\n[catalogue]\nurl = "/shop"\n'
    links = "".join(f'<a href="/product/mug-{good.id}/">{good.name}</a>' for good in shop.goods)
    shop.says("/shop", Answer(f"<html><body>{links}{'<p>clay</p>' * 900}</body></html>".encode()))
    backfill = place(shop, tmp_path, text).crawl("backfill")
    assert (backfill.summary.exit_code, outcomes(backfill)) == (ExitCode.COMPLETE, {Outcome.NEW: 53})
    assert "the first page answers HTTP 401" in backfill.summary.reason
