"""Sitemaps name every live product once, with the time of its last change."""

from __future__ import annotations

import gzip
from datetime import UTC, datetime

from lxml import etree

from storebot.demo import sitemaps
from storebot.demo.clock import Step, advance
from storebot.demo.options import ShopOptions
from storebot.demo.pages import View
from storebot.demo.shop import Shop

BASE = "https://demo.example"


def entries(body: bytes) -> dict[str, str]:
    rows = etree.fromstring(body)
    return {str(row[0].text): str(row[1].text) for row in rows}


def child(shop: Shop, number: int, frozen: str | None = None) -> dict[str, str]:
    return entries(gzip.decompress(sitemaps.child(shop, BASE, number, View(frozen_lastmod=frozen))))


def test_the_children_of_the_index_name_every_product_once() -> None:
    shop = Shop(ShopOptions(products=45, seed=3, sitemap_size=20))
    index = list(entries(sitemaps.index(shop, BASE)))
    assert index == [f"{BASE}/sitemaps/products-{number}.xml.gz" for number in (1, 2, 3)]
    found = {url: lastmod for number in (1, 2, 3) for url, lastmod in child(shop, number).items()}
    assert found == {BASE + p.path: datetime.fromtimestamp(p.modified_s, UTC).isoformat() for p in shop.products()}


def test_lastmod_moves_for_changed_products_and_their_children_alone() -> None:
    shop = Shop(ShopOptions(products=400, seed=3, sitemap_size=10))
    index, rows = entries(sitemaps.index(shop, BASE)), [child(shop, number) for number in range(1, 41)]
    changes = advance(shop, Step(changed=3, vanished=1))
    now = datetime.fromtimestamp(shop.now_s, UTC).isoformat()
    after = entries(sitemaps.index(shop, BASE))
    touched = {f"{BASE}/sitemaps/products-{(change.id - 1) // 10 + 1}.xml.gz" for change in changes}
    assert {url for url in after if after[url] != index[url]} == touched
    moved = {
        url: lastmod
        for number, before in enumerate(rows, 1)
        for url, lastmod in child(shop, number).items()
        if before[url] != lastmod
    }
    assert moved == {BASE + change.path: now for change in changes if change.kind != "vanished"}


def test_frozen_lastmod_hides_changes() -> None:
    shop = Shop(ShopOptions(products=10, seed=3))
    before = child(shop, 1)
    change, *others = advance(shop, Step(changed=4))
    assert child(shop, 1) != before
    assert child(shop, 1, frozen=".*") == before
    after = child(shop, 1, frozen=f"{change.path}$")
    assert {url for url in after if after[url] != before[url]} == {BASE + other.path for other in others}


def test_robots_names_the_sitemap_and_sets_no_delay_unless_told() -> None:
    text = sitemaps.robots(Shop(ShopOptions()), BASE).decode()
    assert f"Sitemap: {BASE}/sitemap.xml" in text
    assert "Disallow: /cart" in text
    assert "Crawl-delay" not in text
    assert "Crawl-delay: 7" in sitemaps.robots(Shop(ShopOptions(crawl_delay_s=7)), BASE).decode()


def test_an_unlisted_product_is_in_no_sitemap() -> None:
    shop = Shop(ShopOptions(products=30))
    first, *others = child(shop, 1)
    path = first.removeprefix(BASE)
    left = gzip.decompress(sitemaps.child(shop, BASE, 1, View(unlisted=f"^{path}$")))
    assert list(entries(left)) == others
