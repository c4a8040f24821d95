"""The numbers by which two shops mean one product."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storebot.core.enrich.numbers import brand_key, part_key, words, worldwide_gtin


@pytest.mark.parametrize(
    ("text", "gtin"),
    [
        ("4006381333931", "04006381333931"),
        ("036000291452", "00036000291452"),
        ("96385074", "00000096385074"),
        ("04006381333931", "04006381333931"),
        ("4006381333932", None),  # check digit
        ("2012345678903", None),  # 20: in one shop
        ("0212345678909", None),  # 02: a weight in it
        ("0412345678903", None),  # 04: in one company
        ("0512345678909", None),  # a coupon
        ("00000020123451", None),  # GTIN-8 of a shop
        ("9810000000006", None),
        ("9900000000004", None),
        ("98712345678909", None),  # variable measure
        ("", None),
        (None, None),
        ("does not apply", None),
    ],
)
def test_gtin_counts_only_where_it_means_one_item_in_every_shop(text: str | None, gtin: str | None) -> None:
    assert worldwide_gtin(text) == gtin


@pytest.mark.parametrize(
    ("brand", "mpn", "key"),
    [
        ("ACME", "AB-100/2", "acme:ab1002"),
        ("Acme®", "ab 100 2", "acme:ab1002"),
        ("Black & Decker", "BDH1720", "blackdecker:bdh1720"),
        ("Straße", "Ⅳ-200", "strasse:iv200"),
        ("acme", "12345", "acme:12345"),
        ("acme", "001", None),  # a place in a list
        ("acme", "00000", None),
        ("acme", "red", None),
        ("acme", "A1", None),
        ("acme", "N/A", None),
        ("N/A", "AB100", None),
        ("Generic", "AB100", None),
        (None, "AB100", None),
        ("acme", None, None),
    ],
)
def test_part_number_counts_only_with_its_brand(brand: str | None, mpn: str | None, key: str | None) -> None:
    assert part_key(brand, mpn) == key


def test_brands_have_no_aliases() -> None:
    assert brand_key("HP") != brand_key("Hewlett Packard")


@given(st.text(max_size=20), st.sampled_from([" ", "-", "_", ".", "/", "  "]))
def test_case_punctuation_and_spaces_never_make_another_brand(text: str, mark: str) -> None:
    assert brand_key(f"{text}{mark}") == brand_key(f"{mark}{text}".casefold())


@given(st.text(max_size=40))
def test_a_key_is_its_own_key(text: str) -> None:
    key = brand_key(text)
    assert key is None or brand_key(key) == key


def test_words_are_compared_without_case_and_marks() -> None:
    assert words("Bosch™ Professional, 18V") == {"bosch", "professional", "18v"}
