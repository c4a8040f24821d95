"""What holds have in common."""

from __future__ import annotations

from storebot.core.dashboard.held import bin_names, bin_of, common, moves
from storebot.core.gate_facts import bucket


def test_holds_are_added_up_by_ratio_lost_field_and_currency() -> None:
    found = common(
        [
            {"kind": "changed", "ratio": bucket(100, 1)},
            {"kind": "changed", "lost": ["price_minor", "brand"]},
            {"kind": "changed", "lost": ["brand"], "currency": "GBP to EUR"},
        ]
    )
    assert (found.holds, found.moved, found.kinds["changed"]) == (3, 1, 3)
    assert found.lost["brand"] == 2
    assert found.currencies["GBP to EUR"] == 1


def test_each_ratio_has_one_bin() -> None:
    names = bin_names()
    for ratio in (0.0, 0.001, 0.5, 0.99, 1.0, 1.01, 3, 100, 10_000):
        assert 0 <= bin_of(ratio) < len(names)
    assert bin_of(100) > bin_of(1) > bin_of(0.01)


def test_fields_are_shown_with_the_currency_that_each_side_has() -> None:
    fields = [
        {
            "variant_id": "",
            "type": "changed",
            "fields": [
                {"field": "price_minor", "before": 1000, "after": 100000},
                {"field": "currency", "before": "EUR", "after": "JPY"},
                {"field": "name", "before": None, "after": "<b>"},
            ],
        }
    ]
    found = {one.field: (one.before, one.after) for one in moves(fields, {"": "EUR"})}
    assert found["price"] == ("10.00 EUR", "100000 JPY")
    assert found["name"] == (None, "<b>")
