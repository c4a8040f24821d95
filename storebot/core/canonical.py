"""What a page's canonical link and its AMP link may mean for its URL key: claims, which the records have to bear out.

A redirect is an act of the server; a canonical is a text in a template, and shops get it wrong: all pages name the home
page, or one product; a variant names its parent. https://www.rfc-editor.org/rfc/rfc6596
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from urllib.parse import urlsplit

from storebot.core.page import Page
from storebot.core.parsing.tags import MAX_TAG_BYTES, attributes_of
from storebot.core.tracking import PRODUCT_IDS
from storebot.core.urls import KeyRules, absolute, url_key
from storebot.exceptions import InvalidURL

MOST_NAMES = 50  # names of one page; more that name one canonical are a fault of the template

_AMP_SEGMENT = re.compile(r"/amp(?=/|$)|\.amp(?=\.html?$|$)|(?<=\?)amp=[^&]*&?|&amp=[^&]*|(?<=//)amp\.")
_HEAD_BYTES = 131_072


def claimed_key(
    canonical: str | None,
    url: str,
    rules: KeyRules,
    *,
    is_product: Callable[[str], object],
    listings: Collection[str] = (),
) -> str:
    """Return the key of the page that a product page at ``url`` calls its true one; "" where that can't be believed.

    "" for itself, for what ``is_product`` refuses (another site, no product page), for the home page and the keys of
    ``listings``, and for an address that leaves out what tells variants apart, or a product's number without another
    path to say it. ``url`` has a key.
    """
    if not canonical or canonical == url or not is_product(canonical):
        return ""
    try:
        claimed = url_key(canonical, rules)
    except InvalidURL:
        return ""
    own = url_key(url, rules)
    if claimed == own or claimed in listings or urlsplit(claimed).path + urlsplit(claimed).query == "/":
        return ""
    return claimed if _keeps_identity(own, claimed, rules) else ""


def _keeps_identity(own: str, claimed: str, rules: KeyRules) -> bool:
    (address, _, query), (other_address, _, other_query) = own.partition("?"), claimed.partition("?")
    if not query and not other_query:
        return True
    ids = () if address != other_address else PRODUCT_IDS
    return rules.identity(query, ids) == rules.identity(other_query, ids)


def is_amp(key: str) -> bool:
    """Say whether a key is spelled as AMP copies are: `/amp`, `.amp.html`, `?amp=1`, `amp.` before the host."""
    return bool(_AMP_SEGMENT.search(key))


def amp_copy(page: Page, page_key: str, rules: KeyRules) -> str:
    """Return the key of the page's AMP copy; "" where it names none, or one that isn't spelled as its own copy.

    `<link rel=amphtml>` alone is believed only with that spelling: the copy is then never fetched.
    """
    href = _amp_link(page.body)
    link = absolute(href, page.base_url) if href else None
    if not link:
        return ""
    key = url_key(link, rules)
    bare = url_key(_AMP_SEGMENT.sub("", key), rules)
    return key if key != page_key and bare == page_key else ""


def _amp_link(body: bytes) -> str:
    head = body.find(b"</head", 0, _HEAD_BYTES)
    at = body.find(b"amphtml", 0, head if head >= 0 else _HEAD_BYTES)
    start, end = body.rfind(b"<", max(0, at - MAX_TAG_BYTES), at), body.find(b">", at, at + MAX_TAG_BYTES)
    if at < 0 or start < 0 or end < 0 or body[start : start + 5].lower() != b"<link":
        return ""
    attributes = attributes_of(body[start:end].decode("utf-8", "replace"))
    return attributes.get("href", "") if attributes.get("rel", "").lower() == "amphtml" else ""
