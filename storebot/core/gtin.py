"""Global Trade Item Numbers: EAN, UPC and ISBN-13 as fourteen digits with a valid check digit."""

from __future__ import annotations

_LENGTHS = (8, 12, 13, 14)
_SEPARATORS = str.maketrans("", "", " -\u2010\u2011\u2012\u2013.")


def gtin14(text: str) -> str:
    """Return a GTIN padded to 14 digits; ValueError, saying why, for anything else.

    Numbers of 8, 12, 13 and 14 digits are GTINs; spaces and hyphens between them don't count. The check digit is that
    of the GS1 General Specifications, 7.9.
    """
    digits = text.translate(_SEPARATORS)
    if not (digits.isascii() and digits.isdigit()):
        raise ValueError(f"{text[:40]!r} isn't a GTIN: it has characters other than digits")
    if len(digits) not in _LENGTHS:
        raise ValueError(f"{text[:40]!r} isn't a GTIN: it has {len(digits)} digits, not 8, 12, 13 or 14")
    padded = digits.zfill(14)
    if int(padded) == 0:
        raise ValueError(f"{text[:40]!r} isn't a GTIN: it's all zeros")
    numbers = [ord(char) - 48 for char in padded]
    if (3 * sum(numbers[0:13:2]) + sum(numbers[1:13:2]) + numbers[13]) % 10:
        raise ValueError(f"{text[:40]!r} isn't a GTIN: its check digit is wrong")
    return padded


def gtin_of_isbn(text: str) -> str:
    """Return the ISBN-13 of a valid ISBN-10; any other text as it is (ISO 2108: 978, the digits, a new check digit)."""
    code = text.translate(_SEPARATORS).upper()
    body, check = code[:9], code[9:]
    if len(code) != 10 or not (body.isascii() and body.isdigit() and (check.isdigit() or check == "X")):
        return text
    total = sum((10 - place) * int(digit) for place, digit in enumerate(body)) + (10 if check == "X" else int(check))
    if total % 11:
        return text
    numbers = [int(digit) for digit in f"978{body}"]
    return f"978{body}{-(sum(numbers[::2]) + 3 * sum(numbers[1::2])) % 10}"
