"""A page's tree as a buyer sees it: what is on show, in page order, and how near two things stand."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice

from lxml import etree

from storebot.core.parsing import visible_words as words
from storebot.core.parsing.values import squash

_HIDDEN_TAGS = frozenset({"script", "style", "noscript", "template", "svg", "select", "nav", "footer", "iframe"})
_ICONS = frozenset({"i", "span", "img", "svg"})
_FRAME = frozenset({"html", "body", "main"})
_HEADINGS = ("h1", "h2", "h3")
_MAX_ELEMENTS = 20_000
_MAX_TEXT = 60  # characters of a text that is looked at: labels, prices and buttons are shorter
_MAX_RAW = 200  # white space included
_MAX_NAMES = 500  # characters of a class, an id, a style
_MAX_HEADINGS = 1000  # main headings of a page
_MAX_PART = 4_000  # characters of one text that are looked at
_MAX_NODES = 2_000  # elements of which an amount's text is put together
_MAX_AMOUNT_TEXT = 150  # characters; what is longer isn't the text of an amount
_WORD = re.compile(r"[A-Za-z][a-z]+|[A-Z]+")
_DIGIT = re.compile(r"\d")
_SPACES = re.compile(r"\s+")
_NO_DISPLAY = re.compile(r"display\s*:\s*none")

Path = list[etree._Element]
"""An element and what it stands in, the outermost first."""


@dataclass(slots=True)
class View:
    """What is on show: without the page's frame and without places that sell other things. All in page order.

    ``texts`` are the short texts that elements hold themselves, ``numbers`` the places (in ``elements``) of those that
    hold a digit themselves, in a short text.
    """

    elements: list[etree._Element] = field(default_factory=list)
    texts: list[tuple[etree._Element, str]] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)
    headings: list[etree._Element] = field(default_factory=list)
    _depths: list[int] = field(default_factory=list)
    _spans: dict[etree._Element, tuple[int, int]] = field(default_factory=dict)

    def add(self, element: etree._Element, children: list[etree._Element], depth: int) -> None:
        text = (element.text or "").strip() or _behind_icon(children)
        if text and len(text) <= _MAX_RAW:
            short = squash(text)
            if len(short) <= _MAX_TEXT:
                self.texts.append((element, short))
        if _has_digit(text, children):
            self.numbers.append(len(self.elements))
        if element.tag in _HEADINGS:
            self.headings.append(element)
        self.elements.append(element)
        self._depths.append(depth)

    def span(self, element: etree._Element) -> tuple[int, int]:
        """Return the places of what is on show in an element of the view: from its own to the first behind it."""
        if not self._spans:
            self._spans = dict(zip(self.elements, enumerate(self._ends()), strict=True))
        return self._spans[element]

    def _ends(self) -> list[int]:
        """Return, for each element, the place of the first one behind it that doesn't stand in it."""
        ends = [len(self.elements)] * len(self.elements)
        opened: list[int] = []
        for place, depth in enumerate(self._depths):
            while opened and self._depths[opened[-1]] >= depth:
                ends[opened.pop()] = place
            opened.append(place)
        return ends

    def numbers_in(self, start: int, end: int) -> list[int]:
        """Return the places between two places whose elements hold a digit."""
        return self.numbers[bisect_left(self.numbers, start) : bisect_left(self.numbers, end)]


def look(root: etree._Element) -> View:
    """Go once through the elements of a page and keep what is on show."""
    view = View()
    holding = _around_headings(root)
    stack = [(root, 0)]
    while stack and len(view.elements) < _MAX_ELEMENTS:
        element, depth = stack.pop()
        tag = element.tag
        if not isinstance(tag, str) or tag in _HIDDEN_TAGS:
            continue
        if tag not in _FRAME and _is_elsewhere(element, tag, element in holding):
            continue
        children = list(islice(element, _MAX_ELEMENTS))
        view.add(element, children, depth)
        stack += [(child, depth + 1) for child in reversed(children)]
    return view


def _around_headings(root: etree._Element) -> set[etree._Element]:
    """Return the main headings and what they stand in."""
    found: set[etree._Element] = set()
    for heading in islice(root.iter("h1"), _MAX_HEADINGS):
        level: etree._Element | None = heading
        while level is not None and level not in found:
            found.add(level)
            level = level.getparent()
    return found


def _behind_icon(children: list[etree._Element]) -> str:
    """Return the text behind an empty first element: "<i class=check></i> In stock"."""
    if not children or children[0].tag not in _ICONS or len(children[0]) or (children[0].text or "").strip():
        return ""
    return (children[0].tail or "").strip()


