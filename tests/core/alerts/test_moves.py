"""What moved on the whole, of changes one after another."""

from __future__ import annotations

from typing import Any

import pytest

from storebot.core.alerts.moves import Change, Event, moves


def change(seq: int = 1, type: str = "changed", key: str = "https://shop.example/p/1", **values: Any) -> Change:
    """Return a change; ``price=(before, after)`` and ``stock`` are its fields."""
    names = {"price": "price_minor", "stock": "availability", "condition": "condition", "currency_moved": "currency"}
    fields = [
        {"field": names[name], "before": values[name][0], "after": values[name][1]} for name in names if name in values
    ]
    rest = {name: value for name, value in values.items() if name not in names}
    told = {"name": "Anvil", "brand": "ACME", "price_minor": values.get("price", (0, 9900))[1], "currency": "EUR"}
    return Change(
        seq=seq, type=type, store="acme", url_key=key, fields=fields, at=seq, **{"variant_id": "", **told, **rest}
    )


@pytest.mark.parametrize(
    ("changes", "event", "sentence"),
    [
        ([change(price=(12900, 9900))], Event.PRICE_DROP, "price 129.00 EUR → 99.00 EUR (-23.3%)"),
        (
            [change(price=(12900, 9900)), change(price=(9900, 13500))],
            Event.PRICE_RISE,
            "price 129.00 EUR → 135.00 EUR (+4.7%)",
        ),
        (
            [change(stock=("OutOfStock", "InStock"))],
            Event.BACK_IN_STOCK,
            "back in stock (OutOfStock → InStock), 99.00 EUR",
        ),
        ([change(stock=("InStock", "SoldOut"))], Event.OUT_OF_STOCK, "out of stock (InStock → SoldOut), 99.00 EUR"),
        ([change(type="new")], Event.NEW, "new, 99.00 EUR"),
        ([change(type="delisted", currency=None, price_minor=None)], Event.GONE, "gone, it was without a price"),
        ([change(type="relisted")], Event.RELISTED, "back on sale, 99.00 EUR"),
        ([change(price=(500, 450), currency="JPY")], Event.PRICE_DROP, "price 500 JPY → 450 JPY (-10.0%)"),
    ],
)
def test_changes_of_one_thing_are_one_move_from_before_the_first_to_after_the_last(
    changes: list[Change], event: Event, sentence: str
) -> None:
    (move,) = moves(changes)
    assert (move.event, move.sentence()) == (event, sentence)


@pytest.mark.parametrize(
    "changes",
    [
        [change(1, stock=("InStock", "OutOfStock")), change(2, stock=("OutOfStock", "InStock"))],
        [change(1, price=(5, 6)), change(2, price=(6, 7)), change(3, price=(7, 5))],
        [change(1, type="new"), change(2, type="delisted")],
        [change(type="corrected", price=(1, 2))],
        [change(price=(24900, 1500), condition=("NewCondition", "UsedCondition"))],  # case N06
        [change(price=(100, 200), currency_moved=("EUR", "USD"))],
        [change(price=(None, 200))],
    ],
)
def test_what_went_back_or_is_of_another_offer_is_no_move(changes: list[Change]) -> None:
    assert moves(changes) == []


def test_stock_words_that_mean_the_same_are_no_event() -> None:
    (move,) = moves([change(stock=("InStock", "LimitedAvailability"))])
    assert move.event is None


def test_things_of_one_listing_and_listings_stay_apart() -> None:
    found = moves(
        [
            change(price=(2, 1), stock=("OutOfStock", "InStock")),
            change(key="b", price=(2, 1)),
            change(key="c", price=(2, 1), variant_id="x"),
        ]
    )
    assert len({move.subject for move in found}) == 4
