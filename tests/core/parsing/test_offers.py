"""Offers: which are real, which are variants, which price is the price."""

from __future__ import annotations

from typing import Any

import pytest

from storebot.core.availability import read_availability
from storebot.items import Availability
from tests.core.parsing.pages import offers, only, product, read


def prices(*records: dict[str, Any]) -> dict[str, Any]:
    values = only(read(product(offers=offers(*records)))).values
    return {name: values[name] for name in ("price", "regular_price", "price_min", "price_max") if name in values}


def test_empty_offers_do_not_beat_the_real_one_x07() -> None:
    assert prices({"price": ""}, {"price": None}, {"price": "24.90"}) == {"price": "24.90"}
    assert prices({"price": "0"}, {"price": "24.90"}, {"price": 0}) == {"price": "24.90"}


def test_a_zero_that_is_all_there_is_stays_as_found() -> None:
    assert prices({"price": "0.00"}) == {"price": "0.00"}


def test_low_and_high_are_a_range_not_a_price_x08() -> None:
    assert prices({"lowPrice": "$1,250", "highPrice": "$1495"}) == {"price_min": "$1,250", "price_max": "$1495"}
    assert prices({"@type": "AggregateOffer", "lowPrice": "8.00"}) == {"price_min": "8.00"}


def test_a_range_of_one_price_is_a_price_x08() -> None:
    assert prices({"lowPrice": "8.00", "highPrice": 8})["price"] == "8.00"


def test_offers_inside_an_aggregate_are_read() -> None:
    inner = [{"price": "5", "sku": "S"}, {"price": "6", "sku": "T"}]
    reading = read(product(offers={"@type": "AggregateOffer", "lowPrice": 5, "priceCurrency": "EUR", "offers": inner}))
    assert [e.values["price"] for e in reading.extracted] == ["5", "6"]
    assert {e.values["currency"] for e in reading.extracted} == {"EUR"}


def test_different_prices_that_nothing_tells_apart_are_a_range() -> None:
    assert prices({"price": "12"}, {"price": "9"}, {"price": "100"}) == {"price_min": "9", "price_max": "100"}


def test_equal_prices_are_one_and_stock_anywhere_is_stock() -> None:
    records = (
        {"price": "9", "availability": "OutOfStock"},
        {"price": "9.00", "availability": "https://schema.org/InStock"},
    )
    values = only(read(product(offers=offers(*records)))).values
    assert (values["price"], values["availability"]) == ("9", "https://schema.org/InStock")


def test_prices_in_two_currencies_are_no_price() -> None:
    assert prices({"price": "9"}, {"price": "9", "priceCurrency": "USD"}) == {}


def test_open_box_and_used_offers_yield_to_new_ones_x05() -> None:
    new = {"price": "249.99", "sku": "N", "itemCondition": "https://schema.org/NewCondition"}
    used = {"price": "199.99", "sku": "O", "itemCondition": "https://schema.org/RefurbishedCondition"}
    assert prices(used, new) == {"price": "249.99"}


@pytest.mark.parametrize(
    ("specs", "expected"),
    [
        ({"price": 19.5, "priceCurrency": "CHF"}, {"price": "19.5"}),
        (
            [{"price": "8"}, {"price": "10", "priceType": "https://schema.org/StrikethroughPrice"}],
            {"price": "8", "regular_price": "10"},
        ),
        ([{"price": "10", "priceType": "ListPrice"}, {"price": "8"}], {"price": "8", "regular_price": "10"}),
        ([{"price": "8"}, {"price": "2", "referenceQuantity": {"value": 100}}], {"price": "8"}),
        ([{"price": "8"}, {"price": "7", "validForMemberTier": {"name": "Club"}}], {"price": "8"}),
        ({"minPrice": 5, "maxPrice": 9}, {"price_min": "5", "price_max": "9"}),
    ],
)
def test_price_specifications(specs: Any, expected: dict[str, str]) -> None:
    assert prices({"priceSpecification": specs}) == expected


def variants(*records: dict[str, Any]) -> dict[str, Any]:
    reading = read(product(offers=offers(*records)))
    return {str(e.values["variant_id"]): e.values["price"] for e in reading.extracted}


