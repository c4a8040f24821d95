"""What of the Store API's objects becomes which field."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storebot.core.parsing.platforms import woocommerce
from storebot.exceptions import UnreadableFeed
from tests.core.parsing.platforms.test_shopify import JSON

URL = "https://shop.example/product/mug/"
NAMES = ("id", "name", "permalink", "prices", "images", "categories", "attributes", "variations", "variation", "type")
NODES = st.dictionaries(st.sampled_from(NAMES), JSON)


def node(**values: Any) -> dict[str, Any]:
    prices = {"price": "2500", "regular_price": "2500", "currency_code": "EUR", "currency_minor_unit": 2}
    return {"id": 5, "name": "Mug", "permalink": URL, "prices": prices, "is_in_stock": True, **values}


def one(**values: Any) -> dict[str, Any]:
    (product,) = woocommerce.carried([node(**values)]).products
    (found,) = product.extracted
    return dict(found.values)


@pytest.mark.parametrize(
    ("price", "unit", "expected"),
    [("5500", 2, "55.00"), ("55", 0, "55"), ("12345", 3, "12.345"), ("5", 2, "0.05"), ("", 2, None), ("x", 2, "x")],
)
def test_minor_units_are_the_shops_own(price: str, unit: int, expected: str | None) -> None:
    """Case V06."""
    assert one(prices={"price": price, "currency_minor_unit": unit, "currency_code": "EUR"}).get("price") == expected


def test_a_range_of_prices_is_no_price_but_for_one_of_equal_ends() -> None:
    prices = {"price": "1000", "regular_price": "1000", "currency_code": "EUR", "currency_minor_unit": 2}
    ranged = one(prices={**prices, "price_range": {"min_amount": "1000", "max_amount": "2000"}})
    assert (ranged.get("price"), ranged["price_min"], ranged["price_max"]) == (None, "10.00", "20.00")
    equal = one(prices={**prices, "price_range": {"min_amount": "1000", "max_amount": "1000"}})
    assert (equal["price"], equal.get("price_min")) == ("10.00", None)


def test_a_sale_has_its_regular_price() -> None:
    prices = {"price": "900", "sale_price": "900", "regular_price": "1200", "currency_minor_unit": 2}
    assert (one(prices=prices)["price"], one(prices=prices)["regular_price"]) == ("9.00", "12.00")


def test_names_are_read_with_their_entities() -> None:
    found = one(name="Mug &#8211; &#8220;Blue&#8221; &amp; co", brands=[{"name": "Clay &amp; Sons"}])
    assert (found["name"], found["brand"]) == ("Mug – “Blue” & co", "Clay & Sons")


@pytest.mark.parametrize(
    ("stock", "expected"),
    [
        ({"is_in_stock": True}, "InStock"),
        ({"is_in_stock": False}, "OutOfStock"),
        ({"is_in_stock": True, "is_on_backorder": True}, "BackOrder"),
        ({"is_in_stock": None}, None),
        ({"is_in_stock": []}, None),
    ],
)
def test_stock_is_what_the_shop_says(stock: dict[str, Any], expected: str | None) -> None:
    assert one(**stock).get("availability") == expected


def test_the_category_is_the_deepest_with_those_above_it() -> None:
    root = "https://shop.example/product-category/"
    names = {"Red": "home/mugs/red/", "Home": "home/", "Sale": "sale/", "Mugs": "home/mugs/"}
    categories = [{"name": name, "link": root + path} for name, path in names.items()]
    assert one(categories=categories)["category_path"] == ["Home", "Mugs", "Red"]


def test_ratings_without_reviews_are_none() -> None:
    assert "rating_value" not in one(average_rating="0", review_count=0)
    rated = one(average_rating="4.50", review_count=2)
    assert (rated["rating_value"], rated["review_count"]) == ("4.50", "2")


def test_variations_take_the_names_of_their_options_from_the_product() -> None:
    parent = node(
        type="variable",
        attributes=[{"name": "Color", "terms": [{"name": "Deep &amp; Red", "slug": "deep-red"}]}],
        variations=[{"id": 6, "attributes": [{"name": "Color", "value": "deep-red"}]}, {"id": 7, "attributes": []}],
    )
    named = node(id=6, parent=5, sku="M-6", permalink=f"{URL}?attribute_pa_color=deep-red")
    told = node(id=7, parent=5, variation="Color: Blue, Size: 0,5 l")
    carried = woocommerce.carried([parent], woocommerce.by_parent([told, named]))
    first, second = (found.values for found in carried.products[0].extracted)
    assert (first["variant_id"], first["item_group_id"], first["sku"]) == ("6", "5", "M-6")
    assert (first["name"], first["options"]) == ("Mug", {"Color": "Deep & Red"})
    assert first["url"] == f"{URL}?attribute_pa_color=deep-red"
    assert second["options"] == {"Color": "Blue", "Size": "0,5 l"}


def test_a_product_whose_variations_are_not_given_has_no_record() -> None:
    """Case A01: what isn't known must not stand for "no variants"."""
    parent = node(type="variable", variations=[{"id": 6}])
    assert woocommerce.parents_of([parent, node()]) == ["5"]
    (unread,) = woocommerce.carried([parent], {}).products
    assert (unread.url, unread.extracted) == (URL, ())
    (alone,) = woocommerce.carried([parent]).products
    assert len(alone.extracted) == 1


