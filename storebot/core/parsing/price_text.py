"""The text of a price in plain characters: digits, spaces and marks of all scripts as ASCII has them."""

from __future__ import annotations

import re
import unicodedata

# Invisible marks go, look-alike marks become the one of ASCII.
_CHARACTERS = dict.fromkeys(
    "\u00ad\u200b\u200c\u200d\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2060\u2066\u2067\u2068\u2069\u061c\ufeff", ""
)
_CHARACTERS |= dict.fromkeys("’‘ʼ´`′", "'") | {"٫": ".", "٬": ",", "،": ",", "·": ".", "。": "."}


def plain_text(text: str) -> str:
    """Bring digits, spaces and look-alike marks of all scripts to ASCII; letters and currency signs stay."""
    if text.isascii():
        return " ".join(text.split())
    return " ".join("".join(_plain_char(char) for char in text).split())


def _plain_char(char: str) -> str:
    if char < "\x80":
        return char
    if char in _CHARACTERS:
        return _CHARACTERS[char]
    category = unicodedata.category(char)
    if category == "Nd":
        return str(unicodedata.digit(char))
    if category == "Zs":
        return " "
    if "\uff01" <= char <= "\uff5e" and char not in "～＄":
        return chr(ord(char) - 0xFEE0)
    return char


def joined_cents(text: str, decimal: str | None) -> str:
    """Put a decimal point where the page has an element boundary or a currency sign in its place: 19 99, 35€ 99."""
    if decimal and decimal not in ".,":
        return re.sub(rf"(\d)({re.escape(decimal)})(\d+)", r"\1.\3\2", text)
    text = re.sub(r"(?<![\d.,])(\d+)(€) ?(\d\d)(?![\d.,%€'])(?! ?[€%])", r"\1.\3\2", text)
    return re.sub(r"^(\D{0,5}(?:\d{1,3}(?:[.,]\d{3})+|\d+)) (\d\d)(?=\D{0,5}$)", _with_point, text)


def _with_point(match: re.Match[str]) -> str:
    whole, cents = match.groups()
    return f"{whole.replace('.', '').replace(',', '')}.{cents}"
