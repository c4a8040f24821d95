"""A shop by its product feeds: whole crawls against a local shop."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterator, Sequence
from html import escape
from pathlib import Path

import pytest

from storebot.exceptions import ExitCode
from storebot.items import Outcome
from tests.inside import Crawled, Place, store_folder
from tests.scripted import Answer, ScriptedShop, product, sitemap

Item = dict[str, str]
FEEDS = '[discover]\nsitemaps = false\nfeeds = ["/feed"]\n'


@pytest.fixture
def shop() -> Iterator[ScriptedShop]:
    with ScriptedShop() as shop:
        yield shop


def items(shop: ScriptedShop, count: int = 600) -> list[Item]:
    return [
        {
            "id": f"A{number}",
            "title": f'Mug {number}"',
            "link": f"{shop.url}/p/{number}",
            "price": f"{number}.50 EUR",
            "availability": "in_stock",
        }
        for number in range(1, count + 1)
    ]


def xml(found: Sequence[Item]) -> Answer:
    rows = "".join(
        "<item>" + "".join(f"<g:{name}>{escape(text)}</g:{name}>" for name, text in item.items()) + "</item>"
        for item in found
    )
    text = f'<?xml version="1.0"?><rss xmlns:g="http://base.google.com/ns/1.0"><channel>{rows}</channel></rss>'
    return Answer(text.encode(), headers={"Content-Type": "application/xml"})


def tsv(found: Sequence[Item]) -> Answer:
    lines = ["\t".join(found[0]), *("\t".join(item.values()) for item in found)]
    return Answer("\r\n".join(lines).encode(), headers={"Content-Type": "text/plain"})


def zipped(found: Sequence[Item]) -> Answer:
    return Answer(gzip.compress(tsv(found).body), headers={"Content-Type": "application/octet-stream"})


def place(shop: ScriptedShop, folder: Path, text: str = FEEDS) -> Place:
    return Place(shop.url, folder / "store.db", "shop", store_folder(folder, text))


def outcomes(crawled: Crawled) -> dict[Outcome, int]:
    return {outcome: count for outcome, count in crawled.summary.outcomes.items() if count}


@pytest.mark.parametrize("written", [xml, tsv, zipped])
def test_a_feed_costs_one_request_and_its_changes_are_found(
    shop: ScriptedShop, tmp_path: Path, written: Callable[[Sequence[Item]], Answer]
) -> None:
    here, found = place(shop, tmp_path), items(shop)
    shop.says("/feed", written(found))
    backfill = here.crawl("backfill")
    assert (backfill.summary.exit_code, outcomes(backfill)) == (ExitCode.COMPLETE, {Outcome.NEW: 600})
    found[7] |= {"price": "3.00 EUR"}
    found[8] |= {"availability": "out of stock"}
    found[9] |= {"title": "Cup"}
    shop.says("/feed", written(found))
    refresh = here.crawl("refresh")
    assert outcomes(refresh) == {Outcome.CHANGED: 3, Outcome.UNCHANGED: 597}
    changes = refresh.rows("SELECT url_key, fields FROM changes ORDER BY seq")
    assert [(row["url_key"].rpartition("/")[2], json.loads(row["fields"])) for row in changes] == [
        ("8", [{"field": "price_minor", "before": 850, "after": 300}]),
        ("9", [{"field": "availability", "before": "InStock", "after": "OutOfStock"}]),
        ("10", [{"field": "name", "before": 'Mug 10"', "after": "Cup"}]),
    ]
    assert shop.paths() == ["/robots.txt", "/feed", "/feed"]  # robots.txt is fresh for a day


def test_variants_of_one_group_are_the_listings_of_the_page_that_the_sitemap_names(
    shop: ScriptedShop, tmp_path: Path
) -> None:
    shared = {"title": "Mug", "item_group_id": "M", "price": "9.00 EUR", "availability": "in stock"}
    link = f"{shop.url}/p/mug?variant="
    shop.says("/feed", xml([{"id": n, "link": f"{link}{n}&utm_source=g{n}", "color": n, **shared} for n in "ab"]))
    shop.says("/sitemap.xml", sitemap(f"{shop.url}/p/mug"))
    backfill = place(shop, tmp_path, '[discover]\nfeeds = ["/feed"]\n').crawl("backfill")
    assert outcomes(backfill) == {Outcome.NEW: 1}
    assert shop.paths("/p/") == []
    rows = backfill.rows("SELECT variant_id, options FROM listings ORDER BY variant_id")
    assert [(row["variant_id"], json.loads(row["options"])) for row in rows] == [
        ("a", {"color": "a"}),
        ("b", {"color": "b"}),
    ]


def test_a_feed_that_fails_leaves_its_products_unobserved_and_the_run_partial(
    shop: ScriptedShop, tmp_path: Path
) -> None:
    here = place(shop, tmp_path)
    shop.says("/feed", xml(items(shop, 3)))
    here.crawl("backfill")
    for answer, said in (
        (Answer(b"", 404), "it answers HTTP 404"),
        (Answer(b"<html><title>Oops</title></html>"), "it is an HTML page titled 'Oops', not a product feed"),
        (Answer(b"<rss><channel></channel></rss>"), "it carries no product"),
        (Answer(b"", 0), "feed "),
    ):
        shop.says("/feed", answer)
        refresh = here.crawl("refresh")
        assert (refresh.summary.exit_code, outcomes(refresh)) == (ExitCode.PARTIAL, {})
        assert said in refresh.summary.reason
        assert "3 pages left" in refresh.summary.reason
    assert shop.paths("/p/") == []


def test_what_only_the_sitemap_knows_is_fetched_and_two_feeds_carry_a_product_once(
    shop: ScriptedShop, tmp_path: Path
) -> None:
    found = items(shop, 3)
    shop.says("/feed", xml(found)).says("/more", tsv([{**found[2], "price": "1.00 EUR"}, {**found[0], "link": "x"}]))
    shop.says("/sitemap.xml", sitemap(*(f"{shop.url}/p/{number}" for number in range(1, 5)))).says("/p/4", product())
    here = place(shop, tmp_path, '[discover]\nfeeds = ["/feed", "/more"]\n')
    backfill = here.crawl("backfill")
    assert outcomes(backfill) == {Outcome.NEW: 4}
    assert shop.paths("/p/") == ["/p/4"]
    assert backfill.rows("SELECT price_minor FROM listings WHERE url LIKE '%/p/3'") == [{"price_minor": 350}]


def test_a_feed_that_breaks_off_is_incomplete_and_bad_entries_are_told(shop: ScriptedShop, tmp_path: Path) -> None:
    found = items(shop, 300)
    del found[1]["title"]
    shop.says("/feed", xml(found))
    told = place(shop, tmp_path / "told").crawl("backfill")
    assert (told.summary.exit_code, outcomes(told)) == (ExitCode.COMPLETE, {Outcome.NEW: 299})
    assert "1 entries without a title and an address" in told.summary.reason
    shop.says("/feed", Answer(gzip.compress(xml(items(shop, 300)).body)[:-900]))
    broken = place(shop, tmp_path / "broken").crawl("backfill")
    assert broken.summary.exit_code is ExitCode.PARTIAL
    assert "breaks off after" in broken.summary.reason
