"""Codes and brands that a page labels for people: "EAN: 123", a row of a table, a pair of a list."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import islice

from lxml import etree

from storebot.core.parsing import visible_words as words
from storebot.core.parsing.values import is_placeholder, shown, squash
from storebot.core.parsing.visible_tree import View

_MAX_LABEL = 30
_MAX_VALUE = 60
_MAX_RAW = 1_000  # characters, white space included, in which a value is looked for
_MAX_LABELS = 300  # of a page
_CODE = re.compile(r"[A-Z0-9]+(?:[-_./][A-Za-z0-9]+)+")  # "AR_IR-Remote": a code without a digit


def read_labels(view: View) -> dict[str, str]:
    """Return the codes and the brand that the page labels: the first of each that looks like one."""
    found: dict[str, str] = {}
    labels = (pair for element, text in view.texts for pair in _labelled_in(element, text))
    for name, value in islice(labels, _MAX_LABELS):
        if name not in found and _is_value(name, value):
            found[name] = value
    return found


def _labelled_in(element: etree._Element, text: str) -> list[tuple[str, str]]:
    """Return the codes that an element gives: "EAN: 123" in one, or a label in one and the value in the next."""
    if ":" in text.rstrip(":"):
        return labelled(text)
    label = text.rstrip(":- ")
    if len(label) > _MAX_LABEL or (name := _field_of(label)) is None:
        return []
    value = squash(element.tail or "").lstrip(": ")
    following = element.getnext()
    if not value and following is not None and isinstance(following.tag, str):
        value = shown(following, _MAX_RAW)
    if not value and (parent := element.getparent()) is not None and shown(parent, _MAX_RAW).rstrip(":- ") == label:
        following = parent.getnext()
        value = shown(following, _MAX_RAW) if following is not None and isinstance(following.tag, str) else ""
    return [(name, value)]


def labelled(text: str) -> list[tuple[str, str]]:
    """Return the field and the value of a text such as "EAN: 123"; nothing where no label is known."""
    label, _, value = text.partition(":")
    name = _field_of(label.strip()) if len(label) <= _MAX_LABEL else None
    return [] if name is None else [(name, value.strip().rstrip(". "))]


@lru_cache(maxsize=8192)  # a store repeats its labels on each page
def _field_of(label: str) -> str | None:
    return next((name for name, pattern in words.LABELS.items() if pattern.fullmatch(label)), None)


def _is_value(name: str, text: str) -> bool:
    if is_placeholder(text) or len(text) > _MAX_VALUE:
        return False
    if name == "gtin":
        return re.fullmatch(r"[\d -]{8,20}", text) is not None
    if name == "brand":
        return text.count(" ") < 5
    return (any(map(str.isdigit, text)) and text.count(" ") < 2) or _CODE.fullmatch(text) is not None
