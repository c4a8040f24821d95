"""How much of a thing there is, by what a text says."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storebot.core.enrich.amount import Amount, labelled, read_amount


@pytest.mark.parametrize(
    ("text", "quantity", "unit"),
    [
        ("Arabica 500 g", "0.5", "kg"),
        ("NESCAFÉ 200G", "0.2", "kg"),
        ("Bier 6 x 0,33 l", "1.98", "l"),
        ("Cola 24x0.5l", "12", "l"),
        ("6 × 330 ml cans", "1.98", "l"),
        ("330ml x 6", "1.98", "l"),
        ("Water 1.5L", "1.5", "l"),
        ("Socks 2-pack", "2", "piece"),
        ("Schrauben 6er-Pack", "6", "piece"),
        ("Pack of 12 pencils", "12", "piece"),
        ("Batterien 10 Stück", "10", "piece"),
        ("Serum 100 ml", "0.1", "l"),
        ("75cl", "0.75", "l"),
        ("Beans 12 oz", "0.340194", "kg"),
        ("12 oz / 340 g", "0.34", "kg"),
        ("12oz/340g", "0.34", "kg"),
        ("16 oz (473 ml)", "0.473", "l"),
        ("100 ML (3.4 FL. OZ)", "0.1", "l"),
        ("Shampoo 12 fl. oz.", "0.354882", "l"),
        ("5 lbs", "2.267962", "kg"),
        ("3 x 250 g (750 g)", "0.75", "kg"),
        ("Saffron 0.500 kg", "0.5", "kg"),
        ("HDMI cable 2 m", "2", "m"),
        ("Netzwerkkabel 1,5m", "1.5", "m"),
        ("５００ｇ", "0.5", "kg"),
    ],
)
def test_plain_amounts_are_read(text: str, quantity: str, unit: str) -> None:
    found = read_amount(text)
    assert found is not None
    assert (found.quantity.quantize(Decimal("0.000001")).normalize(), found.unit) == (Decimal(quantity), unit)


@pytest.mark.parametrize(
    "text",
    [
        "Anvil",
        "1.000 g",  # one gram, or a thousand
        "1,000 ml",
        "1 000 g",
        "2 500 g",
        "500 g + 100 g gratis",
        "250 g or 1 kg",
        "for dogs of 10-15 kg",
        "up to 20 kg",
        "Stuhl bis 150 kg",
        "max. 5 kg",
        "2 x 6 x 0.33 l",
        "6-pack 330 ml",  # each, or in all
        "4 x 6 pack",
        "Rucksack 30 L",
        "Kettle 1.7L",
        "50 m waterproof watch",
        "Table 120 x 60 cm",
        "Teppich 2 x 3 m Stoff",
        "Papier 80 g/m²",
        "Syrup 5 mg/ml",
        "Folie 10 m²",
        "Galaxy A14 5G",
        "Phone 16G",
        "16GB memory card",
        "Vitamin C 1000 mg",
        "Puzzle 1000 pieces",
        "1st edition",
        "0 g",
        "E27L 500W",
        "",
    ],
)
def test_what_is_ambiguous_or_no_amount_is_none(text: str) -> None:
    assert read_amount(text) is None


def test_what_holds_litres_is_told_by_the_context_too() -> None:
    assert read_amount("1.7 l", context="Kitchen Kettles") is None
    assert read_amount("20 m", context="Electrical > Cables") == Amount(Decimal(20), "m")


def test_the_fluid_ounce_is_british_where_it_is_said_to_be() -> None:
    american, british = (read_amount("10 fl oz", imperial=imperial) for imperial in (False, True))
    assert american is not None
    assert british is not None
    assert (round(american.quantity, 4), round(british.quantity, 4)) == (Decimal("0.2957"), Decimal("0.2841"))


@pytest.mark.parametrize(
    ("text", "rest"),
    [("Fine beans. Net weight: 500 g", "500 g"), ("Inhalt : 0,75 l", "0,75 l"), ("100 g contain 5 g of fat", "")],
)
def test_an_amount_behind_a_label_is_found(text: str, rest: str) -> None:
    assert labelled(text) == rest


@given(st.integers(1, 99), st.integers(1, 999))
def test_so_many_times_an_amount_is_their_product(count: int, size: int) -> None:
    one, many = read_amount(f"{size} ml"), read_amount(f"{count} x {size} ml")
    assert one is not None
    assert many == Amount(one.quantity * count, "l")


@given(st.integers(1, 999), st.sampled_from(["Tea", "Ünder 3", "A-4", "№ 5"]))
def test_decimal_comma_and_point_mean_the_same(size: int, name: str) -> None:
    assert read_amount(f"{name}: {size},5 kg") == read_amount(f"{name}: {size}.5 kg")


@given(st.text(max_size=200))
def test_no_text_raises_and_what_is_read_is_more_than_nothing(text: str) -> None:
    found = read_amount(text)
    assert found is None or found.quantity > 0


@given(st.text(alphabet="0123456789.,x gklmoz-/pack ", max_size=300))
def test_neither_does_a_text_of_numbers_and_units(text: str) -> None:
    found = read_amount(text)
    assert found is None or found.quantity > 0