def _has_digit(text: str | None, children: list[etree._Element]) -> bool:
    if text and _DIGIT.search(text):
        return len(text) <= _MAX_RAW
    for child in children:
        tail = child.tail
        if tail and _DIGIT.search(tail):
            return len(tail) <= _MAX_RAW
    return False


def tokens(element: etree._Element) -> frozenset[str]:
    """Return the words of an element's class and id in lower case: "price--oldPrice" has price and old."""
    return _words(_name(element, "class"), _name(element, "id"))


def _name(element: etree._Element, attribute: str) -> str:
    """Return the beginning of an attribute: what is kept for the next page must be short."""
    return (element.get(attribute) or "")[:_MAX_NAMES]


@lru_cache(maxsize=8192)  # a page has a few hundred class names, each asked for many times, and its store repeats them
def _words(names: str, identity: str) -> frozenset[str]:
    return frozenset([word.lower() for word in _WORD.findall(f"{names} {identity}")])


@lru_cache(maxsize=8192)
def _names_elsewhere(names: str, identity: str) -> bool:
    found = _words(words.NO_PLACE.sub("", names), identity)
    if found & words.PRICE:
        found -= words.BESIDE_PRICE  # "reviews-and-prices", "compare-price"
    return bool(found & words.ELSEWHERE)


def is_hidden(element: etree._Element) -> bool:
    """Say whether an element is there for scripts or for screen readers only."""
    style, names = _name(element, "style"), _name(element, "class")
    return bool(
        (style and "none" in style and _NO_DISPLAY.search(style))
        or element.get("hidden") is not None
        or (names and _is_for_readers(names))
    )


@lru_cache(maxsize=8192)
def _is_for_readers(names: str) -> bool:
    return words.FOR_READERS.search(names) is not None


def _is_elsewhere(element: etree._Element, tag: str, holds_heading: bool) -> bool:
    if is_hidden(element):
        return True
    if holds_heading:
        return False
    names, identity = _name(element, "class"), _name(element, "id")
    if tag == "header" and "product" not in _words(names, identity):
        return True
    return bool(names or identity) and _names_elsewhere(names, identity)


def ancestors(element: etree._Element) -> Path:
    """Return an element and what it stands in, the outermost first."""
    return [*reversed(list(element.iterancestors())), element]


def shared(left: Path, right: Path) -> int:
    """Return how deep the smallest element is that holds both, from their `ancestors`."""
    depth = 0
    for one, other in zip(left, right, strict=False):
        if one is not other:
            break
        depth += 1
    return depth


def text_of_amount(element: etree._Element, limit: int = _MAX_AMOUNT_TEXT) -> str:
    """Return the text of an element as it looks: raised cents don't run into the amount, nor words into each other.

    What isn't shown isn't in it. Longer text than ``limit`` is cut somewhere behind it.
    """
    joined = ""
    for text in _shown_texts(element):
        if len(text) > _MAX_RAW:
            text = _SPACES.sub(" ", text[:_MAX_PART])
        if text.isspace() and joined[-1:].isspace():
            continue
        if joined and text:
            joined += _joint(joined, text)
        joined += text
        if len(joined) > limit and len(squash(joined)) > limit:
            break
    return squash(joined)


def _joint(joined: str, text: str) -> str:
    if joined[-1].isdigit() and text[0].isdigit():
        cents = text.strip()
        return "." if len(cents) == 2 and cents.isdigit() and "." not in joined else " "
    return " " if joined[-1].isalpha() and text[0].isalpha() else ""


def _shown_texts(element: etree._Element) -> Iterator[str]:
    """Yield the texts as they are needed: the element may be the whole page."""
    if element.text:
        yield element.text
    stack = [(element, iter(element))]
    for _ in range(_MAX_NODES):
        if not stack:
            return
        node, children = stack[-1]
        child = next(children, None)
        if child is None:
            stack.pop()
            if stack and node.tail:
                yield node.tail
        elif isinstance(child.tag, str) and child.tag not in _HIDDEN_TAGS and not is_hidden(child):
            if child.text:
                yield child.text
            stack.append((child, iter(child)))
        elif child.tail:
            yield child.tail


def leads_away(link: etree._Element) -> bool:
    """Say whether a link goes to another page."""
    href = (link.get("href") or "")[:_MAX_NAMES].strip().lower()
    return bool(href) and not href.startswith(("#", "javascript:"))