def test_addresses_name_page_size_and_order() -> None:
    latest, older = woocommerce.listing_templates("https://shop.example/de")
    assert latest == (
        "https://shop.example/de/wp-json/wc/store/v1/products?per_page=100&page={page}&orderby=id&order=asc"
    )
    assert older.startswith("https://shop.example/de/wp-json/wc/store/products?")
    assert woocommerce.variations_url(latest.format(page=3), ["5", "9"], 2) == (
        "https://shop.example/de/wp-json/wc/store/v1/products"
        "?type=variation&parent=5,9&per_page=100&page=2&orderby=id&order=asc"
    )


@pytest.mark.parametrize(
    ("body", "past"),
    [
        (b'{"code":"rest_post_invalid_page_number"}', True),
        (b'{"code":"woocommerce_rest_invalid_page_number"}', True),
        (b'{"code":"rest_no_route"}', False),
        (b"[]", False),
        (b"<html>", False),
    ],
)
def test_an_answer_beyond_the_last_page_is_known_by_its_code(body: bytes, past: bool) -> None:
    assert woocommerce.is_past_the_end(body) is past


@pytest.mark.parametrize(
    ("body", "listed"), [(b"[]", True), (b'[{"id":1,"prices":{}}]', True), (b'[{"id":1}]', False), (b"{}", False)]
)
def test_a_listing_is_known_by_its_prices(body: bytes, listed: bool) -> None:
    assert woocommerce.is_listing(body) is listed


def test_an_error_is_no_listing() -> None:
    with pytest.raises(UnreadableFeed, match="not a list of products"):
        woocommerce.read_listing(b'{"code":"rest_no_route","data":{"status":404}}')


@given(NODES, st.lists(NODES, max_size=3))
def test_any_values_make_a_record_or_none(product: dict[str, Any], variations: list[dict[str, Any]]) -> None:
    nodes = woocommerce.read_nodes(json.dumps([{"id": 1, "prices": None, **product}]).encode())
    found = woocommerce.read_nodes(json.dumps([{"id": 2, "prices": None, **one} for one in variations]).encode())
    woocommerce.parents_of(nodes)
    for given_variations in (None, woocommerce.by_parent(found)):
        carried = woocommerce.carried(nodes, given_variations)
        assert len(carried.products) + carried.lost == len(nodes)


def test_a_category_whose_address_is_none_has_no_place() -> None:
    categories = [{"name": "A", "link": "https://["}, {"name": "B", "link": "https://shop.example/c/b/"}]
    assert one(categories=categories)["category_path"] == ["B"]


def test_an_amount_of_a_million_digits_stays_as_it_is() -> None:
    digits = "9" * 2_000_000
    assert one(prices={"price": digits, "currency_code": "EUR", "currency_minor_unit": 2})["price"] == digits


def test_a_product_of_too_many_variations_has_no_record_so_that_its_page_is_asked() -> None:
    variations: list[woocommerce.Node] = [{"id": number, "prices": {}} for number in range(2001)]
    (product,) = woocommerce.carried([node(variations=variations, type="variable")], {"5": variations}).products
    assert product.extracted == ()
