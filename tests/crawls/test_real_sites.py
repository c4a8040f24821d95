"""Whole real shops, saved as files and served from this machine, are backfilled, refreshed, edited, refreshed again."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.crawls.forked import crawl_store
from tests.crawls.goldens import Golden, goldens, plain
from tests.crawls.real_shops import SHOPS, RealShop
from tests.crawls.saved_site import SavedSite
from tests.crawls.scrapy_process import Crawl, Row, changes, listings, pages, rows

STORES = Path(__file__).with_name("stores")


@dataclass(frozen=True)
class Crawled:
    """A shop after its three crawls, and what stood in the database after each."""

    shop: RealShop
    key: str  # the start of the shop's URL keys
    backfill: Crawl
    pages: dict[str, Row]
    first: dict[tuple[str, str], Row]
    unchanged: Crawl
    second: dict[tuple[str, str], Row]
    changed: Crawl
    third: dict[tuple[str, str], Row]
    database: Path

    def goldens(self) -> dict[str, Golden]:
        """Return what the shop sells and names anywhere, by URL key."""
        named = (one for one in goldens(self.shop.name) if one.path not in self.shop.unreachable)
        return {self.key + one.path.rstrip("/"): one for one in named}


@pytest.fixture(scope="module", params=SHOPS, ids=lambda shop: shop.name)
def crawled(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Crawled]:
    shop: RealShop = request.param
    database = tmp_path_factory.mktemp(shop.name) / "store.db"
    site = SavedSite(shop.name)
    shop.prepare(site)
    with site:

        def run(phase: str) -> Crawl:
            return crawl_store(phase, shop.name, database=database, stores=STORES, base_url=site.url)

        backfill, found, first = run("backfill"), pages(database), listings(database)
        unchanged, second = run("refresh"), listings(database)
        for edit in shop.edits:
            site.edit(edit.file, edit.apply)
        changed, third = run("refresh"), listings(database)
        key = site.url.replace("http://", "https://")
        yield Crawled(shop, key, backfill, found, first, unchanged, second, changed, third, database)


def test_whole_shop_is_crawled_and_its_end_proven(crawled: Crawled) -> None:
    done = crawled.backfill
    assert (done.exit_code, done.fields["status"]) == (0, "complete"), done.stderr
    assert done.count("missing") == crawled.shop.named_but_gone
    assert done.count("new") == done.count("checked") - done.count("missing")


def test_every_product_is_there_once(crawled: Crawled) -> None:
    listed = Counter(key for key, _ in crawled.first)
    assert {key: listed[key] for key in crawled.goldens()} == {
        key: golden.variants or max(1, listed[key]) for key, golden in crawled.goldens().items()
    }


def test_names_prices_and_stock_are_those_of_the_goldens(crawled: Crawled) -> None:
    wrong: list[tuple[object, ...]] = []
    for key, golden in crawled.goldens().items():
        of_page = [row for (page, _), row in crawled.first.items() if page == key]
        expected = (plain(golden.name), golden.price_minor, golden.currency, golden.availability)
        if not of_page or _as_one(of_page) != expected:
            wrong.append((golden.path, expected, of_page and _as_one(of_page)))
        # A golden has the upper end of a range where the page shows it; in structured data others have one, too. Where
        # the page tells its variants apart, the dearest of them is that end.
        highest = max((row["price_max_minor"] or row["price_minor"] or 0 for row in of_page), default=0)
        if golden.price_max_minor and highest != golden.price_max_minor:
            wrong.append((golden.path, golden.price_max_minor, of_page))
    assert wrong == []


def test_no_other_listing_is_there_but_real_products_without_a_golden(crawled: Crawled) -> None:
    others = {key for key, _ in crawled.first} - crawled.goldens().keys()
    assert len(others) == crawled.shop.beyond_count
    assert [key for key in others if not crawled.shop.beyond(key.removeprefix(crawled.key))] == []


def test_second_crawl_rewrites_nothing(crawled: Crawled) -> None:
    done = crawled.unchanged
    assert (done.exit_code, done.fields["status"]) == (0, "complete"), done.stderr
    assert done.count("unchanged") == crawled.backfill.count("new") - crawled.shop.named_twice
    # A dead link that the sitemap goes on naming is asked for once more, and then ever more seldom.
    assert done.count("checked") == done.count("unchanged") + done.count("missing")
    assert done.count("missing") <= crawled.backfill.count("missing")
    assert (done.count("rows"), done.count("changes")) == (0, 0)
    assert crawled.second == crawled.first


def test_three_edited_pages_give_exactly_three_changes(crawled: Crawled) -> None:
    done = crawled.changed
    assert (done.count("changed"), done.count("rows"), done.count("changes")) == (3, 3, 3)
    assert done.count("unchanged") == crawled.backfill.count("new") - crawled.shop.named_twice - 3
    paths = {golden.file: golden.path.rstrip("/") for golden in goldens(crawled.shop.name)}
    expected = {crawled.key + paths[edit.file]: [*edit.changes] for edit in crawled.shop.edits}
    assert {event["url_key"]: _fields(event) for event in changes(crawled.database)} == expected
    assert len(changes(crawled.database)) == 3


def test_rows_of_other_pages_are_left_alone_by_the_edits(crawled: Crawled) -> None:
    touched = {key for key, row in crawled.third.items() if row != crawled.second[key]}
    assert len(crawled.third) == len(crawled.second)
    assert len(touched) == 3


# --- what only one of the shops shows -----------------------------------------------------------------------------


def test_with_etags_a_refresh_reads_only_the_edited_page(tmp_path: Path) -> None:
    shop = next(shop for shop in SHOPS if shop.name == "woo-dabhobbies")
    database = tmp_path / "store.db"
    with SavedSite(shop.name, etags=True) as site:
        crawl_store("backfill", shop.name, database=database, stores=STORES, base_url=site.url)
        site.edit(shop.edits[0].file, shop.edits[0].apply)
        done = crawl_store("refresh", shop.name, database=database, stores=STORES, base_url=site.url)
    assert done.exit_code == 0, done.stderr
    assert (done.count("not_modified"), done.count("changed"), done.count("checked")) == (101, 1, 102)
    assert (done.count("rows"), done.count("changes")) == (1, 1)


def test_listed_products_whose_pages_are_all_gone_are_known_and_no_success(tmp_path: Path) -> None:
    database = tmp_path / "store.db"
    site = SavedSite("books-toscrape-listing")
    # The files are named one too high: the second page links to its neighbours page-1 and page-3.
    site.rename(
        {f"catalogue/page-{n + 1}.html": f"catalogue/page-{n}.html" if n > 1 else "index.html" for n in range(1, 50)}
    )
    with site:
        done = crawl_store("backfill", site.name, database=database, stores=STORES, base_url=site.url)
    asked = Counter({target: count for (target, status), count in site.answered.items() if "_" in target})
    assert done.count("checked") == done.count("missing") == 980
    assert len(pages(database)) == 980
    assert set(asked.values()) == {1}
    assert len(asked) == 980
    assert listings(database) == {}
    (run,) = rows(database, "SELECT status, reason FROM runs")
    assert run["status"] != "complete"
    assert "980" in run["reason"]
    assert done.exit_code == 3


def _as_one(of_page: list[Row]) -> tuple[str, int | None, str | None, str | None]:
    """Return what the listings of one page say together: the lowest price, and in stock where one of them is."""
    prices = [row["price_minor"] for row in of_page if row["price_minor"] is not None]
    stock = {row["availability"] for row in of_page}
    (name,) = {plain(row["name"]) for row in of_page}
    (currency,) = {row["currency"] for row in of_page}
    return name, min(prices, default=None), currency, "InStock" if "InStock" in stock else next(iter(stock))


def _fields(event: Row) -> list[tuple[str, object, object]]:
    return [(one["field"], one["before"], one["after"]) for one in json.loads(event["fields"])]
