"""What counts as a value: text as found, after one entity pass, without what would break a database."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from decimal import Decimal
from functools import lru_cache
from typing import Any

from lxml import etree

from storebot.core.text import unescape

Value = str | list[str] | dict[str, str]
Values = dict[str, Value]
Clean = Callable[[str], str]

MAX_TEXT = 50_000
"""Characters: an item for every element of a deep tree must not cost the square of the page."""

_UNSTORABLE = re.compile("[\0\ud800-\udfff]")
_TEMPLATE = re.compile(r"\{\{[^{}]{0,200}\}\}|\$\{[^{}]{0,200}\}|<%[^<>]{0,200}%>")
_REAL_DIGIT = re.compile(r"[1-9\u0661-\u0669\u06f1-\u06f9]")
_NUMBER = re.compile(r"\d(?:[\d.,'\u2019\s\u00a0\u202f]*\d)?")
_EMPTY = frozenset({"", "null", "undefined", "nan", "[object object]"})
_LONGEST_EMPTY = max(map(len, _EMPTY))
_PLACEHOLDERS = _EMPTY | {"-", "--", "\u2013", "\u2014", "n/a", "na", "none", "false", "no", "tbd", "."}


def from_json(text: str) -> str:
    """Tidy text of a script: HTML didn't decode its entities, so exactly one pass is due."""
    if "&" in text:
        text = unescape(text)
    return from_dom(text)


def from_dom(text: str) -> str:
    """Tidy text of a tree, whose entities the HTML parser has decoded already."""
    if not text.isascii() or "\0" in text:
        text = _UNSTORABLE.sub("", text)
    return text.strip()


def squash(text: str) -> str:
    """Collapse white space as a browser does when it shows text."""
    return " ".join(text.split())


def shown(element: etree._Element, most: int = MAX_TEXT) -> str:
    """Return the text of an element, white space collapsed; no more than ``most`` characters of it."""
    parts: list[str] = []
    size = 0
    for text in element.itertext():
        parts.append(str(text))
        size += len(parts[-1])
        if size >= most:
            break
    return squash("".join(parts)[:most])


def is_blank(text: str) -> bool:
    """Say whether text says nothing: blank, a programming language's nothing, or a template nobody filled in."""
    if len(text) <= _LONGEST_EMPTY and text.lower() in _EMPTY:
        return True
    if text[0] == "$" and text[1:].isidentifier():
        return True
    return ("{" in text or "<%" in text) and _TEMPLATE.search(text) is not None


def is_placeholder(text: str) -> bool:
    """Say whether a code or a brand says nothing: ``-``, ``N/A``."""
    return is_blank(text) or text.lower() in _PLACEHOLDERS


def is_amount(text: str) -> bool:
    """Say whether text may be a price: it has a digit other than zero."""
    return _REAL_DIGIT.search(text) is not None


def many(value: Any) -> Iterator[Any]:
    """Yield what is in a value that may be one thing, a list or nothing; lists in lists are opened once."""
    if isinstance(value, list):
        for item in value:
            if isinstance(item, list):
                yield from item
            elif item is not None:
                yield item
    elif value is not None:
        yield value


def text_of(value: Any, clean: Clean, *names: str) -> str | None:
    """Return the first text that a value gives, or None: itself, a number's text, or one of ``names`` in an object."""
    if value is None:
        return None
    if type(value) is str:
        return _plain(value, clean)
    for item in many(value):
        text = _inner(item, clean, names) if isinstance(item, dict) else _plain(item, clean)
        if text:
            return text
    return None


def _inner(item: dict[str, Any], clean: Clean, names: tuple[str, ...]) -> str | None:
    for name in names:
        for part in many(item.get(name)):
            if text := _plain(part, clean):
                return text
    return None


def _plain(item: Any, clean: Clean) -> str | None:
    if isinstance(item, str):
        text = clean(item if len(item) <= MAX_TEXT else item[:MAX_TEXT])
        return None if is_blank(text) else text
    if isinstance(item, int | float) and not isinstance(item, bool):
        return str(item)
    return None


def amounts(text: str) -> frozenset[Decimal]:
    """Return the numbers that an amount may stand for when separators are read either way: for comparison only."""
    return _amounts(text[:100])


@lru_cache(maxsize=1024)  # the same prices come again and again, on a page and from page to page
def _amounts(text: str) -> frozenset[Decimal]:
    match = _NUMBER.search(text)
    if match is None:
        return frozenset()
    number = re.sub(r"[^\d.,]", "", match[0])
    whole, separator, fraction = _split_fraction(number)
    digits = re.sub(r"\D", "", whole)
    if not separator:
        return frozenset({Decimal(digits + fraction)})
    decimal = Decimal(f"{digits or '0'}.{fraction}")
    return frozenset({decimal} if len(fraction) != 3 else {decimal, Decimal(digits + fraction)})


def _split_fraction(number: str) -> tuple[str, str, str]:
    last = max(number.rfind("."), number.rfind(","))
    return ("", "", number) if last < 0 else (number[:last], number[last], number[last + 1 :])


def same_amount(left: str, right: str) -> bool:
    """Say whether two texts can mean the same amount: ``2879.2`` and ``2879,20`` do."""
    return left == right or bool(amounts(left) & amounts(right))
