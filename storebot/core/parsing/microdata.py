"""Microdata as nodes, so that one reader understands it and JSON-LD. https://html.spec.whatwg.org/multipage/microdata.html"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from lxml import etree

from storebot.core.page import Page
from storebot.core.parsing.nodes import MAX_VALUE, PRODUCT_TYPE, Budget, add, read_nodes, words_of
from storebot.core.parsing.schemaorg import Found
from storebot.core.parsing.tags import ends_of
from storebot.core.parsing.values import shown
from storebot.core.scan import holds
from storebot.items import Problem

SOURCE = "microdata"
_TYPE = re.compile(rf"\s{{0,9}}=\s{{0,9}}[\"']?[^\"'>]{{0,300}}[/#]{PRODUCT_TYPE}".encode(), re.IGNORECASE)
_NAMES = (b"itemtype", b"itemType", b"ITEMTYPE")  # as HTML, React and old editors write it

Node = dict[str, Any]
Nodes = dict[etree._Element, Node]


def read(page: Page, titles: Callable[[], Sequence[str]]) -> Found:
    """Return what the microdata of a page says of its product; no tree is built for a page that types none."""
    if not _is_there(page.markup) or page.root is None:
        return Found(SOURCE)
    problems: list[Problem] = []
    return read_nodes(SOURCE, items(page.root, problems), page, titles, problems)


def _is_there(markup: bytes) -> bool:
    """Say whether an ``itemtype`` names what may be a product. Searched by its letters, for speed."""
    spelled = next((name for name in _NAMES if holds(markup, name)), None)
    return spelled is not None and any(_TYPE.match(markup, end) for end in ends_of(markup, spelled))


def items(root: etree._Element, problems: list[Problem] | None = None) -> list[Node]:
    """Return the top-level items of a tree as nodes: ``@type``, ``@id`` and properties; several values make a list.

    ``problems`` are told what was left out.
    """
    budget = Budget(SOURCE, [] if problems is None else problems)
    marked = budget.marked(root, "@itemscope or @itemprop")
    nodes = {element: _node(element) for element in marked if element.get("itemscope") is not None}
    referred = _referred(nodes)
    top: list[Node] = []
    for element in marked:
        node = nodes.get(element)
        names = words_of(element, "itemprop")
        told = budget.within(_owners(element, nodes, referred)) if names else ()
        owners = [owner for owner in told if owner is not None]
        if node is not None and not owners:
            top.append(node)
        for name in names if owners else ():
            short = name.rpartition("/")[2]
            value = budget.value_of(element, short) if node is None else node
            for owner in owners:
                add(owner, short, value)
    for element, node in nodes.items():
        if len(node) == 1:  # an item where text was meant: <span itemprop=brand itemscope>Acme</span>
            node["name"] = shown(element, MAX_VALUE)
    return top


def _referred(nodes: Nodes) -> dict[str, list[etree._Element]]:
    """Return the items that name an element elsewhere on the page as theirs, by its id (``itemref``)."""
    found: dict[str, list[etree._Element]] = {}
    for element in nodes:
        for identity in words_of(element, "itemref"):
            found.setdefault(identity, []).append(element)
    return found


def _owners(element: etree._Element, nodes: Nodes, referred: dict[str, list[etree._Element]]) -> Iterator[Node | None]:
    """Yield the items that an element is a property of: those that refer to it, and the one that it stands in.

    None for each item that refers to what it stands in itself: it costs as much.
    """
    level: etree._Element | None = element
    while level is not None:
        if level is not element and level in nodes:
            yield nodes[level]
            return
        for item in referred.get(level.get("id") or "", ()) if referred else ():
            yield None if _holds(element, item) else nodes[item]
        level = level.getparent()


def _holds(element: etree._Element, item: etree._Element) -> bool:
    """Say whether an item stands in an element: it would become a part of itself."""
    return item is element or any(ancestor is element for ancestor in item.iterancestors())


def _node(element: etree._Element) -> Node:
    node: Node = {"@type": (element.get("itemtype") or "").split()}
    if identity := element.get("itemid"):
        node["@id"] = identity
    return node
