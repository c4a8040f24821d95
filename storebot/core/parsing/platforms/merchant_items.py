"""The items of a Merchant feed out of its text: RSS, Atom, or a table with a line of names on top."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator
from typing import cast

from lxml import etree

from storebot.core.parsing.platforms.merchant import Item
from storebot.core.parsing.sitemap_elements import MAX_ENTRY, MAX_GAP, free_read, local_name
from storebot.core.parsing.sitemap_source import MENDED_AMPERSAND, SitemapSource
from storebot.core.parsing.values import from_dom
from storebot.exceptions import UnreadableFeed

# Possessive: otherwise thirty comments cost a billion steps.
_ROOT = re.compile(
    r"(?:<\?xml[^>]*+>|<!--.*?-->|<!DOCTYPE[^>\[]*+>|\s++)*+<(?:[\w.-]+:)?(rss|feed|RDF)[\s>]", re.DOTALL
)
_ENTRIES = ("item", "entry")
_BOTH = ("title", "link", "description")  # RSS and Atom have these, too: Google's own come first
_NEEDED = {"id", "link", "title"}
_LINE = re.compile(r"[^\r\n]++[\r\n]*+")  # with the blank lines behind it: 100 MB of these are 100 million lines
_LONGEST_HEAD = 100_000  # characters; what is longer is no line of names
_LINE_END = re.compile(r"[\r\n]+")
_DELIMITERS = "\t|;,"


def is_xml_feed(head: str) -> bool:
    """Say whether a text begins as RSS or Atom does."""
    return _ROOT.match(head) is not None


def xml_items(source: SitemapSource, texts: Iterator[str]) -> Iterator[Item]:
    """Yield the items of RSS or Atom; broken XML is read as far as it goes, and no entity is expanded."""
    parser = etree.XMLPullParser(
        events=("end",), encoding="utf-8", recover=True, resolve_entities=False, no_network=True, load_dtd=False
    )
    root: etree._Element | None = None
    gap = 0
    for text in source.iter_xml(texts):
        gap += len(text)
        if gap > MAX_GAP:
            raise UnreadableFeed(f"it has {gap:,} characters without an item")
        parser.feed(text.encode("utf-8", "replace"))
        for _, element in cast("Iterable[tuple[str, etree._Element]]", parser.read_events()):
            root = element.getroottree().getroot() if root is None else root
            if local_name(element.tag) in _ENTRIES:
                gap = 0
                yield _item(element)
        if root is not None and not free_read(root, *_ENTRIES):
            raise UnreadableFeed(f"it has an item of more than {MAX_ENTRY:,} elements")


def _item(element: etree._Element) -> Item:
    """Return the item's own attributes: those inside another, such as the price of g:shipping, are not its own."""
    found: dict[str, list[str]] = {}
    for child in element:
        name = local_name(child.tag).lower()
        if not name or len(child) or child.get("rel", "alternate") != "alternate":
            continue
        value = from_dom((child.text or str(child.get("href", ""))).replace(MENDED_AMPERSAND, "&"))
        if value:
            values = found.setdefault(name, [])
            values.insert(0 if name in _BOTH and "base.google.com" in str(child.tag) else len(values), value)
    return found


def table_items(text: str) -> Iterator[Item]:
    """Yield the rows of a table: tab, bar, semicolon or comma between the columns. Raises `UnreadableFeed`."""
    head = _LINE_END.split(text, maxsplit=1)[0][:_LONGEST_HEAD]
    delimiter = next((sign for sign in _DELIMITERS if set(_names(head, sign)) >= _NEEDED), "")
    if not delimiter:
        raise UnreadableFeed(f"it has no line of names with id, title and link on top ({head[:60]!r})")
    names = _names(head, delimiter)
    try:
        for row in _rows(text, delimiter):
            item: dict[str, list[str]] = {}
            for name, value in zip(names, row, strict=False):
                if cleaned := from_dom(value):
                    item.setdefault(name, []).append(cleaned)
            if item:
                yield item
    except csv.Error as error:
        raise UnreadableFeed(f"its table breaks off: {error}") from error


def _rows(text: str, delimiter: str) -> Iterator[list[str]]:
    """Yield the rows below the names. In a table with tabs an odd quote on a line is a sign for inches."""
    inches = delimiter == "\t" and any(line.count('"') % 2 for line in _lines(text))
    rows = csv.reader(_lines(text), delimiter=delimiter, quoting=csv.QUOTE_NONE if inches else csv.QUOTE_MINIMAL)
    next(rows, None)
    yield from rows


def _lines(text: str) -> Iterator[str]:
    """Yield the lines with their ends, one at a time: a copy of all of them would take as much again."""
    return (match[0] for match in _LINE.finditer(text))


def _names(head: str, delimiter: str) -> list[str]:
    cells = next(csv.reader([head], delimiter=delimiter), [])
    return [re.sub(r"[\s-]+", "_", cell.strip().lower().removeprefix("g:")) for cell in cells]
