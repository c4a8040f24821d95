"""Which links are product pages of the store."""

from __future__ import annotations

from pathlib import Path

import pytest

from storebot.items import Discovered
from storebot.spiders.found import product_pages
from storebot.stores import Store
from tests.stores.writing import read


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return read(
        tmp_path,
        'base_url = "https://shop.example"\nproduct_url = "/p/"\n[keys]\naliases = ["m.shop.example"]\n',
    )


def test_link_keeps_its_address_and_its_lastmod_beside_its_key(store: Store) -> None:
    assert product_pages(store, [("http://www.shop.example/p/Mug?utm_source=x", "2026-01-02")]) == (
        Discovered("http://www.shop.example/p/Mug?utm_source=x", "https://shop.example/p/Mug", "2026-01-02"),
    )


@pytest.mark.parametrize(
    "url",
    ["https://shop.example/about", "https://elsewhere.example/p/mug", "https://shop.example:99999/p/mug", "/p/mug"],
)
def test_other_links_are_no_product_pages(store: Store, url: str) -> None:
    assert product_pages(store, [(url, None)]) == ()


def test_page_that_is_linked_by_several_addresses_is_found_once(store: Store) -> None:
    links = ["https://shop.example/p/mug", "https://m.shop.example/p/mug#top", "https://shop.example/p/mug?gclid=1"]
    assert [one.url for one in product_pages(store, [(url, None) for url in links])] == links[:1]


def test_link_that_is_no_address_costs_the_others_nothing(store: Store) -> None:
    links = [("http://[bad/p/x", None), ("https://shop.example/p/a", None), ("https://shop.example/p/b", None)]
    assert [one.url_key for one in product_pages(store, links)] == [
        "https://shop.example/p/a",
        "https://shop.example/p/b",
    ]
