"""Buy buttons, and the line that says whether there is any stock."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from lxml import etree

from storebot.core.availability import read_availability
from storebot.core.parsing import visible_words as words
from storebot.core.parsing.values import squash
from storebot.core.parsing.visible_tree import Path, leads_away, text_of_amount, tokens

CLICKABLE = ("button", "a", "input", "form")
_MAX_BUTTON = 30
_MAX_STOCK = 40
_NEAR_LEVELS = 7
_NEAR_ELEMENTS = 60
_STOCK = frozenset({"stock", "availability", "instock", "outofstock"})


def is_buy(element: etree._Element) -> bool:
    """Say whether an element is a button, a link or a form that puts the product into the cart."""
    if element.tag not in CLICKABLE:
        text = element.text or ""
        return 3 < len(text.strip()) <= _MAX_BUTTON and words.BUY_TEXT.fullmatch(squash(text)) is not None
    if element.tag == "input" and element.get("type") not in ("submit", "button", "image"):
        return False
    if element.get("disabled") is not None or tokens(element) & words.OFF:
        return False
    if element.tag != "form":
        text = squash(element.get("value") or "") if element.tag == "input" else text_of_amount(element)
        # A link that says "Buy" may lead to a list of what is for sale, beside one that says "Rent".
        is_vague = element.tag == "a" and " " not in text and leads_away(element)
        if len(text) <= _MAX_BUTTON and not is_vague and words.BUY_TEXT.fullmatch(text):
            return True
    names = ("id", "class", "name", "action") if element.tag != "a" else ("id", "class")
    return any(words.BUY_CODE.search(element.get(name) or "") for name in names)


def stock_line(elements: Sequence[etree._Element], places: Sequence[Path]) -> str | None:
    """Return a short line of stock that stands beside one of the places, or is marked as one."""
    nearby = _neighbourhood(places)
    for element in elements:
        line = squash(element.text or "")
        if not 3 <= len(line) <= _MAX_STOCK or element.tag in CLICKABLE or line.endswith("?"):
            continue
        parent = element.getparent()
        near = tokens(element) | (tokens(parent) if parent is not None else frozenset())
        if (near & _STOCK or element in nearby) and read_availability(line) is not None:
            return line
    return None


def _neighbourhood(paths: Sequence[Path]) -> set[etree._Element]:
    """Return the elements of the small parts of the page in which some elements stand."""
    found: set[etree._Element] = set()
    for path in paths:
        part: list[etree._Element] = []
        for level in reversed(path[-_NEAR_LEVELS:]):
            inside = list(islice(level.iter(), _NEAR_ELEMENTS + 1))
            if len(inside) > _NEAR_ELEMENTS:
                break
            part = inside
        found.update(part)
    return found
