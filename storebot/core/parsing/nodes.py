"""The product that nodes of a tree describe: microdata and RDFa say the same things in other attributes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from lxml import etree

from storebot.core.page import Page
from storebot.core.parsing.mainproduct import choose_main
from storebot.core.parsing.schemaorg import (
    PRODUCT_TYPES,
    SELLABLE_TYPES,
    Found,
    path_of,
    records_of,
    richest,
    siblings_of,
    survey,
)
from storebot.core.parsing.values import Values, from_dom, shown, squash
from storebot.items import Problem

MAX_ELEMENTS = 5000
MAX_VALUE = 5_000
"""Characters of a property's text, a description's apart."""
_MAX_PROPERTIES = 20_000  # of all items: a thousand items may refer to one part of a page
_MAX_TEXT = 1_000_000  # characters of all properties: elements in elements repeat each other's text
_MAX_WORDS = 50  # of one attribute
PRODUCT_TYPE = "(?:" + "|".join(sorted(PRODUCT_TYPES | SELLABLE_TYPES)) + r")\b"
"""A pattern of the types that may be the page's product: without one of them, the tree holds nothing of interest."""

_URL_ATTRIBUTES = {
    "a": "href",
    "area": "href",
    "link": "href",
    "img": "src",
    "audio": "src",
    "embed": "src",
    "iframe": "src",
    "source": "src",
    "video": "src",
    "object": "data",
}
_VALUE_ATTRIBUTES = {"time": "datetime", "data": "value", "meter": "value"}
# What is read as text although it stands in a link: an address is nobody's name.
_TEXTS = frozenset({"name", "brand", "manufacturer", "category", "sku", "mpn", "price"})
# Names whose letter case shops get wrong ("pricecurrency").
_SPELLED = {
    name.lower(): name
    for name in ("priceCurrency", "lowPrice", "highPrice", "itemCondition", "ratingValue", "reviewCount", "productID")
}
_BRAND_LABEL = re.compile(r".*\b(?:brand|marke|marque|marca|merk|značka|бренд):\s*(\S.*)", re.IGNORECASE)


class Budget:
    """What may be read of one tree; ``problems`` are told, once each, what was left out."""

    def __init__(self, source: str, problems: list[Problem]) -> None:
        self.source, self.problems = source, problems
        self._properties, self._text = _MAX_PROPERTIES, _MAX_TEXT

    def marked(self, root: etree._Element, condition: str) -> list[etree._Element]:
        """Return the first `MAX_ELEMENTS` elements for which a condition of XPath holds."""
        result = root.xpath(f"(//*[{condition}])[position() <= {MAX_ELEMENTS + 1}]")
        found = [one for one in result if isinstance(one, etree._Element)] if isinstance(result, list) else []
        if len(found) > MAX_ELEMENTS:
            self._tell(f"the page marks more than {MAX_ELEMENTS:,} elements as {self.source}")
        return found[:MAX_ELEMENTS]

    def within(self, owners: Iterator[Any]) -> Iterator[Any]:
        """Yield owners of one property as long as there may be more properties."""
        for owner in owners:
            if self._properties <= 0:
                self._tell(f"the {self.source} of the page has more than {_MAX_PROPERTIES:,} properties")
                return
            self._properties -= 1
            yield owner

    def value_of(self, element: etree._Element, name: str) -> str:
        """Return `value_of`, or "" where all texts together are too long."""
        if self._text <= 0:
            self._tell(f"the {self.source} of the page has more than {_MAX_TEXT:,} characters")
            return ""
        text = value_of(element, name)
        self._text -= len(text)
        return text

    def _tell(self, reason: str) -> None:
        problem = Problem(self.source, f"{reason}: the others aren't read")
        if problem not in self.problems:
            self.problems.append(problem)


def words_of(element: etree._Element, attribute: str) -> list[str]:
    """Return the words of an attribute, once each, the first `_MAX_WORDS` of them."""
    given = element.get(attribute)
    return list(dict.fromkeys(given[: _MAX_WORDS * 200].split()))[:_MAX_WORDS] if given else []


def read_nodes(
    source: str,
    nodes: Sequence[Any],
    page: Page,
    titles: Callable[[], Sequence[str]],
    problems: Sequence[Problem] = (),
) -> Found:
    """Return what the top nodes of a tree say of the page's product; ``problems`` are those of reading the tree."""
    found = Found(source)
    found.problems.extend(problems)
    graph = survey(nodes)
    if not graph.products:
        return found
    urls = (page.url, page.requested_url, page.canonical_url or "")
    groups = choose_main(graph.products, urls, titles)
    if groups is None:
        reason = f"{source} describes {len(graph.products)} products and nothing says which one this page sells"
        found.problems.append(Problem("price", reason))
        return found
    found.records = _merged([[records_of(node, graph, from_dom) for node in group] for group in groups])
    found.problems.extend(graph.problems)
    for record in found.records:
        if isinstance(brand := record.get("brand"), str) and (match := _BRAND_LABEL.fullmatch(brand)):
            record["brand"] = match[1]  # "See all of the brand: Acme"
    if path := path_of(graph.breadcrumbs, from_dom, found.records[0]):
        for record in found.records:
            record["category_path"] = path
    return found


def value_of(element: etree._Element, name: str) -> str:
    """Return what an element that isn't a node itself says of a property: ``content``, an address, a time, its text."""
    content = element.get("content")
    if content is not None:
        return squash(content)
    tag = str(element.tag)
    attribute = _VALUE_ATTRIBUTES.get(tag) or ("" if name in _TEXTS else _URL_ATTRIBUTES.get(tag))
    if attribute and (given := element.get(attribute)) is not None:
        return squash(given)
    return shown(element) if name == "description" else shown(element, MAX_VALUE)


def add(node: dict[str, Any], name: str, value: Any) -> None:
    """Add a value to a node's property, in its right spelling; several values make a list."""
    name = _SPELLED.get(name.lower(), name)
    present = node.get(name)
    if present is None:
        node[name] = value
    elif isinstance(present, list):
        present.append(value)
    else:
        node[name] = [present, value]


def _merged(groups: Sequence[list[list[Values]]]) -> list[Values]:
    """Return the richest of several readings of one product, its gaps filled by the others."""
    if family := siblings_of([readings[0] for readings in groups]):
        return family
    best = groups[0][richest(groups[0])]
    if len(best) == 1:
        for reading in groups[0]:
            best[0].update({name: value for name, value in reading[0].items() if name not in best[0]})
    return best
