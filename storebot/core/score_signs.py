"""Values that shops and their templates put where a value should be: no name, no price."""

from __future__ import annotations

import re

_TEMPLATE = re.compile(r"\{\{|\}\}|\{%|\$\{|<%|%%|\[object |undefined\b|\bNaN\b")
_ERROR = re.compile(
    r"(?:error )?40[34](?: error)?(?:\W{0,3}(?:not found|forbidden))?|access denied|"
    r"(?:page|product|seite|produkt)? ?(?:not found|nicht gefunden)|"
    r"just a moment\.*|loading\.*|untitled|no title|null|none|n/a|test(?: product| produkt)?|default title",
    re.IGNORECASE,
)
_NINES = re.compile(r"9{7,}")  # 99,999.99 and up
_DIGITS_IN_ORDER = "1234567890"
_MIN_IN_ORDER = 7


def is_no_name(name: str) -> str:
    """Return why a text can't be a product's name; "" where it can."""
    if len(name) < 2:
        return f"the name {name!r} is one character"
    if _TEMPLATE.search(name):
        return f"the name {name[:60]!r} is a template that wasn't filled in"
    if _ERROR.fullmatch(name.strip()):
        return f"the name {name[:60]!r} is that of an error page or a stand-in"
    if "://" in name:
        return f"the name {name[:60]!r} holds an address"
    return ""


def is_stand_in(price_minor: int) -> str:
    """Return why an amount is no price; "" where it may be one. Zero and one cent aren't prices (DESIGN §5)."""
    digits = str(price_minor)
    if price_minor <= 1:
        return f"the price {price_minor} (minor units) is no price"
    if _NINES.fullmatch(digits):
        return f"the price {price_minor} (minor units) is what shops write where there is none"
    if len(digits) >= _MIN_IN_ORDER and _DIGITS_IN_ORDER.startswith(digits):
        return f"the price {price_minor} (minor units) is digits in their order"
    return ""
