"""Codes and brands that a page labels for people: "EAN: 123", a row of a table, a pair of a list."""

from __future__ import annotations

import re
from collections.abc import Sequence

from lxml import etree

from storebot.core.parsing import visible_words as words
from storebot.core.parsing.values import is_placeholder, shown, squash

_MAX_LABEL = 30
_MAX_VALUE = 60


def read_labels(elements: Sequence[etree._Element]) -> dict[str, str]:
    """Return the codes and the brand that the page labels: the first of each that looks like one."""
    found: dict[str, str] = {}
    for element in elements:
        for name, text in _labelled_in(element):
            if name not in found and _is_value(name, text):
                found[name] = text
    return found


def _labelled_in(element: etree._Element) -> list[tuple[str, str]]:
    """Return the codes that an element gives: "EAN: 123" in one, or a label in one and the value in the next."""
    text = squash(element.text or "")
    if len(text) < 2:
        return []
    if ":" in text.rstrip(":"):
        return labelled(text)
    label = text.rstrip(":- ")
    if len(label) > _MAX_LABEL:
        return []
    names = [name for name, pattern in words.LABELS.items() if pattern.fullmatch(label)]
    if not names:
        return []
    value = squash(element.tail or "").lstrip(": ")
    following = element.getnext()
    if not value and following is not None and isinstance(following.tag, str):
        value = shown(following)
    if not value and (parent := element.getparent()) is not None and shown(parent).rstrip(":- ") == label:
        following = parent.getnext()
        value = shown(following) if following is not None and isinstance(following.tag, str) else ""
    return [(names[0], value)]


def labelled(text: str) -> list[tuple[str, str]]:
    """Return the field and the value of a text such as "EAN: 123"; nothing where no label is known."""
    label, _, value = text.partition(":")
    for name, pattern in words.LABELS.items():
        if pattern.fullmatch(label.strip()):
            return [(name, value.strip().rstrip(". "))]
    return []


def _is_value(name: str, text: str) -> bool:
    if is_placeholder(text) or len(text) > _MAX_VALUE:
        return False
    if name == "gtin":
        return re.fullmatch(r"[\d -]{8,20}", text) is not None
    if name == "brand":
        return text.count(" ") < 5
    return any(map(str.isdigit, text)) and text.count(" ") < 2
