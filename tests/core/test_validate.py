"""Which listings are refused, and which odd ones are right."""

from __future__ import annotations

from typing import Any

import pytest

from storebot.core.parsing.rules import ProductRules, compile_rule
from storebot.core.validate import validate
from storebot.items import Availability, Listing, Problem


def listing(**fields: Any) -> Listing:
    return Listing(store="s", url_key="k", url="https://s.example/", **{"name": "A", **fields})


def refused(found: Listing, *required: str, problems: tuple[Problem, ...] = ()) -> list[str]:
    return [problem.field for problem in validate(found, required, problems)]


def test_a_listing_with_a_name_and_a_price_is_right() -> None:
    assert refused(listing(price_minor=100, currency="EUR"), "name", "price", "currency") == []


@pytest.mark.parametrize("name", [None, ""])
def test_a_listing_without_a_name_is_refused(name: str | None) -> None:
    assert refused(listing(name=name)) == ["name"]
    assert refused(listing(name=name), "name") == ["name"]


def test_a_price_that_was_found_and_cannot_be_read_is_refused_with_its_reason() -> None:
    why = Problem("price", "'3.350' can be read in two ways")
    assert validate(listing(field_source={"price": "css:.p"}), (), (why,)) == (why,)
    assert refused(listing(field_source={"price": "css:.p"})) == ["price"]


def test_a_price_without_a_currency_is_refused() -> None:
    assert refused(listing(price_minor=100)) == ["currency"]
    assert refused(listing(price_max_minor=100)) == ["currency"]


def test_out_of_stock_without_a_price_is_right_even_where_a_price_is_required() -> None:  # L04
    assert refused(listing(availability=Availability.OUT_OF_STOCK), "price", "currency") == []
    assert refused(listing(availability=Availability.IN_STOCK), "price", "currency") == ["price", "currency"]


def test_a_shop_without_prices_is_right_unless_it_requires_them() -> None:
    assert refused(listing()) == []
    assert refused(listing(), "price") == ["price"]


def test_a_range_counts_as_a_price() -> None:
    assert refused(listing(price_min_minor=100, currency="EUR"), "price") == []


@pytest.mark.parametrize(
    "name", ["brand", "gtin", "images", "category_path", "options", "regular_price", "availability"]
)
def test_any_field_can_be_required(name: str) -> None:
    assert refused(listing(), name) == [name]


def test_a_missing_field_says_what_was_found_instead() -> None:
    (problem,) = validate(listing(), ("gtin",), (Problem("gtin", "'12' isn't a GTIN"),))
    assert "'12' isn't a GTIN" in problem.reason


def test_refusal_says_which_selectors_were_tried() -> None:
    rules = ProductRules(
        fields={"price": (compile_rule(".now"), compile_rule("xpath://b")), "name": (compile_rule("h1"),)}
    )
    (name, price) = validate(listing(name=None), ("name", "price"), (), rules)
    assert name == ("name", "the page yields no name (tried css:h1)")
    assert price == ("price", "the store requires it, and the page yields none (tried css:.now, xpath://b)")
    assert validate(listing(), ("sku",), (), rules) == (("sku", "the store requires it, and the page yields none"),)
