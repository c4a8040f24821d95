"""The numbers by which two shops mean one product: a GTIN that is unique in the world, or brand and part number."""

from __future__ import annotations

import re
import unicodedata

from storebot.core.gtin import gtin14

_MARKS = re.compile("[™®©℠]")  # before NFKC, which writes "TM"
_NOT_ALPHANUMERIC = re.compile(r"[\W_]+")
_NO_NUMBER = frozenset(
    {"na", "none", "null", "unknown", "doesnotapply", "notapplicable", "notavailable", "nichtzutreffend", "unbekannt"}
)
_NO_BRAND = _NO_NUMBER | {"generic", "unbranded", "nobrand", "noname", "ohnemarke", "brand", "default", "other"}
_MIN_LENGTH = 3
_MIN_DIGITS = 5  # of a part number that is nothing but digits: "001" is a place in a list


def worldwide_gtin(gtin: str | None) -> str | None:
    """Return the 14 digits of a number that means one trade item in every shop; None for any other text.

    None for a wrong check digit, and for numbers that a shop or a region gives out by itself (GS1 General
    Specifications, 1.4.2: prefixes 02, 04 and 20-29, GTIN-8 that begin with 0 or 2), for coupons (05, 98, 99), and for
    variable measure (a GTIN-14 that begins with 9).
    """
    try:
        digits = gtin14(gtin or "")
    except ValueError:
        return None
    if digits.startswith("000000"):  # a GTIN-8
        return None if digits[6] in "02" else digits
    if digits[0] == "9" or digits[1] == "2" or digits[1:3] in ("02", "04", "05"):
        return None
    return None if re.match("98[0-4]|99", digits[1:4]) else digits


def brand_key(brand: str | None) -> str | None:
    """Return a brand without case, punctuation and spaces; None where the text names none. No aliases: HP is HP."""
    key = _bare(brand)
    return key if key and key not in _NO_BRAND else None


def part_key(brand: str | None, mpn: str | None) -> str | None:
    """Return ``brand:part number``, both bare; None unless both are there and the number can be one.

    A part number has three characters and a digit, or else it's a word ("red"); of digits alone it has five.
    """
    maker, part = brand_key(brand), _bare(mpn)
    if maker is None or len(part) < _MIN_LENGTH or part in _NO_NUMBER or not any(char.isdigit() for char in part):
        return None
    if part.isdigit() and (len(part) < _MIN_DIGITS or int(part) == 0):
        return None
    return f"{maker}:{part}"


def words(text: str | None) -> frozenset[str]:
    """Return the words of a text, for telling whether one names the other."""
    plain = unicodedata.normalize("NFKC", _MARKS.sub("", text or "")).casefold()
    return frozenset(word for word in _NOT_ALPHANUMERIC.split(plain) if word)


def _bare(text: str | None) -> str:
    plain = unicodedata.normalize("NFKC", _MARKS.sub("", text or "")).casefold()
    return _NOT_ALPHANUMERIC.sub("", plain)
