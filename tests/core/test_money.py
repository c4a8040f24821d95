"""Minor units: exact both ways, refused where the currency can't hold the amount."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storebot.core.money import EXPONENTS, MAX_MINOR, exponent, from_minor, rounded, to_minor

CODES = st.sampled_from(sorted(EXPONENTS))


@pytest.mark.parametrize(
    ("amount", "currency", "minor"),
    [
        ("10.04", "USD", 1004),  # V08: int(10.04 * 100) is 1003
        ("140.000", "USD", 14000),
        ("579.000", "TND", 579000),
        ("1234", "JPY", 1234),
        ("215000", "IDR", 21500000),
        ("0.0001", "CLF", 1),
        ("1E+3", "EUR", 100000),
        ("-5", "EUR", -500),
    ],
)
def test_an_amount_becomes_minor_units(amount: str, currency: str, minor: int) -> None:
    assert to_minor(Decimal(amount), currency) == minor


@pytest.mark.parametrize(
    ("amount", "currency", "why"),
    [
        ("29.1583", "GBP", "more decimals"),
        ("0.5", "JPY", "more decimals"),
        ("1.00000000000000000000000000000000001", "EUR", "more decimals"),
        ("1E+19", "EUR", "64-bit"),
        ("1E+999999", "EUR", "64-bit"),
        ("NaN", "EUR", "not an amount"),
        ("Infinity", "EUR", "not an amount"),
        ("1", "XXX", "not an ISO 4217"),
        ("1", "eur", "not an ISO 4217"),
    ],
)
def test_what_the_currency_cannot_hold_is_refused(amount: str, currency: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        to_minor(Decimal(amount), currency)


@given(minor=st.integers(-MAX_MINOR, MAX_MINOR), currency=CODES)
def test_minor_units_survive_the_round_trip(minor: int, currency: str) -> None:
    assert to_minor(from_minor(minor, currency), currency) == minor


@given(
    amount=st.decimals(allow_nan=False, allow_infinity=False, min_value=0, max_value=10**12, places=6), currency=CODES
)
def test_a_rounded_amount_can_be_held(amount: Decimal, currency: str) -> None:
    held = from_minor(to_minor(rounded(amount, currency), currency), currency)
    assert abs(held - amount) * 2 <= Decimal(1).scaleb(-exponent(currency))


def test_rounding_is_half_up_as_in_shops() -> None:
    assert rounded(Decimal("24.785"), "EUR") == Decimal("24.79")
    assert rounded(Decimal("24.7849"), "EUR") == Decimal("24.78")


@pytest.mark.parametrize(
    ("currency", "digits"),
    [
        ("JPY", 0),
        ("KRW", 0),
        ("IDR", 2),
        ("EUR", 2),
        ("KWD", 3),
        ("TND", 3),
        ("BHD", 3),
        ("CLF", 4),
        ("HRK", 2),
        ("ZWG", 2),
    ],
)
def test_exponents_are_those_of_iso_4217(currency: str, digits: int) -> None:
    assert exponent(currency) == digits


def test_an_amount_shows_all_decimals_of_its_currency() -> None:
    assert str(from_minor(4900, "USD")) == "49.00"
    assert str(from_minor(4900, "JPY")) == "4900"
