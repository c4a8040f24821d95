"""The links of a page, each with what stands around it: a product's card, a menu, or text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from lxml import etree

from storebot.core.page import Page
from storebot.core.parsing.currency import WEAK, mentions
from storebot.core.parsing.values import shown
from storebot.core.parsing.visible_tree import tokens
from storebot.core.probing.seen import Link
from storebot.core.urls import absolute

_MAX_LINKS = 3000
_MENUS = frozenset({"nav", "navbar", "navigation", "menu", "megamenu", "breadcrumb", "breadcrumbs", "submenu"})
# Whole names: "card-header" is no page's header.
_FRAMES = frozenset(
    f"{part}{kind}" for part in ("", "site-", "page-", "main-", "global-", "top-") for kind in ("header", "footer")
)
_MAX_EDGES = 3  # headers or footers of a page; where there are more, cards have them
_CARDS = frozenset({"article", "li", "main", "section"})  # may have a header of their own
_UP = 5  # levels between a link and the card that it stands in
_MAX_CARD_TEXT = 600  # characters; a card is short
_AMOUNT = re.compile(r"\d")
_DEEDS = re.compile(r"add|cart|basket|wish|compare|quick|login|javascript:|#|tel:|mailto:", re.IGNORECASE)


def page_links(page: Page) -> tuple[Link, ...]:
    """Return the links that can be fetched, in page order; the same address may come several times."""
    if page.root is None:
        return ()
    return tuple(_links(page, page.root))


def _links(page: Page, root: etree._Element) -> Iterator[Link]:
    base = page.base_url
    resolved: dict[str, str | None] = {}
    frames: dict[etree._Element, bool] = {}
    edges = frozenset(tag for tag in ("header", "footer") if len(root.findall(f".//{tag}")) <= _MAX_EDGES)

    def is_frame(one: etree._Element) -> bool:
        if one not in frames:
            frames[one] = _is_frame(one, edges)
        return frames[one]

    count = 0
    for element in root.iter("a", "area"):
        href = element.get("href")
        if not href:
            continue
        url = resolved[href] if href in resolved else resolved.setdefault(href, absolute(href, base))
        if url is None:
            continue
        yield _link(element, url, href, is_frame)
        count += 1
        if count >= _MAX_LINKS:
            return


def _link(element: etree._Element, url: str, href: str, is_frame: Callable[[etree._Element], bool]) -> Link:
    in_frame = any(is_frame(one) for one in element.iterancestors())
    is_card, has_price = (False, False) if in_frame else _card(element, href)
    return Link(
        url=url,
        text=shown(element)[:200] or (element.get("title") or "").strip()[:200],
        rel=frozenset((element.get("rel") or "").lower().split()),
        classes=frozenset((element.get("class") or "").split()),
        in_frame=in_frame,
        is_card=is_card,
        has_price=has_price,
    )


def _is_frame(element: etree._Element, edges: frozenset[object]) -> bool:
    if element.tag in ("html", "body", "main", "article"):
        return False
    if element.tag in ("header", "footer"):
        return element.tag in edges and not any(one.tag in _CARDS for one in element.iterancestors())
    names = {*(element.get("class") or "").lower().split(), (element.get("id") or "").lower()}
    if element.tag != "nav" and not names & _FRAMES and not tokens(element) & _MENUS:
        return False
    return element.find(".//h1") is None  # what holds the page's own heading is the page: "layout-with-menu"


def _card(link: etree._Element, href: str) -> tuple[bool, bool]:
    """Say whether a picture or a price stands with a link, and whether a price does; no other page is linked there."""
    picture = False
    for level in _levels(link, href):
        picture = picture or level.find(".//img") is not None
        if has_price(shown(level)):
            return True, True
    return picture, False


def priced_card(link: etree._Element) -> etree._Element | None:
    """Return the smallest element around a link in which a price stands with it; None where there is none."""
    levels = _levels(link, link.get("href") or "")
    return next((level for level in levels if has_price(shown(level))), None)


def _levels(link: etree._Element, href: str) -> Iterator[etree._Element]:
    """Yield a link and what it stands in, as far as no other page is linked there and a card's text is short."""
    for number, one in enumerate((link, *link.iterancestors())):
        if number > _UP or one.tag in ("html", "body", "main") or _leads_elsewhere(one, href):
            return
        if len(shown(one)) > _MAX_CARD_TEXT:
            return
        yield one


def _leads_elsewhere(level: etree._Element, href: str) -> bool:
    own = href.partition("?")[0].partition("#")[0]
    for other in level.iter("a"):
        found = (other.get("href") or "").partition("#")[0]
        if found and found.partition("?")[0] != own and not _DEEDS.search(found):
            return True
    return False


def has_price(text: str) -> bool:
    """Say whether a text has a digit and names a currency."""
    return _AMOUNT.search(text) is not None and any(mark.text not in WEAK for mark in mentions(text))
