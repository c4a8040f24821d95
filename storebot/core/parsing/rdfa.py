"""RDFa as nodes, in the words of schema.org: ``vocab``, ``typeof``, ``property``, ``prefix``. https://www.w3.org/TR/rdfa-lite/"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from lxml import etree

from storebot.core.page import Page
from storebot.core.parsing.nodes import PRODUCT_TYPE, Budget, add, read_nodes, words_of
from storebot.core.parsing.schemaorg import Found
from storebot.core.parsing.tags import ends_of
from storebot.core.scan import holds
from storebot.items import Problem

SOURCE = "rdfa"
_NAME = b"typeof"
_TYPE = re.compile(rf"\s{{0,9}}=\s{{0,9}}[\"']?[^\"'>]{{0,300}}?(?<![\w-]){PRODUCT_TYPE}".encode(), re.IGNORECASE)
_SCHEMA = re.compile(r"https?://(?:www\.)?schema\.org/")
_PREFIX = re.compile(r"(?<![\w-])([\w-]+):\s*(\S+)")

Node = dict[str, Any]
Nodes = dict[etree._Element, Node]


def read(page: Page, titles: Callable[[], Sequence[str]]) -> Found:
    """Return what the RDFa of a page says of its product; no tree is built for a page that types none."""
    if not _is_there(page.markup) or page.root is None:
        return Found(SOURCE)
    problems: list[Problem] = []
    return read_nodes(SOURCE, items(page.root, problems), page, titles, problems)


def _is_there(markup: bytes) -> bool:
    """Say whether a ``typeof`` names what may be a product."""
    return holds(markup, _NAME) and any(_TYPE.match(markup, end) for end in ends_of(markup, _NAME))


def items(root: etree._Element, problems: list[Problem] | None = None) -> list[Node]:
    """Return the top-level resources of a tree as nodes: ``@type``, ``@id`` and properties; several make a list.

    Only words of schema.org count: plain ones where no other vocabulary is in force, those with a prefix that stands
    for it (``schema:`` needs no declaration), and whole addresses. ``problems`` are told what was left out.
    """
    budget = Budget(SOURCE, [] if problems is None else problems)
    words = _Words(root)
    nodes: Nodes = {}
    owners: dict[etree._Element, Node | None] = {}
    top: list[Node] = []
    for element in budget.marked(root, "@typeof or @property or @rel"):
        owner = _owner(element, nodes, owners)
        names = words.of(element, "property") or words.of(element, "rel")
        node: Node | None = None
        if types := words.of(element, "typeof"):
            node = nodes[element] = _node(element, types)
            names = names or _chained(element, nodes, words)
            if owner is None or not names:
                top.append(node)
        if owner is not None:
            for name in names:
                add(owner, name, _value(element, name, budget) if node is None else node)
    return top


def _owner(element: etree._Element, nodes: Nodes, owners: dict[etree._Element, Node | None]) -> Node | None:
    """Return the resource that an element stands in; what is known of its ancestors isn't looked up twice."""
    passed: list[etree._Element] = []
    owner: Node | None = None
    level = element.getparent()
    while level is not None:
        if level in nodes or level in owners:
            owner = nodes[level] if level in nodes else owners[level]
            break
        passed.append(level)
        level = level.getparent()
    owners.update(dict.fromkeys(passed, owner))
    return owner


class _Words:
    """What the terms of a page mean: its vocabularies and prefixes."""

    def __init__(self, root: etree._Element) -> None:
        declared = [str(text) for text in _found(root, "//@prefix")]
        pairs = [pair for text in declared for pair in _PREFIX.findall(text)]
        pairs += [(str(name)[6:], str(text)) for name, text in root.attrib.items() if str(name).startswith("xmlns:")]
        self.ours = {name for name, address in pairs if _SCHEMA.match(address)} | {"schema"}
        self.has_vocabularies = bool(_found(root, "//@vocab"))
        self._plain: dict[etree._Element, bool] = {}

    def of(self, element: etree._Element, attribute: str) -> list[str]:
        """Return the words of schema.org in an attribute, without their prefix; ``rel`` has none without one."""
        found: list[str] = []
        plain: bool | None = None
        for word in words_of(element, attribute):
            prefix, colon, name = word.partition(":")
            if address := _SCHEMA.match(word):
                found.append(word[address.end() :])
            elif colon and prefix in self.ours:
                found.append(name)
            elif not colon and attribute != "rel":
                plain = self._is_plain(element) if plain is None else plain
                found.extend([word] if plain else [])
        return found

    def _is_plain(self, element: etree._Element) -> bool:
        """Say whether a plain word is one of schema.org: it is, but where another vocabulary is in force."""
        if not self.has_vocabularies:
            return True
        passed: list[etree._Element] = []
        level: etree._Element | None = element
        plain = True
        while level is not None:
            if level in self._plain:
                plain = self._plain[level]
                break
            passed.append(level)
            if (vocabulary := level.get("vocab")) is not None:
                plain = _SCHEMA.match(vocabulary.rstrip("/") + "/") is not None
                break
            level = level.getparent()
        self._plain.update(dict.fromkeys(passed, plain))
        return plain


def _found(root: etree._Element, expression: str) -> list[Any]:
    result = root.xpath(expression)
    return result if isinstance(result, list) else []


def _node(element: etree._Element, types: list[str]) -> Node:
    node: Node = {"@type": types}
    if identity := element.get("resource") or element.get("about"):
        node["@id"] = identity
    return node


def _chained(element: etree._Element, nodes: Nodes, words: _Words) -> list[str]:
    """Return what an element around a resource makes it of the next one (``rel="schema:offers"``)."""
    for level in element.iterancestors():
        if level in nodes:
            break
        if names := words.of(level, "rel"):
            return names
    return []


def _value(element: etree._Element, name: str, budget: Budget) -> str:
    given = element.get("content")
    resource = element.get("resource") if given is None else None
    return resource or budget.value_of(element, name)
