"""JSON-LD found in the bytes of a page, without a tree and without decoding the page."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from hashlib import blake2b
from typing import Any

from storebot.core import decoding
from storebot.core.page import Page
from storebot.core.parsing.lenient import Broken, load
from storebot.core.parsing.mainproduct import choose_main
from storebot.core.parsing.schemaorg import Found, path_of, records_of, richest, siblings_of, survey
from storebot.core.parsing.values import Values, from_json, same_amount
from storebot.items import Problem

SOURCE = "jsonld"
MAX_BLOCKS = 100

_EXACT = b"application/ld+json"
_PREFIX = b"application/ld"
_TYPE = re.compile(rb"\stype\s*=\s*[\"']?\s*application/ld(?:\+|&#x2b;|&#43;|&plus;)json[\s;\"'/>]", re.IGNORECASE)
_MAX_TAG_BYTES = 4096
_COMMENT_BYTES = 65_536  # how far behind a block the end of a comment is looked for


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
    _fill(found, [[records_of(node, graph, from_json) for node in group] for group in groups])
    if path := path_of(graph.breadcrumbs, from_json, found.records[0]):
        for record in found.records:
            record["category_path"] = path
    return found


def fingerprint(page: Page) -> str:
    """Return a digest of all that a reading by JSON-LD alone depends on; "" where the page has none.

    Two pages with one fingerprint have one record, where `Reading.source_hash` says that nothing else was looked at:
    the blocks, the page's own addresses, and how its bytes are to be decoded.
    """
    found = blocks_of(page)
    if not found:
        return ""
    digest = blake2b(digest_size=16)
    for part in (page.url, page.requested_url, page.canonical_url or "", page.charset or "", page.content_type):
        digest.update(part.encode("utf-8", "replace") + b"\0")
    for _, block in found:
        digest.update(block + b"\0")
    return digest.hexdigest()


def blocks_of(page: Page) -> tuple[tuple[int, bytes], ...]:
    """Return the page's blocks with their positions, looking for them once."""
    if page.ld_json is None:
        page.ld_json = tuple(blocks(page.markup))
    return page.ld_json


def blocks(markup: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield position and content of each ``<script type=application/ld+json>`` outside of HTML comments.

    Letter case, quotes, the order of attributes and an entity-encoded ``+`` don't matter.
    """
    count, end = 0, 0
    for at in _mentions(markup):
        if at < end or count >= MAX_BLOCKS:
            continue
        start = markup.rfind(b"<", max(0, at - _MAX_TAG_BYTES), at)
        close = markup.find(b">", at, at + _MAX_TAG_BYTES)
        if start < 0 or close < 0 or markup.find(b">", start, at) >= 0 or not _is_script(markup[start : close + 1]):
            continue
        end = _end_of_script(markup, close + 1)
        if not _is_commented(markup, start, end):
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


def _end_of_script(markup: bytes, at: int) -> int:
    while (at := markup.find(b"</", at)) >= 0:
        if markup[at + 2 : at + 8].lower() == b"script":
            return at
        at += 2
    return len(markup)


def _is_commented(markup: bytes, start: int, end: int) -> bool:
    """Say whether a block is inside of a comment: the next thing after it is an end whose start is before it.

    What is before is looked at first: most blocks stand in the head, and the rest of the page is long.
    """
    opening = markup.rfind(b"<!--", 0, start)
    if opening < 0 or markup.find(b"-->", opening, start) >= 0:
        return False
    closing = markup.find(b"-->", end, end + _COMMENT_BYTES)
    return closing >= 0 and markup.find(b"<!--", end, closing) < 0


def _parsed(page: Page, problems: list[Problem]) -> Iterator[Any]:
    seen: set[bytes] = set()
    for at, block in blocks_of(page):
        if block in seen:
            continue
        seen.add(block)
        try:
            yield load(block, _encoding_of(block, page))
        except Broken as error:
            problems.append(Problem("jsonld", f"the JSON-LD block at byte {at} can't be read: {error}"))


def _encoding_of(block: bytes, page: Page) -> str:
    """Return the encoding of one block, deciding for the whole page only where the block can't tell."""
    if block.isascii() or page.markup is not page.body:
        return "utf-8"
    if (page.charset or decoding.declared(page.body, page.content_type) or "utf-8").lower() in ("utf-8", "utf8"):
        try:
            block.decode()
        except UnicodeDecodeError:
            return page.encoding
        return "utf-8"
    return page.encoding


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
