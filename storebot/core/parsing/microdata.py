"""Microdata as nodes, so that one reader understands it and JSON-LD. https://html.spec.whatwg.org/multipage/microdata.html"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from lxml import etree

from storebot.core.page import Page
from storebot.core.parsing.mainproduct import choose_main
from storebot.core.parsing.schemaorg import Found, path_of, records_of, richest, siblings_of, survey
from storebot.core.parsing.values import Values, from_dom, shown, squash
from storebot.items import Problem

SOURCE = "microdata"
MAX_ELEMENTS = 5000
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
# Names whose letter case shops get wrong ("pricecurrency").
_SPELLED = {
    name.lower(): name
    for name in ("priceCurrency", "lowPrice", "highPrice", "itemCondition", "ratingValue", "reviewCount", "productID")
}
_BRAND_LABEL = re.compile(r".*\b(?:brand|marke|marque|marca|merk|značka|бренд):\s*(\S.*)", re.IGNORECASE)
_VALUE_ATTRIBUTES = {"time": "datetime", "data": "value", "meter": "value"}


def read(page: Page, titles: Callable[[], Sequence[str]]) -> Found:
    """Return what the microdata of a page says of its product."""
    found = Found(SOURCE)
    if b"itemscope" not in page.markup.lower() or page.root is None:
        return found
    graph = survey(items(page.root))
    if not graph.products:
        return found
    urls = (page.url, page.requested_url, page.canonical_url or "")
    groups = choose_main(graph.products, urls, titles)
    if groups is None:
        reason = f"microdata describes {len(graph.products)} products and nothing says which one this page sells"
        found.problems.append(Problem("price", reason))
        return found
    found.records = _merged([[records_of(node, graph, from_dom) for node in group] for group in groups])
    for record in found.records:
        if isinstance(brand := record.get("brand"), str) and (match := _BRAND_LABEL.fullmatch(brand)):
            record["brand"] = match[1]  # "See all of the brand: Acme"
    if path := path_of(graph.breadcrumbs, from_dom, found.records[0]):
        for record in found.records:
            record["category_path"] = path
    return found


def items(root: etree._Element) -> list[dict[str, Any]]:
    """Return the top-level items of a tree as nodes: ``@type``, ``@id`` and properties; several values make a list."""
    nodes: dict[etree._Element, dict[str, Any]] = {}
    top: list[dict[str, Any]] = []
    for element in _marked(root)[:MAX_ELEMENTS]:
        owner = _owner(element, nodes)
        value: Any
        if element.get("itemscope") is not None:
            value = nodes[element] = _node(element)
        else:
            value = _value(element)
        names = (element.get("itemprop") or "").split()
        if owner is None or not names:
            if isinstance(value, dict):
                top.append(value)
            continue
        for name in names:
            short = name.rpartition("/")[2]
            _add(owner, _SPELLED.get(short.lower(), short), value)
    for element, node in nodes.items():
        if len(node) == 1:  # an item where text was meant: <span itemprop=brand itemscope>Acme</span>
            node["name"] = shown(element)
    return top


def _marked(root: etree._Element) -> list[etree._Element]:
    result = root.xpath("//*[@itemscope or @itemprop]")
    return [element for element in result if isinstance(element, etree._Element)] if isinstance(result, list) else []


def _owner(element: etree._Element, nodes: dict[etree._Element, dict[str, Any]]) -> dict[str, Any] | None:
    return next((nodes[ancestor] for ancestor in element.iterancestors() if ancestor in nodes), None)


def _node(element: etree._Element) -> dict[str, Any]:
    node: dict[str, Any] = {"@type": (element.get("itemtype") or "").split()}
    if identity := element.get("itemid"):
        node["@id"] = identity
    return node


def _value(element: etree._Element) -> str:
    content = element.get("content")
    if content is not None:
        return squash(content)
    tag = str(element.tag)
    attribute = _URL_ATTRIBUTES.get(tag) or _VALUE_ATTRIBUTES.get(tag)
    if attribute and (given := element.get(attribute)) is not None:
        return given
    return shown(element)


def _add(node: dict[str, Any], name: str, value: Any) -> None:
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
