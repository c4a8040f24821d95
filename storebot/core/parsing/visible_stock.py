"""Buy buttons, and the line that says whether there is any stock."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import islice

from lxml import etree

from storebot.core.availability import read_availability
from storebot.core.parsing import visible_words as words
from storebot.core.parsing.values import squash
from storebot.core.parsing.visible_tree import Path, View, leads_away, text_of_amount, tokens

CLICKABLE = frozenset({"button", "a", "input", "form"})
_BUTTONS = frozenset({"submit", "button", "image"})
_MAX_BUTTON = 30
_MAX_BUTTONS = 500  # of a page: who has more is a list
_MAX_CODE = 500  # characters of an attribute: what is kept for the next page must be short
_MAX_STOCK = 40
_NEAR_LEVELS = 7
_NEAR_ELEMENTS = 60
_STOCK = frozenset({"stock", "availability", "instock", "outofstock"})


def buy_buttons(view: View) -> list[etree._Element]:
    """Return what puts the product into the cart when it is pressed, in page order."""
    said = {element for element, text in view.texts if len(text) <= _MAX_BUTTON and _says_buy(text)}
    found = (one for one in view.elements if (one.tag in CLICKABLE or one in said) and _is_buy(one, one in said))
    return list(islice(found, _MAX_BUTTONS))


def _is_buy(element: etree._Element, said: bool) -> bool:
    if element.tag not in CLICKABLE:
        return said
    if element.tag == "input" and element.get("type") not in _BUTTONS:
        return False
    if element.get("disabled") is not None or tokens(element) & words.OFF:
        return False
    if element.tag != "form":
        text = squash(element.get("value") or "") if element.tag == "input" else _label(element)
        # A link that says "Buy" may lead to a list of what is for sale, beside one that says "Rent".
        is_vague = element.tag == "a" and " " not in text and leads_away(element)
        if not is_vague and len(text) <= _MAX_BUTTON and _says_buy(text):
            return True
    names = ("id", "class", "name", "action") if element.tag != "a" else ("id", "class")
    return any(_is_buy_code((element.get(name) or "")[:_MAX_CODE]) for name in names)


def said_by_button(buttons: Iterable[etree._Element]) -> str | None:
    """Return the first label of a button that says when the product can be had: "Pre-order"."""
    labels = (squash(one.get("value") or "") or _label(one) for one in buttons if one.tag != "form")
    return next((text for text in labels if len(text) <= _MAX_BUTTON and _term(text) is not None), None)


def _label(element: etree._Element) -> str:
    if len(element) == 0:
        text = element.text or ""
        return squash(text) if len(text) < 4 * _MAX_BUTTON else text
    return text_of_amount(element, _MAX_BUTTON)


@lru_cache(maxsize=8192)  # a store repeats its menus on each page
def _says_buy(text: str) -> bool:
    return words.BUY_TEXT.fullmatch(text) is not None


@lru_cache(maxsize=8192)
def _is_buy_code(name: str) -> bool:
    return words.BUY_CODE.search(name) is not None


def stock_line(view: View, places: Sequence[Path]) -> str | None:
    """Return a short line of stock that stands beside one of the places, or is marked as one."""
    nearby = _neighbourhood(places)
    for element, line in view.texts:
        if not 3 <= len(line) <= _MAX_STOCK or element.tag in CLICKABLE or line.endswith("?"):
            continue
        if (element in nearby or _is_marked(element)) and _term(line) is not None:
            return line
    return None


def shows_stock(view: View, places: Sequence[Path]) -> bool:
    """Say whether a line that the page marks as one of stock stands beside one of the places."""
    nearby = _neighbourhood(places)
    marked = (line for element, line in view.texts if element in nearby and _is_marked(element))
    return any(len(line) <= _MAX_STOCK and _term(line) is not None for line in marked)


def _is_marked(element: etree._Element) -> bool:
    parent = element.getparent()
    return bool(tokens(element) & _STOCK or (parent is not None and tokens(parent) & _STOCK))


@lru_cache(maxsize=8192)
def _term(line: str) -> str | None:
    return read_availability(line)


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


_PRODUCT_PAGE = re.compile(
    r"(?<![^\s])(?:single-product|(?:type|template|page)-product|catalog-product-view"
    r"|product-(?:page|details?|view|template|single)|pdp)(?![^\s])",
    re.IGNORECASE,
)


def is_product_page(root: etree._Element) -> bool:
    """Say whether the page's body is of a class that shop software gives to the page of one product."""
    body = next(root.iter("body"), None)
    return body is not None and _PRODUCT_PAGE.search(f"{body.get('class') or ''} {body.get('id') or ''}") is not None
