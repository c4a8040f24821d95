"""The links of a page: those to products, and the one to the next page."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from lxml import etree

from storebot.core.page import Page
from storebot.core.parsing.rules import Rule
from storebot.core.parsing.selectors import matches, select
from storebot.core.urls import absolute

MAX_LINKS = 20_000


def read_links(page: Page, pattern: re.Pattern[str], rules: tuple[Rule, ...] = ()) -> list[str]:
    """Return the absolute URLs of the links that ``pattern`` finds, in page order, once each, without fragments.

    With ``rules`` only what these select counts: links, elements that contain links, or the addresses themselves. No
    more than `MAX_LINKS`: who gets so many hasn't got all.
    """
    hrefs = (href for rule in rules for href in _selected(page, rule)) if rules else _hrefs(page.root)
    return list(islice((url for url in _absolute(page, hrefs) if pattern.search(url)), MAX_LINKS))


def next_link(page: Page, rule: Rule | None = None) -> str | None:
    """Return the absolute URL of the next page: what the rule selects, or else ``rel=next``."""
    if rule is not None and (found := next(_absolute(page, _selected(page, rule)), None)):
        return found
    return next(_absolute(page, _next_hrefs(page.root)), None)


def _absolute(page: Page, hrefs: Iterator[str]) -> Iterator[str]:
    seen: set[str] = set()
    base = page.base_url
    for href in dict.fromkeys(hrefs):  # a card links to its product from the picture, the title and the button
        url = absolute(href, base)
        if url and url not in seen:
            seen.add(url)
            yield url


def _hrefs(root: etree._Element | None) -> Iterator[str]:
    if root is not None:
        for element in root.iter("a", "area"):
            if href := element.get("href"):
                yield href


def _selected(page: Page, rule: Rule) -> Iterator[str]:
    if rule.kind == "re":
        yield from select(page, rule)
    for item in matches(page, rule):
        if not isinstance(item, etree._Element):
            yield str(item)
        elif href := item.get("href"):
            yield href
        else:
            yield from _hrefs(item)


def _next_hrefs(root: etree._Element | None) -> Iterator[str]:
    if root is not None:
        for element in root.iter("link", "a"):
            if "next" in (element.get("rel") or "").lower().split() and (href := element.get("href")):
                yield href
