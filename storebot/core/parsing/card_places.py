"""Where the cards of a catalogue page stand: the largest parts of its tree that link to one product only."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice, takewhile

from lxml import etree

from storebot.core.page import Page
from storebot.core.urls import absolute

_MAX_ELEMENTS = 400  # of one card; what is larger is a part of the page that happens to link to one product
_MAX_ALONE = 30  # of the only card of a page: no other one shows where it ends
_SEVERAL = ""  # the key of an element in which several products are linked: no URL key is empty

Card = tuple[str, etree._Element]


def places(page: Page, keys: Mapping[str, str]) -> list[Card]:
    """Return key and element of each card, in page order; ``keys`` has the URL key of each product link, by its URL.

    A product may have several."""
    if page.root is None:
        return []
    links = _links(page, page.root, keys)
    owners: dict[etree._Element, str] = {}
    for key, link in links:
        _own(owners, key, link)
    most = _MAX_ELEMENTS if owners.get(page.root) == _SEVERAL else _MAX_ALONE
    found: dict[etree._Element, str] = {}
    for key, link in links:
        found.setdefault(_card(owners, key, link, most), key)
    return [(key, element) for element, key in found.items()]


def _links(page: Page, root: etree._Element, keys: Mapping[str, str]) -> list[Card]:
    """Return the links to products with their keys. An address is resolved once: a card has it two or three times."""
    known: dict[str, str | None] = {}
    found: list[Card] = []
    for element in root.iter("a", "area"):
        href = element.get("href")
        if not href:
            continue
        if href not in known:
            known[href] = keys.get(absolute(href, page.base_url) or "")
        if key := known[href]:
            found.append((key, element))
    return found


def _own(owners: dict[etree._Element, str], key: str, link: etree._Element) -> None:
    """Note of a link and all that it stands in which product it's about. Stops where no more is to be said."""
    level: etree._Element | None = link
    while level is not None:
        owner = owners.get(level)
        if owner in (key, _SEVERAL):
            return
        owners[level] = key if owner is None else _SEVERAL
        level = level.getparent()


def _card(owners: Mapping[etree._Element, str], key: str, link: etree._Element, most: int) -> etree._Element:
    inside = [link, *takewhile(lambda level: owners[level] == key, link.iterancestors())]
    while len(inside) > 1 and sum(1 for _ in islice(inside[-1].iter(), most + 1)) > most:
        inside.pop()
    return inside[-1]
