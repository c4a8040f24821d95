"""A page's tree as a buyer sees it: what is on show, and how near two things stand."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from lxml import etree

from storebot.core.parsing import visible_words as words
from storebot.core.parsing.values import squash

_HIDDEN_TAGS = frozenset({"script", "style", "noscript", "template", "svg", "select", "nav", "footer", "iframe"})
_MAX_ELEMENTS = 20_000
_MAX_AMOUNT_TEXT = 150  # characters; what is longer isn't the text of an amount
_WORD = re.compile(r"[A-Za-z][a-z]+|[A-Z]+")


Path = list[etree._Element]
"""An element and what it stands in, the outermost first."""


def tokens(element: etree._Element) -> frozenset[str]:
    """Return the words of an element's class and id in lower case: "price--oldPrice" has price and old."""
    return _words(element.get("class") or "", element.get("id") or "")


@lru_cache(maxsize=4096)  # a page has a few hundred class names, and each is asked for many times
def _words(names: str, identity: str) -> frozenset[str]:
    return frozenset([word.lower() for word in _WORD.findall(f"{names} {identity}")])


def on_show(root: etree._Element) -> Iterator[etree._Element]:
    """Yield the elements of the page in order, without its frame and without places that sell other things."""
    stack, count = [root], 0
    while stack and count < _MAX_ELEMENTS:
        element = stack.pop()
        if not isinstance(element.tag, str) or _is_elsewhere(element):
            continue
        count += 1
        yield element
        stack.extend(reversed(element))


def _is_elsewhere(element: etree._Element) -> bool:
    if element.tag in ("html", "body", "main"):
        return False
    if element.tag in _HIDDEN_TAGS:
        return True
    style = element.get("style")
    if style and "none" in style and re.search(r"display\s*:\s*none", style):
        return True
    found = tokens(element)
    if element.tag == "header" and "product" not in found and next(element.iter("h1"), None) is None:
        return True
    return bool(found & words.ELSEWHERE) and next(element.iter("h1"), None) is None


def ancestors(element: etree._Element) -> list[etree._Element]:
    """Return an element and what it stands in, the outermost first."""
    return [*reversed(list(element.iterancestors())), element]


def shared(left: list[etree._Element], right: list[etree._Element]) -> int:
    """Return how deep the smallest element is that holds both, from their `ancestors`."""
    depth = 0
    for one, other in zip(left, right, strict=False):
        if one is not other:
            break
        depth += 1
    return depth


def text_of_amount(element: etree._Element) -> str:
    """Return the text of an element as it looks: digits in elements of their own (raised cents) don't run together."""
    joined = ""
    for part in element.itertext():
        text = str(part)
        if joined[-1:].isdigit() and text[:1].isdigit():
            joined += "." if len(text.strip()) == 2 and text.strip().isdigit() and "." not in joined else " "
        joined += text
        if len(joined) > _MAX_AMOUNT_TEXT:
            break
    return squash(joined)


def leads_away(link: etree._Element) -> bool:
    """Say whether a link goes to another page."""
    href = (link.get("href") or "").strip().lower()
    return bool(href) and not href.startswith(("#", "javascript:"))
