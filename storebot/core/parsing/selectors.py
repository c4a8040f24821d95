"""A store's own selectors, run against one page."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Mapping

from lxml import etree

from storebot.core.page import Page
from storebot.core.parsing.rules import Rule
from storebot.core.parsing.schemaorg import Found
from storebot.core.parsing.values import Value, from_dom, from_json, is_blank, shown, squash

SOURCE = "selectors"
LIST_FIELDS = ("images", "category_path")
MAX_MATCHES = 500
LINK_ATTRIBUTES = {"images": ("src", "href", "content"), "url": ("href",), "canonical_url": ("href",)}


def read(page: Page, fields: Mapping[str, tuple[Rule, ...]]) -> Found:
    """Return what a store's selectors find: for each field, the first rule that yields a value."""
    found = Found(SOURCE)
    record: dict[str, Value] = {}
    for name, rules in fields.items():
        for rule in rules:
            texts = select(page, rule, LINK_ATTRIBUTES.get(name, ()))
            if texts:
                record[name] = list(dict.fromkeys(texts)) if name in LIST_FIELDS else texts[0]
                found.sources[name] = rule.source
                break
    if record:
        found.records = [record]
    return found


def select(page: Page, rule: Rule, attributes: tuple[str, ...] = (), within: etree._Element | None = None) -> list[str]:
    """Return the texts that a rule finds, none of them blank; an element gives ``attributes`` before its text.

    ``within`` is the element of the page to look in; without it, the whole page.
    """
    if isinstance(rule.compiled, re.Pattern):
        return _matches(rule.compiled, page.text if within is None else source_of(within))
    texts = (_text(item, attributes) for item in matches(page, rule, within))
    return [text for text in texts if not is_blank(text)]


def raw(page: Page, rule: Rule, within: etree._Element | None = None) -> list[str]:
    """Return what a rule finds as it stands, entities and white space included: JSON in a script or an attribute."""
    if isinstance(rule.compiled, re.Pattern):
        text = page.text if within is None else source_of(within)
        found = ((match[1] if rule.compiled.groups else match[0]) or "" for match in rule.compiled.finditer(text))
        return [text for text in itertools.islice(found, MAX_MATCHES) if text.strip()]
    texts = (
        "".join(map(str, item.itertext())) if isinstance(item, etree._Element) else str(item)
        for item in matches(page, rule, within)
    )
    return [text for text in texts if text.strip()]


def source_of(element: etree._Element) -> str:
    """Return an element as HTML text, without what follows it."""
    return etree.tostring(element, encoding="unicode", method="html", with_tail=False)


def matches(page: Page, rule: Rule, within: etree._Element | None = None) -> list[object]:
    """Return what an XPath or CSS rule selects: elements and texts."""
    root = page.root if within is None else within
    if root is None or isinstance(rule.compiled, re.Pattern):
        return []
    try:
        result = rule.compiled(root)
    except etree.XPathEvalError:  # a resource limit of libxml2: this page has nothing for the rule
        return []
    return list(result[:MAX_MATCHES]) if isinstance(result, list) else [result]


def _matches(pattern: re.Pattern[str], text: str) -> list[str]:
    found: list[str] = []
    for match in pattern.finditer(text):
        # The page's source is read, so entities are still encoded.
        value = squash(from_json((match[1] if pattern.groups else match[0]) or ""))
        if not is_blank(value):
            found.append(value)
        if len(found) >= MAX_MATCHES:
            break
    return found


def _text(item: object, attributes: tuple[str, ...]) -> str:
    if isinstance(item, etree._Element):
        given = next((value for name in attributes if (value := item.get(name))), None)
        return squash(from_dom(given)) if given is not None else from_dom(shown(item))
    if isinstance(item, float):
        return "" if math.isnan(item) else f"{item:.10g}"
    return squash(from_dom(str(item)))
