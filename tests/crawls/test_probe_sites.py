"""The store file that a probe writes crawls its shop right, unedited: all saved shops, the demo store's markups."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from storebot.commands.probe import probe
from storebot.core.probing.draft import draft
from storebot.core.probing.explore import Findings
from storebot.core.probing.store_toml import store_toml
from storebot.demo.options import ShopOptions
from storebot.demo.running import DemoStore
from storebot.demo.shop import Shop
from storebot.guest import Guest
from storebot.stores import Store
from storebot.stores.writing import checked
from tests.crawls.goldens import Golden, goldens, plain
from tests.crawls.real_shops import SHOPS, RealShop
from tests.crawls.saved_site import SavedSite
from tests.crawls.scrapy_process import Row, listings
from tests.inside import Crawled, Place
from tests.shared_data import shared

# A saved copy starts where a page was saved: of this shop the start page wasn't.
_STARTS = {"woo-dabhobbies": "/shop/"}
# Addresses that the saved copy of this shop names only in lists of another view ("mode=grid"), which no probe follows:
# the same products are found at their other addresses, and nothing is lost but the doubles.
_DOUBLES = {"magento1-smullinsupply": 29}
# Of one list of this copy a page in the middle wasn't saved: a hole, and the run says so.
_HOLES = {"magento1-smullinsupply": 3}


@dataclass(frozen=True)
class Probed:
    """A saved shop, what a probe made of it, and what a crawl by that gave."""

    shop: RealShop
    key: str
    findings: Findings
    store: Store
    backfill: Crawled
    rows: dict[tuple[str, str], Row]

    def goldens(self) -> dict[str, Golden]:
        return {self.key + one.path.rstrip("/"): one for one in goldens(self.shop.name)}


def look(url: str) -> Findings:
    return probe(Guest("storebot/test", "storebot", 0.0), url, 12, lambda text: None)


def place(folder: Path, url: str, text: str) -> Place:
    path = folder / "stores" / "probed" / "store.toml"
    path.parent.mkdir(parents=True)
    path.write_text(text, encoding="utf-8")
    quick = {"CONCURRENT_REQUESTS": 16, "CONCURRENT_REQUESTS_PER_DOMAIN": 16, "LOG_LEVEL": "WARNING"}
    return Place(url, folder / "store.db", "probed", folder / "stores", quick)


@pytest.fixture(scope="module", params=SHOPS, ids=lambda shop: shop.name)
def probed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Probed]:
    shop: RealShop = request.param
    folder = tmp_path_factory.mktemp(shop.name)
    site = SavedSite(shop.name)
    shop.prepare(site)
    with site:
        findings = look(site.url + _STARTS.get(shop.name, "/"))
        text = store_toml(draft(findings, "probed"))
        backfill = place(folder, site.url, text).crawl("backfill")
        key = site.url.replace("http://", "https://")
        yield Probed(shop, key, findings, checked("probed", text), backfill, listings(folder / "store.db"))


def test_every_golden_address_matches_product_url_and_no_list_does(probed: Probed) -> None:
    finds = probed.store.product_pattern.search
    base = probed.store.base_url
    assert [one.path for one in goldens(probed.shop.name) if not finds(base + one.path)] == []
    assert [path for path in _lists(probed.shop) if finds(base + path)] == []


def test_every_product_is_there_once_by_the_file_that_the_probe_wrote(probed: Probed) -> None:
    listed, expected = {key for key, _ in probed.rows}, probed.goldens()
    missing = {key: one for key, one in expected.items() if key not in listed}
    unreachable = [one for one in missing.values() if one.path in probed.shop.unreachable]
    assert len(missing) - len(unreachable) == _DOUBLES.get(probed.shop.name, 0)
    names = {plain(row["name"]) for row in probed.rows.values()}
    assert [one.name for one in missing.values() if one not in unreachable and plain(one.name) not in names] == []
    beyond = listed - expected.keys()
    assert [key for key in beyond if not probed.shop.beyond(key.removeprefix(probed.key))] == []
    visits = probed.backfill.summary.outcomes
    assert {outcome.value for outcome, count in visits.items() if count} <= {"new", "missing"}
    assert int(probed.backfill.summary.exit_code) == _HOLES.get(probed.shop.name, 0), probed.backfill.summary.reason


def test_names_prices_and_stock_are_those_of_the_goldens(probed: Probed) -> None:
    of_page: dict[str, list[Row]] = {}
    for (key, _), row in probed.rows.items():
        of_page.setdefault(key, []).append(row)
    expected = {
        key: (plain(one.name), one.price_minor, one.currency, one.availability) for key, one in probed.goldens().items()
    }
    found = {key: _as_one(rows) for key, rows in of_page.items() if key in expected}
    assert {key: (one, expected[key]) for key, one in found.items() if one != expected[key]} == {}


def test_probe_is_no_burden(probed: Probed) -> None:
    assert probed.findings.book.asked <= 90


def test_shop_whose_products_are_gone_is_walked_by_a_guess() -> None:
    site = SavedSite("books-toscrape-listing")
    # The files are named one too high: the second page links to its neighbours page-1 and page-3.
    names = {
        f"catalogue/page-{n + 1}.html": f"catalogue/page-{n}.html" if n > 1 else "index.html" for n in range(1, 50)
    }
    site.rename(names)
    with site:
        findings = look(site.url)
        store = checked("books", store_toml(draft(findings, "books")))
    assert findings.is_assumed
    assert (store.catalogue_urls, store.catalogue and store.catalogue.next) == (
        (f"{site.url}/",),
        "li.next > a::attr(href)",
    )
    finds = store.product_pattern.search
    assert finds(f"{site.url}/catalogue/a-light-in-the-attic_1000/index.html")
    assert not finds(f"{site.url}/catalogue/category/books/travel_2/index.html")
    assert not finds(f"{site.url}/catalogue/page-2.html")


@pytest.mark.parametrize("markup", ["jsonld", "microdata", "plain"])
def test_demo_store_of_each_markup_is_crawled_right(markup: str, tmp_path: Path) -> None:
    options: dict[str, Any] = {"products": 40, "page_size": 10, "sitemap_size": 30, "markup": markup}
    with DemoStore(**options) as shop:
        backfill = place(tmp_path, shop.url, store_toml(draft(look(shop.url), "demo"))).crawl("backfill")
    assert int(backfill.summary.exit_code) == 0, backfill.summary.reason
    rows = listings(backfill.database)
    found = {"/" + key.split("/", 3)[3]: row for (key, _), row in rows.items()}
    products = {product.path: product for product in Shop(ShopOptions(**options)).products()}
    assert found.keys() == products.keys()
    assert len(rows) == sum(len(product.offers) for product in products.values())
    for path, row in found.items():
        product = products[path]
        assert row["name"].startswith(product.name)
        assert (row["price_minor"], row["availability"]) in [
            (one.price_minor, one.availability) for one in product.offers
        ]
        assert row["currency"] == "GBP"


def _lists(shop: RealShop) -> list[str]:
    """Return the addresses of the pages that the corpus calls lists, but for those that it can't tell from products."""
    facts = json.loads(shared(f"sites/{shop.name}.json").read_text(encoding="utf-8"))
    paths = ["/" + path.removesuffix("index.html") for path in facts["listing_pages"]]
    return [path for path in paths if not path.startswith("/catalog/product/view/")]


def _as_one(of_page: list[Row]) -> tuple[str, int | None, str | None, str | None]:
    prices = [row["price_minor"] for row in of_page if row["price_minor"] is not None]
    stock = {row["availability"] for row in of_page}
    names = {plain(row["name"]) for row in of_page}
    currencies = {row["currency"] for row in of_page}
    return (
        " | ".join(sorted(names)),
        min(prices, default=None),
        next(iter(currencies)) if len(currencies) == 1 else str(currencies),
        "InStock" if "InStock" in stock else next(iter(stock)),
    )
