"""What the structured data of a catalogue page says of the products on it: JSON-LD, microdata."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from storebot.core.page import Page
from storebot.core.parsing import jsonld, microdata
from storebot.core.parsing.lenient import MAX_BYTES, Broken, load
from storebot.core.parsing.schemaorg import MAX_DEPTH, MAX_NODES, Graph, is_product, records_of, types_of
from storebot.core.parsing.tags import encoding_of
from storebot.core.parsing.values import Clean, Values, from_dom, from_json, many, text_of
from storebot.core.scan import holds
from storebot.core.urls import absolute

_Node = dict[str, Any]
_PARTS = ("@graph", "mainEntity", "mainEntityOfPage", "itemListElement", "item", "hasPart")
_SPEAKS = (b'"price', b'"lowPrice')  # JSON-LD without either has no price: most of a catalogue page's


def records(page: Page, keys: Mapping[str, str]) -> dict[str, tuple[str, list[Values]]]:
    """Return, by URL key, the source of what is said of a product, and its records: several where it has variants.

    ``keys`` has the URL keys of the page's product links, by URL: what is said of other addresses isn't of a card.
    """
    found: dict[str, tuple[str, list[Values]]] = {}
    for source, nodes, clean in ((jsonld.SOURCE, _json(page), from_json), (microdata.SOURCE, _items(page), from_dom)):
        for node, url in _products(nodes, clean):
            key = keys.get(absolute(url, page.base_url) or "")
            if key is not None and key not in found:
                found[key] = (source, records_of(node, Graph(), clean))
    return found


def _json(page: Page) -> list[Any]:
    found: list[Any] = []
    left = MAX_BYTES
    for _, block in jsonld.blocks_of(page):
        left -= len(block)
        if left < 0:
            break
        if not any(word in block for word in _SPEAKS):
            continue
        try:
            found.append(load(block, encoding_of(block, page)))
        except Broken:
            continue  # the cards themselves say what it would have said
    return found


def _items(page: Page) -> list[_Node]:
    markup = page.markup
    if not (holds(markup, b"itemtype") and holds(markup, b"itemprop")) or page.root is None:
        return []
    return microdata.items(page.root)


def _products(nodes: Sequence[Any], clean: Clean) -> Iterator[tuple[_Node, str]]:
    """Yield the products in lists, graphs and main entities, each with its address: its own, or its place's."""
    stack: list[tuple[Any, int, str]] = [(node, 0, "") for node in reversed(nodes)]
    for _ in range(MAX_NODES):
        if not stack:
            return
        value, depth, place = stack.pop()
        if isinstance(value, list) and depth < MAX_DEPTH:
            stack.extend((item, depth + 1, place) for item in reversed(value))
        elif isinstance(value, dict) and is_product(value):
            if url := _url(value, clean) or place:
                yield value, url
        elif isinstance(value, dict) and depth < MAX_DEPTH:
            place = _url(value, clean) if "ListItem" in types_of(value) else ""
            stack.extend((value[name], depth + 1, place) for name in reversed(_PARTS) if name in value)


def _url(node: _Node, clean: Clean) -> str:
    own = text_of(node.get("url"), clean, "@id") or ""
    if own:
        return own
    offers = (offer for offer in many(node.get("offers")) if isinstance(offer, dict))
    urls = {text for offer in offers if (text := text_of(offer.get("url"), clean, "@id"))}
    return urls.pop() if len(urls) == 1 else text_of(node.get("@id"), clean) or ""
