"""Case W04: what keeps the place of a value is never taken for the value."""

from __future__ import annotations

import pytest

from storebot.core.placeholders import is_placeholder


@pytest.mark.parametrize(
    "text",
    [
        "",
        " \n\u00a0",
        "…",
        "--",
        "€ --",
        "$0.00",
        "0,00 €",
        "EUR 0.00",
        "from $0.00",
        "0 kr",
        "£0",
        "0.00",
        "Loading…",
        "Loading price...",
        "Wird geladen",
        "Chargement…",
        "読み込み中",
        "{{ product.price }}",
        "${price}",
        "$NaN",
        "undefined €",
        "null EUR",
        "[object Object]",
    ],
)
def test_what_keeps_a_place_is_no_value(text: str) -> None:
    assert is_placeholder(text)


@pytest.mark.parametrize(
    "text",
    [
        "$49.00",
        "10,00 €",
        "0.05 €",
        "0",
        "0 reviews",
        "Call for price",
        "Loading ramp 2 m",
        "Loading dock bumper, rubber, black",
        "Nanotex towel",
        "Null-Fehler-Garantie",
        "A4 paper, 500 sheets",
        "The price is shown when the page has finished loading, undefined before",
    ],
)
def test_a_value_is_one(text: str) -> None:
    assert not is_placeholder(text)
