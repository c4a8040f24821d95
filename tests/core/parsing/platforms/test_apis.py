"""Answers of real shops' interfaces, against their goldens.

Argued exceptions: a free booklet's "0.00" is no price here, by DESIGN §5. And three files are no listing that a shop
publishes: the flattened export of a shop's own backend, the GraphQL nodes (which need a token) and the product object
of a page's script. They are read as product feeds are, or as the one product that they are.
"""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest

from storebot.core.normalise import Context, normalise
from storebot.core.parsing.platforms import shopify, woocommerce
from storebot.items import Extracted, Listing
from tests.shared_data import shared

BASE = "https://shop.example"
IN_STOCK = {"InStock": True, "OutOfStock": False, None: None}


def read(name: str) -> tuple[bytes, Any]:
    body = shared(f"apis/files/{name}").read_bytes()
    return body, json.loads(shared(f"apis/files/{name}.golden.json").read_text(encoding="utf-8"))


def normal(extracted: Extracted) -> Listing:
    listing, problems = normalise(extracted, Context(store="shop", url_key="k", url=BASE))
    assert all("is a placeholder" in problem.reason for problem in problems)
    return listing


def amount(text: str | None) -> int | None:
    """Return minor units; a price of nought is none (DESIGN §5): the goldens have what the shop's software wrote."""
    return int(Decimal(text) * 100) or None if text else None


@pytest.mark.parametrize("name", ["shopify-demo-products.json", "shopify-nilkamal-products.json"])
def test_a_shopify_listing_is_read_as_its_golden_says(name: str) -> None:
    body, golden = read(name)
    assert shopify.is_listing(body)
    carried = shopify.read_listing(body, BASE, "USD")
    assert (len(carried.products), carried.lost) == (golden["count"], 0)
    assert len(golden["products"]) == golden["count"]
    for product, expected in zip(carried.products, golden["products"], strict=True):
        assert product.url == f"{BASE}/products/{expected['handle']}"
        found = [normal(extracted) for extracted in product.extracted]
        assert {(one.name, one.brand) for one in found} == {(expected["title"], expected["vendor"])}
        assert [
            (one.variant_id, one.sku, one.price_minor, one.regular_price_minor, IN_STOCK[one.availability])
            for one in found
        ] == [
            (
                str(variant["id"]),
                variant["sku"],
                amount(variant["price"]),
                amount(variant["compare_at_price"]),
                variant["available"],
            )
            for variant in expected["variants"]
        ]


@pytest.mark.parametrize("name", ["woo-store-products-old.json", "woo-store-v1-products.json"])
def test_a_woocommerce_listing_is_read_as_its_golden_says(name: str) -> None:
    body, golden = read(name)
    assert woocommerce.is_listing(body)
    carried = woocommerce.read_listing(body)
    assert (len(carried.products), carried.lost) == (golden["count"], 0)
    for product, expected in zip(carried.products, golden["products"], strict=True):
        (extracted,) = product.extracted
        found = normal(extracted)
        assert product.url == expected["permalink"]
        assert found.product_id == str(expected["id"])
        assert found.name == " ".join(expected["name"].split())  # the golden keeps the shop's double space
        assert (found.price_minor, found.currency) == (amount(expected["price"]), expected["currency"])
        assert (found.sku, IN_STOCK[found.availability]) == (expected["sku"], expected["in_stock"])
        assert found.regular_price_minor is None


def test_a_flattened_export_is_read_by_product_with_its_variants() -> None:
    body, golden = read("shopify-export-skincare-cl.json")
    carried = shopify.read_listing(body, BASE, "CLP")
    found = [
        (product.url.rpartition("/")[2], one.name, one.price_minor, IN_STOCK[one.availability])
        for product in carried.products
        for one in map(normal, product.extracted)
    ]
    expected = [
        (row["handle"], " ".join(row["title"].split()), int(Decimal(row["price"])), row["available"])
        for row in golden["products"]
    ]
    assert sorted(found) == sorted(expected)
    assert len(found) == golden["count"]


def test_graphql_nodes_name_their_currency() -> None:
    body, golden = read("shopify-storefront-graphql.json")
    carried = shopify.read_listing(body, BASE)
    assert len(carried.products) == golden["count"]
    chocolate, mint = map(normal, carried.products[0].extracted)
    assert (chocolate.name, chocolate.variant_id) == ("Test Product", "48596441759969")
    assert (chocolate.price_minor, chocolate.currency, chocolate.availability) == (10000, "USD", "InStock")
    assert (chocolate.options, mint.options) == ({"Flavor": "Chocolate"}, {"Flavor": "Mint"})


def test_the_object_of_a_page_has_its_prices_in_cents() -> None:
    body, golden = read("shopify-inline-meta-sarman.json")
    (node,) = shopify.product_nodes(json.loads(body)) or []
    found = [normal(extracted) for extracted in shopify.read_product(node, BASE, "EUR")]
    assert [(one.variant_id, one.price_minor, one.sku) for one in found] == [
        (str(variant["id"]), variant["price_cents"], variant["sku"]) for variant in golden["variants"]
    ]
    assert {one.brand for one in found} == {golden["vendor"]}
    assert {one.name for one in found} == {"Alpha Male - Black Long Sleeve Sweatshirt for Men"}
    assert [one.options["Title"] for one in found] == ["XS", "S", "M", "L", "XL", "XXL", "XXXL"]


def test_nothing_of_one_platform_is_taken_for_the_other() -> None:
    for name in ("shopify-demo-products.json", "shopify-nilkamal-products.json"):
        assert not woocommerce.is_listing(shared(f"apis/files/{name}").read_bytes())
    for name in ("woo-store-products-old.json", "woo-store-v1-products.json"):
        assert not shopify.is_listing(shared(f"apis/files/{name}").read_bytes())
