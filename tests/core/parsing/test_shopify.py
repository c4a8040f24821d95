"""Shopify's product JSON in a page: hundredths, options, stock, and which product is the page's own."""

from __future__ import annotations

import json
from typing import Any

import pytest

from storebot.core.page import Page
from storebot.core.parsing import shopify
from storebot.core.parsing.reading import read_product
from storebot.core.parsing.rules import ProductRules
from storebot.core.parsing.schemaorg import Found
from tests.core.parsing.pages import page, product, script

URL = "https://shop.example/products/drill"
ANALYTICS = "<script>window.ShopifyAnalytics.meta.currency = 'EUR';\nvar meta = {};\nfor (var a in meta) {{}}</script>"


def variant(number: int, **fields: Any) -> dict[str, Any]:
    return {"id": number, "title": f"V{number}", "price": 10999, "available": True, "sku": None, **fields}


def theme(*variants: dict[str, Any], identity: int = 7, handle: str = "drill", **fields: Any) -> str:
    data = {"id": identity, "title": "Drill", "handle": handle, "vendor": "Acme", "variants": variants, **fields}
    return f'<script type="application/json" data-product-json>{json.dumps(data)}</script>'


def meta(*variants: dict[str, Any], identity: int = 7) -> str:
    return ANALYTICS.format(json.dumps({"product": {"id": identity, "variants": variants}}))


def read(body: str, url: str = URL) -> Found:
    return shopify.read(page(body, url=url))


def test_every_variant_is_a_record_with_its_options_price_and_stock() -> None:
    small = variant(1, option1="S", option2="Red", sku="D-S", barcode="4006381333931", compare_at_price=14999)
    large = variant(2, option1="L", option2="Red", sku="D-L", available=False, price=12000)
    records = read(meta(small, large) + theme(small, large, options=["Size", "Color"])).records
    assert records == [
        {
            "price": "120.00",
            "currency": "EUR",
            "availability": "OutOfStock",
            "sku": "D-L",
            "options": {"Size": "L", "Color": "Red"},
            "url": f"{URL}?variant=2",
            "item_group_id": "7",
            "variant_id": "D-L",
            "name": "Drill",
            "brand": "Acme",
        },
        {
            "price": "109.99",
            "regular_price": "149.99",
            "currency": "EUR",
            "availability": "InStock",
            "sku": "D-S",
            "gtin": "4006381333931",
            "options": {"Size": "S", "Color": "Red"},
            "url": f"{URL}?variant=1",
            "item_group_id": "7",
            "variant_id": "D-S",
            "name": "Drill",
            "brand": "Acme",
        },
    ]


def test_variants_without_codes_are_known_by_the_number_that_their_address_has() -> None:
    assert [record["variant_id"] for record in read(meta(variant(11), variant(12))).records] == ["11", "12"]


def test_the_only_variant_is_the_product_itself() -> None:
    (record,) = read(meta(variant(1)) + theme(variant(1, option1="Default Title"), options=["Title"])).records
    assert {"variant_id", "options", "url"} & record.keys() == set()
    assert record["price"] == "109.99"


def test_the_price_before_a_discount_counts_only_above_the_price() -> None:
    for before in (0, None, 10999, 5000):
        (record,) = read(meta(variant(1)) + theme(variant(1, compare_at_price=before))).records
        assert "regular_price" not in record


@pytest.mark.parametrize(
    ("price", "amount"), [(10999, "109.99"), ("10999", "109.99"), ("109.99", "109.99"), (5, "0.05")]
)
def test_whole_numbers_are_hundredths(price: object, amount: str) -> None:
    (record,) = read(meta(variant(1, price=price))).records
    assert record["price"] == amount


@pytest.mark.parametrize("price", [0, None, "", "free", "NaN", -5, True])
def test_what_is_no_price_gives_none(price: object) -> None:
    assert "price" not in read(meta(variant(1, price=price, sku="A"))).records[0]


def test_the_currency_is_the_one_that_the_visitor_is_shown() -> None:
    (record,) = read(meta(variant(1)) + '<script>Shopify.currency = {"active":"USD","rate":"1.1"};</script>').records
    assert record["currency"] == "USD"


def test_the_product_of_a_tile_is_not_the_pages_own() -> None:
    tile = theme(variant(9, price=500, option1="S"), identity=8, handle="tile", options=["Size"])
    body = tile + meta(variant(1), variant(2)) + theme(variant(1), variant(2))
    assert {record["price"] for record in read(body).records} == {"109.99"}
    bare = "<script>ShopifyAnalytics</script>"
    assert read(bare + tile).records == []
    assert [record["price"] for record in read(bare + theme(variant(1))).records] == ["109.99"]


def test_a_script_that_a_formatter_rewrote_is_read_too() -> None:
    body = '<script>window.ShopifyAnalytics.meta.currency = "USD"; var meta = {\n product: {\n id: 7, // own\n'
    body += "  variants: [ { id: 1, price: 4798, name: \"It's {new}\", sku: 'B-2' }, ],\n }, };\n for (;;) {}</script>"
    (record,) = read(body).records
    assert (record["price"], record["sku"], record["currency"]) == ("47.98", "B-2", "USD")


def test_scripts_that_cannot_be_read_are_told() -> None:
    found = read('<script>ShopifyAnalytics; var meta = {"product": {"id": 1,</script><p>')
    assert [problem.field for problem in found.problems] == ["shopify"]
    broken = '<script>ShopifyAnalytics</script><script type="application/json" id="ProductJson-x">{"id": </script>'
    assert [problem.field for problem in read(broken).problems] == ["shopify"]


def test_no_tree_is_built_and_other_shops_cost_one_look() -> None:
    theirs = page(meta(variant(1)) + theme(variant(1)), url=URL)
    assert shopify.read(theirs).records
    assert not theirs.has_tree
    assert read('<script>var meta = {"product": {"id": 1, "variants": [{"price": 5}]}}</script>').records == []


def test_variants_of_the_scripts_are_the_listings_where_json_ld_has_one_offer() -> None:
    data = product(sku="D-S", offers={"@type": "Offer", "price": "109.99", "priceCurrency": "EUR"})
    small, large = variant(1, option1="S", sku="D-S"), variant(2, option1="L", sku="D-L", price=12000)
    body = meta(small, large) + theme(small, large, options=["Size"])
    reading = read_product(Page(url=URL, body=(script(data) + body).encode()), ProductRules())
    assert [(one.values["variant_id"], one.values["price"]) for one in reading.extracted] == [
        ("D-L", "120.00"),
        ("D-S", "109.99"),
    ]
    assert {one.sources["name"] for one in reading.extracted} == {"jsonld"}
    assert reading.extracted[1].values["options"] == {"Size": "S"}
    assert [one.disagreements for one in reading.extracted] == [(), ()]


@pytest.mark.parametrize("price", ["1e999999", "1e999999999999", "1e-999999", "NaN", "Infinity", "sNaN"])
def test_an_amount_beyond_all_prices_is_none(price: str) -> None:
    found = read(meta(variant(1, price=price), variant(2)) + theme(variant(1, price=price), variant(2)))
    assert not any(price in str(record.get("price")) for record in found.records)


def test_a_handle_that_is_no_text_is_nobodys() -> None:
    data = json.dumps({"id": 7, "handle": {"drill": ["drill"]}, "variants": [variant(1)]})
    body = f"<script>ShopifyAnalytics</script><script data-product-json>{data}</script>"
    assert read(body).records == []
