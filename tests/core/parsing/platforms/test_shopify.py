"""What of Shopify's objects becomes which field."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storebot.core.parsing.platforms import shopify
from storebot.exceptions import UnreadableFeed
from storebot.items import Extracted

BASE = "https://shop.example/en"
URL = f"{BASE}/products/mug"
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=12), inner, max_size=4),
    max_leaves=20,
)
NAMES = ("id", "title", "handle", "variants", "options", "images", "price", "featured_image", "option1", "body_html")
NODES = st.dictionaries(st.sampled_from(NAMES), JSON)


def one(variant: dict[str, Any], **product: Any) -> Extracted:
    """Return the record of a product with one variant."""
    node = {"id": 1, "title": "Mug", "handle": "mug", "variants": [variant], **product}
    (found,) = shopify.read_product(node, URL, "EUR")
    return found


def test_addresses_are_put_behind_the_address_of_the_shop() -> None:
    assert shopify.listing_template(BASE) == f"{BASE}/products.json?limit=250&page={{page}}"
    assert shopify.metadata_url(BASE) == f"{BASE}/meta.json"
    body = json.dumps({"products": [{"handle": "täße?", "title": "x"}, {"title": "lost"}]}).encode()
    carried = shopify.read_listing(body, BASE)
    assert ([product.url for product in carried.products], carried.lost) == ([f"{BASE}/products/t%C3%A4%C3%9Fe%3F"], 1)


@pytest.mark.parametrize(
    ("price", "expected"),
    [("249.99", "249.99"), (24999, "249.99"), (500, "5.00"), ("500", "500"), ({"amount": "9.5"}, "9.5"), (None, None)],
)
def test_a_number_is_in_cents_and_a_text_is_decimal(price: object, expected: str | None) -> None:
    """Case V06."""
    assert one({"id": 9, "price": price}).values.get("price") == expected


def test_the_only_variant_of_a_product_without_options_has_none() -> None:
    found = one({"id": 9, "price": "1.00", "option1": "Default Title"}, options=[{"name": "Title"}])
    assert "options" not in found.values
    assert "item_group_id" not in found.values
    assert (found.values["variant_id"], found.values["url"]) == ("9", URL)


def test_variants_have_their_options_by_name_their_own_address_and_price() -> None:
    """Case A05: price and regular price are those of one variant."""
    small = {"id": 1, "option1": "S", "option2": "Red", "price": "89.00", "compare_at_price": None, "available": True}
    large = {"id": 2, "option1": "L", "option2": "Red", "price": "399.00", "compare_at_price": "445.00"}
    node = {"id": 7, "title": "Tee", "variants": [small, large], "options": [{"name": "Size"}, "Color"]}
    first, second = (found.values for found in shopify.read_product(node, URL, "EUR"))
    assert (first["price"], first.get("regular_price"), first["availability"]) == ("89.00", None, "InStock")
    assert (second["price"], second["regular_price"], second.get("availability")) == ("399.00", "445.00", None)
    assert first["options"] == {"Size": "S", "Color": "Red"}
    assert (second["url"], second["item_group_id"]) == (f"{URL}?variant=2", "7")


def test_a_description_escaped_once_too_often_is_text() -> None:
    found = one({"id": 9}, body_html="<p>&lt;p&gt;Kid's &amp;amp; co&lt;/p&gt;</p><script>x()</script><p>2 < 3</p>")
    assert found.values["description"] == "Kid's & co 2 < 3"


def test_what_a_shop_says_of_itself_has_its_currency_and_its_size() -> None:
    assert shopify.read_metadata(b'{"currency":"INR","published_products_count":620}') == ("INR", 620)
    assert shopify.read_metadata(b'{"myshopify_domain":"x"}') == (None, None)
    for wrong in (b"{}", b"[]", b"<html></html>", b""):
        with pytest.raises(UnreadableFeed):
            shopify.read_metadata(wrong)


def test_any_page_names_the_currency_in_its_scripts() -> None:
    assert shopify.currency_in_page(b'<script>Shopify.currency = {"active":"SEK","rate":"1.0"};</script>') == "SEK"
    assert shopify.currency_in_page(b"<script>Shopify.shop = 1</script>") is None


@pytest.mark.parametrize(
    ("body", "listed"),
    [
        (b'{"products":[]}', True),
        (b'{"products":[{"handle":"x"}]}', True),
        (b'{"products":[{"name":"x"}]}', False),
        (b'{"products":null}', False),
        (b"[]", False),
        (b"<html>", False),
        (b"[" * 100_000, False),
    ],
)
def test_a_listing_is_known_by_its_handles(body: bytes, listed: bool) -> None:
    assert shopify.is_listing(body) is listed


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"", "it is empty, not JSON"),
        (b"<!DOCTYPE html><title> Opening\nsoon </title>", "it is an HTML page titled 'Opening soon', not JSON"),
        (b'{"errors":"Not Found"}', "without a list of products"),
        (b'{"products":[1,2]}', "without a list of products"),
        (b'{"a":' * 100_000, "nested too deeply"),
    ],
)
def test_what_is_no_listing_is_named_and_never_taken_for_an_empty_one(body: bytes, said: str) -> None:
    with pytest.raises(UnreadableFeed, match=said):
        shopify.read_listing(body, BASE)


@given(NODES, st.lists(NODES, max_size=3))
def test_any_values_make_a_record_or_none(product: dict[str, Any], variants: list[dict[str, Any]]) -> None:
    body = json.dumps({"products": [{"handle": "x", **product, "variants": variants}]}).encode()
    carried = shopify.read_listing(body, BASE, "EUR")
    assert len(carried.products) + carried.lost == 1
