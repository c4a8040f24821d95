"""Changes in words."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from storebot.core.dashboard.field_changes import change_of, label, matches, moved, price, stock


def test_a_price_says_by_how_much_it_moved() -> None:
    (one,) = moved([{"field": "price_minor", "before": 1000, "after": 850}], "EUR")
    assert (one.label, one.before, one.after, one.direction, one.percent) == (
        "price",
        "10.00 EUR",
        "8.50 EUR",
        "down",
        Decimal("-15.0"),
    )


def test_amounts_of_two_currencies_are_not_compared() -> None:
    fields: list[dict[str, Any]] = [
        {"field": "price_minor", "before": 1000, "after": 1000},
        {"field": "currency", "before": "EUR", "after": "JPY"},
    ]
    first, _ = moved(fields, "EUR")
    assert (first.before, first.after, first.percent, first.direction) == ("10.00 EUR", "1,000 JPY", None, "")


def test_stock_has_a_direction_only_where_it_can_be_bought_or_no_longer() -> None:
    def way(before: str | None, after: str | None) -> str:
        return moved([{"field": "availability", "before": before, "after": after}], None)[0].direction

    assert way("OutOfStock", "InStock") == "up"
    assert way("LimitedAvailability", "Discontinued") == "down"
    assert way("InStock", "LimitedAvailability") == ""
    assert way("OutOfStock", "SoldOut") == ""


def test_what_is_looked_for_has_to_be_met_by_one_field() -> None:
    found = moved(
        [{"field": "price_minor", "before": 1000, "after": 850}, {"field": "name", "before": "a", "after": "b"}], "EUR"
    )
    assert matches(found, field="price_minor", direction="down", least=Decimal(15))
    assert not matches(found, field="price_minor", least=Decimal("15.1"))
    assert not matches(found, field="name", direction="down")
    assert matches(found)


def test_words_for_values_that_are_odd() -> None:
    assert change_of(0, 100) is None
    assert change_of(None, 100) is None
    assert price(5, "XXX") == "5 (minor units, of no known currency)"
    assert price(None, "EUR") == ""
    assert stock(None) == "not said"
    assert stock("OutOfStock") == "out of stock"
    assert label("item_group_id") == "item group id"
