"""The selectors of a store file, compiled once: CSS, ``xpath:`` and ``re:``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol

from cssselect import ExpressionError, SelectorError
from lxml import etree
from parsel.csstranslator import HTMLTranslator

from storebot.core.page import Page
from storebot.core.parsing.schemaorg import Found

_NAMESPACES = {"re": "http://exslt.org/regular-expressions"}
_SAMPLE = b"<html><head><title>x</title></head><body><p class='x'>x</p></body></html>"

PARSER = "product.py"
"""The source of what a store's own code says, in ``field_source``; behind it may stand the selector that it used."""
PARSER_NUMBER = f"{PARSER} (a number)"
"""The same, where it gave a number instead of text."""

Kind = Literal["css", "xpath", "re"]


@dataclass(frozen=True, slots=True)
class Rule:
    """One selector: ``text`` is what the store file says without its prefix, ``compiled`` what runs."""

    kind: Kind
    text: str
    compiled: etree.XPath | re.Pattern[str] = field(repr=False, compare=False)

    @property
    def source(self) -> str:
        """The name of this rule in ``field_source``."""
        return f"{self.kind}:{self.text}"


class Parser(Protocol):
    """A store's own code for its product pages: the selectors that it names, and those names that are fields."""

    @property
    def selectors(self) -> Mapping[str, tuple[Rule, ...]]: ...

    @property
    def fields(self) -> tuple[str, ...]: ...

    def __call__(self, page: Page) -> Found:
        """Read a page; never raises: what goes wrong is the ``failure`` of what is found."""
        ...


@dataclass(frozen=True, slots=True)
class ProductRules:
    """What a store's ``[product]`` section says.

    ``fields`` maps a field to its rules in order: the first that yields a value wins. ``declared`` are constants.
    ``prefer`` decides between the page's structured data and the rules where both give a field. By default structured
    data wins and rules fill gaps: it is what the shop publishes for machines, survives redesigns, and is found without
    a tree. A store whose structured data is wrong says ``selectors``, at the cost of a tree for each page. ``parser``
    comes before all of them, field by field: who wrote code for a page has looked at it.
    """

    fields: Mapping[str, tuple[Rule, ...]] = field(default_factory=dict)
    declared: Mapping[str, str] = field(default_factory=dict)
    prefer: Literal["structured", "selectors"] = "structured"
    parser: Parser | None = None

    @property
    def named(self) -> tuple[str, ...]:
        """The fields of a record that have a selector."""
        own = self.parser.fields if self.parser else ()
        return tuple(dict.fromkeys((*own, *self.fields)))

    def tried(self, name: str) -> tuple[str, ...]:
        """Return the selectors that are there for a field, in the order in which they are tried, as sources."""
        own = self.parser.selectors.get(name, ()) if self.parser else ()
        return tuple(rule.source for rule in (*own, *self.fields.get(name, ())))

    def tried_in_words(self, *names: str) -> str:
        """Return those of several fields in words: ``name: css:h1, xpath://h2; price: css:.price``; "" for none."""
        tried = ((name, ", ".join(self.tried(name))) for name in names)
        return "; ".join(f"{name}: {selectors}" for name, selectors in tried if selectors)


def compile_rule(text: str) -> Rule:
    """Compile one selector; raises ValueError with a sentence that names what is wrong.

    CSS knows ``::text`` and ``::attr(name)``. A regular expression gives its first group, or the whole match.
    """
    kind, body = _split(text)
    if not body:
        raise ValueError(f"the selector {text!r} is empty")
    if kind == "re":
        return Rule(kind, body, _regex(body))
    return Rule(kind, body, _xpath(_translated(body) if kind == "css" else body, f"{kind}:{body}"))


def _split(text: str) -> tuple[Kind, str]:
    if text.startswith("xpath:"):
        return "xpath", text.removeprefix("xpath:").strip()
    if text.startswith("re:"):
        return "re", text.removeprefix("re:").strip()
    return "css", text.removeprefix("css:").strip()


def _regex(pattern: str) -> re.Pattern[str]:
    try:
        return re.compile(pattern, re.DOTALL)
    except (re.error, OverflowError, RecursionError) as error:
        raise ValueError(f"the regular expression {pattern!r} is wrong: {error}") from error


def _translated(css: str) -> str:
    try:
        return str(HTMLTranslator().css_to_xpath(css))
    except (SelectorError, ExpressionError, RecursionError) as error:
        raise ValueError(f"the CSS selector {css!r} is wrong: {error}") from error


def _xpath(expression: str, shown: str) -> etree.XPath:
    try:
        # Smart strings would keep the whole tree alive as long as one text of it.
        compiled = etree.XPath(expression, namespaces=_NAMESPACES, smart_strings=False)
        # Unknown functions, variables and prefixes only show when it runs.
        result = compiled(etree.fromstring(_SAMPLE))
    except (etree.XPathError, ValueError) as error:
        raise ValueError(f"the selector {shown!r} is wrong: {error}") from error
    if isinstance(result, bool):
        raise ValueError(f"the selector {shown!r} gives true or false, not text")
    return compiled
