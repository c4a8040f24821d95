"""JSON-LD found in the bytes of a page, without a tree and without decoding the page."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Any

from storebot.core.page import Page
from storebot.core.parsing.lenient import MAX_BYTES, Broken, load
from storebot.core.parsing.mainproduct import choose_main
from storebot.core.parsing.schemaorg import Found, path_of, records_of, richest, siblings_of, survey
from storebot.core.parsing.tags import MAX_TAG_BYTES, Comments, encoding_of, end_of_script
from storebot.core.parsing.values import Values, from_json, same_amount
from storebot.items import Problem

SOURCE = "jsonld"
MAX_BLOCKS = 100
_MAX_LOOKED_AT = 500  # tags, those in comments included: a comment's beginning may be far away
_MAX_CLEANED = 10_000

_EXACT = b"application/ld+json"
_PREFIX = b"application/ld"
_TYPE = re.compile(rb"\stype\s*=\s*(?:[\"']\s*)?application/ld(?:\+|&#x2b;|&#43;|&plus;)json[\s;\"'/>]", re.IGNORECASE)


def read(page: Page, titles: Callable[[], Sequence[str]]) -> Found:
    """Return what the JSON-LD of a page says of its product; ``titles`` are asked for only where products compete."""
    found = Found(SOURCE)
    graph = survey(list(_parsed(page, found.problems)))
    if not graph.products:
        return found
    urls = (page.url, page.requested_url, page.canonical_url or "") if len(graph.products) > 1 else ()
    groups = choose_main(graph.products, urls, titles)
    if groups is None:
        reason = f"JSON-LD describes {len(graph.products)} products and nothing says which one this page sells"
        found.problems.append(Problem("price", reason))
        return found
    clean = lru_cache(_MAX_CLEANED)(from_json)  # one text may be referred to by thousands of variants
    _fill(found, [[records_of(node, graph, clean) for node in group] for group in groups])
    found.problems.extend(graph.problems)
    if path := path_of(graph.breadcrumbs, from_json, found.records[0]):
        for record in found.records:
            record["category_path"] = path
    return found


def blocks_of(page: Page) -> tuple[tuple[int, bytes], ...]:
    """Return the page's blocks with their positions, looking for them once."""
    if page.ld_json is None:
        page.ld_json = tuple(blocks(page.markup))
    return page.ld_json


def blocks(markup: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield position and content of each ``<script type=application/ld+json>`` outside of HTML comments.

    Letter case, quotes, the order of attributes and an entity-encoded ``+`` don't matter.
    """
    count = looked = end = 0
    comments = Comments(markup)
    for at in _mentions(markup):
        if at < end:
            continue
        start = markup.rfind(b"<", max(0, at - MAX_TAG_BYTES), at)
        close = markup.find(b">", at, at + MAX_TAG_BYTES)
        if start < 0 or close < 0 or markup.find(b">", start, at) >= 0:
            continue
        end = close  # another mention in the same tag says nothing new
        if not _is_script(markup[start : close + 1]):
            continue
        looked += 1
        if count == MAX_BLOCKS or looked > _MAX_LOOKED_AT:
            return
        end = end_of_script(markup, close + 1)
        if not comments.hold(start, end):
            count += 1
            yield start, markup[close + 1 : end]


def _mentions(markup: bytes) -> Iterator[int]:
    """Yield where the type is mentioned. One pass of 28 µs per 100 KB for the spelling that nearly every page uses."""
    needle, at = _EXACT, markup.find(_EXACT)
    if at < 0:
        markup, needle = markup.lower(), _PREFIX
        at = markup.find(needle)
    while at >= 0:
        yield at
        at = markup.find(needle, at + len(needle))


def _is_script(tag: bytes) -> bool:
    return tag[:7].lower() == b"<script" and _TYPE.search(tag) is not None


def _parsed(page: Page, problems: list[Problem]) -> Iterator[Any]:
    seen: set[bytes] = set()
    size = 0
    for at, block in blocks_of(page):
        if block in seen:
            continue
        seen.add(block)
        size += len(block)
        if len(block) < MAX_BYTES < size:
            reason = f"the JSON-LD blocks from byte {at} on aren't read: all have more than {MAX_BYTES:,} bytes"
            problems.append(Problem("jsonld", reason))
            return
        try:
            yield load(block, encoding_of(block, page))
        except Broken as error:
            problems.append(Problem("jsonld", f"the JSON-LD block at byte {at} can't be read: {error}"))


def _fill(found: Found, groups: list[list[list[Values]]]) -> None:
    """Choose the richest of several readings of one product; the others fill gaps, and are compared."""
    if family := siblings_of([readings[0] for readings in groups]):
        found.records = family
        return
    readings = groups[0]
    best = richest(readings)
    found.records = readings[best]
    for index, reading in enumerate(readings):
        if index != best and len(reading) == 1:
            _merge(found, reading[0], f"{SOURCE}#{index + 1}")


def _merge(found: Found, other: Values, label: str) -> None:
    prices = {str(record["price"]) for record in found.records if "price" in record}
    price = other.get("price")
    if prices and isinstance(price, str) and not any(same_amount(price, known) for known in prices):
        found.conflicts.setdefault("price", {SOURCE: min(prices)})[label] = price
    if len(found.records) == 1:
        found.records[0].update({name: value for name, value in other.items() if name not in found.records[0]})
