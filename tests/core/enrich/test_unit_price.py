"""The price of a kilogram, litre, metre or piece."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storebot.core.enrich.unit_price import UnitPrices, unit_price
from storebot.core.stage import Subject
from storebot.items import Listing


def listing(name: str, price_minor: int | None = 249, **fields: Any) -> Listing:
    return Listing(
        **{
            "store": "a",
            "url_key": "k",
            "url": "u",
            "name": name,
            "price_minor": price_minor,
            "currency": "EUR",
            **fields,
        }
    )


@pytest.mark.parametrize(
    ("name", "price_minor", "currency", "price", "exponent", "unit"),
    [
        ("Beans 300 g", 249, "EUR", 830, 2, "kg"),
        ("Beer 6 x 0,33 l", 599, "EUR", 303, 2, "l"),
        ("Screws 200 pcs", 250, "EUR", 125, 4, "piece"),
        ("Rice 5 kg", 2_980, "JPY", 596, 0, "kg"),
        ("Dates 500 g", 1_250, "KWD", 2_500, 3, "kg"),
        ("Cable 3 m", 1_000, "EUR", 333, 2, "m"),
    ],
)
def test_the_price_of_one_unit_has_the_decimals_of_its_currency_or_two_more(
    name: str, price_minor: int, currency: str, price: int, exponent: int, unit: str
) -> None:
    found = unit_price(listing(name, price_minor, currency=currency))
    assert found is not None
    assert (found.price, found.exponent, found.currency, found.amount.unit) == (price, exponent, currency, unit)


def test_options_of_a_variant_win_over_the_name_of_its_page() -> None:
    found = unit_price(listing("Coffee 250 g", 2_000, options={"Grind": "whole", "Weight": "1 kg"}))
    assert found is not None
    assert (found.price, found.read_from) == (2_000, "options")


def test_what_the_description_labels_is_read_and_the_rest_of_it_is_not() -> None:
    said = "100 g contain 20 g of sugar. Net weight: 400 g."
    found = unit_price(listing("Jam", 400, description=said))
    assert found is not None
    assert (found.price, found.read_from) == (1_000, "description")
    assert unit_price(listing("Jam", 400, description="100 g contain 20 g of sugar")) is None


def test_name_and_label_that_differ_are_ambiguous() -> None:
    assert unit_price(listing("Beer 6 x 0.33 l", description="Contents: 0.33 l")) is None
    assert unit_price(listing("Beer 0.33 l", description="Contents: 330 ml")) is not None


@pytest.mark.parametrize("fields", [{"price_minor": None}, {"currency": None}, {"currency": "XXX"}, {"price_minor": 0}])
def test_without_a_price_there_is_none(fields: dict[str, Any]) -> None:
    assert unit_price(listing("Beans 300 g", **fields)) is None


def test_the_kettle_has_none() -> None:
    assert unit_price(listing("Aria 1.7 l", category_path=("Kitchen", "Kettles"))) is None


def test_the_number_of_the_stage_is_in_minor_units_whatever_the_exponent() -> None:
    said = UnitPrices().derive(Subject(id=1, page_id=1, listing=listing("Screws 200 pcs", 250)))
    assert said.number == 1  # 1.25 cents
    assert said.facts == {
        "price": 125,
        "exponent": 4,
        "currency": "EUR",
        "per": "piece",
        "quantity": "200",
        "read_from": "name",
    }
    assert UnitPrices().derive(Subject(id=1, page_id=1, listing=listing("Anvil"))).facts == {}


@given(st.integers(1, 2**63 - 1), st.integers(1, 99_999), st.sampled_from(["g", "kg", "ml", "l", "pcs"]))
def test_no_price_is_beyond_what_a_row_holds_and_none_is_off_by_more_than_its_rounding(
    price_minor: int, size: int, unit: str
) -> None:
    found = unit_price(listing(f"Thing {size} {unit}", price_minor))
    if found is None:
        return
    assert 1 <= found.price < 2**63
    exact = price_minor / found.amount.quantity * 10 ** (found.exponent - 2)
    assert abs(found.price - exact) <= exact / 10**15 + 1
