"""The heading that names a page's product."""

from __future__ import annotations

from collections.abc import Sequence

from lxml import etree

from storebot.core.parsing.values import shown, squash
from storebot.core.parsing.visible_labels import labelled
from storebot.core.parsing.visible_tree import tokens

_HEADINGS = ("h1", "h2", "h3")
_MIN_NAME = 3


def find_heading(root: etree._Element, elements: Sequence[etree._Element]) -> etree._Element | None:
    """Return what names the product: the first heading that the title repeats, else the only main heading."""
    titles = [shown(one).casefold() for one in root.iter("title")][:1]
    titles += [
        squash(one.get("content") or "").casefold() for one in root.iter("meta") if one.get("property") == "og:title"
    ][:1]
    headings = [one for tag in _HEADINGS for one in elements if one.tag == tag]
    for one in headings:
        name = name_of(one).casefold()
        if len(name) >= _MIN_NAME and any(name in title for title in titles):
            return one
    for one in headings:
        name = name_of(one).casefold()
        if one.tag == "h1" and any(title.startswith(name[: max(10, len(name) // 2 + 1)]) for title in titles):
            return one
    mains = {name_of(one): one for one in reversed(headings) if one.tag == "h1" and len(name_of(one)) >= _MIN_NAME}
    if len(mains) == 1:
        return next(iter(mains.values()))
    for one in elements if not mains else ():
        if not tokens(one) & {"title", "name"} or len(one) > 2:
            continue
        name = shown(one).casefold()
        if len(name) >= _MIN_NAME and any(name in title for title in titles):
            return one
    return None


def name_of(heading: etree._Element) -> str:
    """Return the heading's text, without a label that stands in it ("Code: 123")."""
    text = shown(heading)
    for child in heading:
        inner = shown(child) if isinstance(child.tag, str) else ""
        if ":" in inner and text.endswith(inner) and len(inner) < len(text) and labelled(inner):
            text = text.removesuffix(inner).strip()
    return text
