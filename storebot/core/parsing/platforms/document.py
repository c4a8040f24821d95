"""The text of a feed as values: JSON without floats, and descriptions without their markup."""

from __future__ import annotations

import json
import re
from decimal import Decimal
from typing import Any

from lxml import etree

from storebot.core.page import is_crowded
from storebot.core.parsing.depth import is_too_deep
from storebot.core.parsing.values import MAX_TEXT, from_dom, is_blank, shown, squash
from storebot.exceptions import UnreadableFeed

MAX_JSON = 20 * 1024 * 1024
"""Bytes; a page of 250 products has some 2 MB, and 20 MB of brackets are 600 MB of lists."""
_CROWDED_FROM = 5_000  # characters
_TITLE = re.compile(rb"<title[^<>]*>([^<]{0,200})", re.IGNORECASE)
_BLOCK_END = re.compile(r"</(?:p|div|li|ul|ol|tr|td|th|table|h[1-6]|blockquote)\s*>|<br[\s/>]", re.IGNORECASE)
_UNSEEN = re.compile(r"<(script|style)\b.*?(?:</\1\s*>|\Z)", re.IGNORECASE | re.DOTALL)
_TAG = re.compile(r"</?[A-Za-z][^<>]*>|<!--")
_MARKUP_PASSES = 2  # escaped once too often is common, twice was never seen


def load_json(body: bytes) -> Any:
    """Return the document; numbers with a fraction come as `Decimal`. Raises `UnreadableFeed`, with what it is instead.

    NaN and the infinities are None.
    """
    if len(body) > MAX_JSON:
        raise UnreadableFeed(f"its JSON has {len(body):,} bytes: more than {MAX_JSON:,} aren't read")
    too_deep = "its JSON is nested too deeply"
    try:
        found = json.loads(body.decode("utf-8-sig", "replace"), parse_float=Decimal, parse_constant=_nothing)
    except RecursionError:
        raise UnreadableFeed(too_deep) from None
    except ValueError as error:
        raise UnreadableFeed(f"it is {described(body)}, not JSON ({error})") from None
    if is_too_deep(found, body.count(b"{") + body.count(b"[")):
        raise UnreadableFeed(too_deep)
    return found


def described(body: bytes) -> str:
    """Say in a few words what a body is that should have been a feed."""
    head = body[:2048].lstrip(b"\xef\xbb\xbf \t\r\n")
    if not head:
        return "empty"
    if head[:1] == b"<" and (b"<html" in head.lower() or b"<!doctype html" in head.lower()):
        title = _TITLE.search(body[:65536])
        return f"an HTML page titled {squash(title[1].decode('utf-8', 'replace'))!r}" if title else "an HTML page"
    return f"a document that begins {head[:40].decode('utf-8', 'replace')!r}"


def text(value: object) -> str | None:
    """Return a JSON value as text where it says something: a text, or a number's digits."""
    if isinstance(value, str):
        found = from_dom(value)
        return None if is_blank(found) else found
    if isinstance(value, int | Decimal) and not isinstance(value, bool):
        return str(value)
    return None


def plain(markup: object) -> str | None:
    """Return the text that HTML shows, white space collapsed; None where that's nothing.

    Markup that was escaped once too often is read once more, and what is no markup stays as it is. None, too, where a
    tag has a thousand attributes.
    """
    found = markup[: 4 * MAX_TEXT] if isinstance(markup, str) else ""
    for _ in range(_MARKUP_PASSES):
        if "&" not in found and not _TAG.search(found):
            break
        if len(found) > _CROWDED_FROM and is_crowded(found):
            return None
        found = _shown(_UNSEEN.sub(" ", found))
    return squash(from_dom(found)[:MAX_TEXT]) or None


def _shown(markup: str) -> str:
    spaced = _BLOCK_END.sub(lambda end: " " + end[0], markup)
    parser = etree.HTMLParser(encoding="utf-8")
    try:
        root = etree.fromstring(f"<div>{spaced}</div>".encode("utf-8", "replace"), parser)
    except etree.XMLSyntaxError:  # nothing but comments and white space
        return ""
    return "" if root is None else shown(root)


def _nothing(_: str) -> None:
    """NaN and the infinities are no values."""
