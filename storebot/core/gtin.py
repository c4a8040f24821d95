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