def test_variants_are_known_by_sku_then_url_then_options() -> None:
    assert variants({"sku": "S", "price": 1}, {"sku": "M", "price": 2}) == {"S": "1", "M": "2"}
    urls = [{"url": f"/p/a1?variant={n}&lang=en", "sku": "same", "price": n} for n in (41, 42)]
    assert variants(*urls) == {"41": "41", "42": "42"}
    named = [{"itemOffered": {"size": size, "color": "red"}, "price": 3} for size in ("S", "M")]
    assert set(variants(*named)) == {"color=red|size=S", "color=red|size=M"}
    paths = [{"url": f"/p/a1/{color}", "price": 3} for color in ("red", "blue")]
    assert set(variants(*paths)) == {"p/a1/red", "p/a1/blue"}


def test_order_and_generated_ids_do_not_change_identities_a06() -> None:
    first = [{"sku": s, "price": 5, "url": f"/p?variant={n}"} for s, n in (("S", 1), ("M", 2), ("L", 3))]
    second = [{"sku": s, "price": 5, "url": f"/p?variant={n}"} for s, n in (("L", 9), ("S", 7), ("M", 8))]
    ids = [[e.values["variant_id"] for e in read(product(offers=offers(*o))).extracted] for o in (first, second)]
    assert ids[0] == ids[1] == ["L", "M", "S"]


def test_a_list_price_stays_with_its_own_variant_a05() -> None:
    multipack = [{"price": "399"}, {"price": "445", "priceType": "ListPrice"}]
    reading = read(
        product(offers=offers({"sku": "125g", "price": "89"}, {"sku": "5x125g", "priceSpecification": multipack}))
    )
    pairs = {str(e.values["sku"]): (e.values["price"], e.values.get("regular_price")) for e in reading.extracted}
    assert pairs == {"125g": ("89", None), "5x125g": ("399", "445")}


def test_a_variant_without_a_price_is_still_a_variant() -> None:
    reading = read(product(offers=offers({"sku": "S", "price": "5"}, {"sku": "M", "availability": "SoldOut"})))
    assert [(e.values["sku"], e.values.get("price")) for e in reading.extracted] == [("M", None), ("S", "5")]


def test_a_product_group_gives_its_variants_with_their_options() -> None:
    group = {
        "@type": "ProductGroup",
        "name": "Shirt",
        "productGroupID": "G1",
        "brand": "Acme",
        "variesBy": ["https://schema.org/size"],
        "hasVariant": [
            product(name="Shirt S", sku="S1", size="S", color="red"),
            product(name="Shirt M", sku="M1", size="M", color="red"),
            {"@type": "Product", "url": "/p/other"},
        ],
    }
    found = read(group).extracted
    assert [(e.values["variant_id"], e.values["name"], e.values["options"]) for e in found] == [
        ("M1", "Shirt M", {"size": "M"}),
        ("S1", "Shirt S", {"size": "S"}),
    ]
    assert {(str(e.values["item_group_id"]), str(e.values["brand"])) for e in found} == {("G1", "Acme")}


def test_a_list_of_products_of_one_name_and_place_is_variants() -> None:
    place = {"url": "https://shop.example/p/a1"}
    nodes = [product(sku=f"S{n}", offers=offers({"price": 99, **place})[0]) for n in (2, 1)]
    assert [e.values["variant_id"] for e in read(nodes).extracted] == ["S1", "S2"]


@pytest.mark.parametrize("nothing", ["false", "False", "n/a", "-", "", None, "null", "NaN", False])
def test_what_stands_for_nothing_is_no_price(nothing: Any) -> None:
    offer = {"@type": "Offer", "price": nothing, "priceCurrency": "EUR", "availability": "OutOfStock"}
    found = only(read(product(offers=offer)))
    assert "price" not in found.values
    assert found.values["availability"] == "OutOfStock"


@pytest.mark.parametrize("terms", [["http://schema.org/InStock"], ["InStock", "OnlineOnly"], {"@id": "schema:InStock"}])
def test_an_availability_may_be_a_list_or_an_object(terms: Any) -> None:
    found = only(read(product(offers={"price": "5", "priceCurrency": "EUR", "availability": terms})))
    assert read_availability(str(found.values["availability"])) is Availability.IN_STOCK
