"""One product feed out of its bytes: a Merchant feed in XML or as a table, or a platform's JSON."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain, islice

from storebot.core.parsing.platforms import shopify, woocommerce
from storebot.core.parsing.platforms.carried import Carried
from storebot.core.parsing.platforms.document import MAX_JSON, described, load_json
from storebot.core.parsing.platforms.merchant import Item, Key, products_of
from storebot.core.parsing.platforms.merchant_items import is_xml_feed, table_items, xml_items
from storebot.core.parsing.sitemap_source import SitemapSource
from storebot.exceptions import UnreadableFeed, UnreadableSitemap

MAX_ITEMS = 150_000  # all are held at once, to put variants together
MAX_BYTES = 128 * 1024 * 1024  # unpacked; a feed of 100,000 items has some 100 MB
_HEAD = 4096


def read_feed(body: bytes, url: str, base_url: str, key: Key, now_ms: int) -> Carried:
    """Read a whole feed that came from ``url``, packed with gzip or not. Raises `UnreadableFeed`, with what it is.

    ``base_url`` is what the handles of Shopify's JSON are put behind; ``key`` and ``now_ms`` are as in `products_of`.
    A feed without one product is unreadable, too: nothing is known from it.
    """
    try:
        carried = _read(body, url, base_url, key, now_ms)
    except UnreadableSitemap as error:  # what unpacks a sitemap unpacks a feed
        raise UnreadableFeed(str(error)) from error
    if not carried.products:
        raise UnreadableFeed(f"it carries no product ({carried.lost} entries without a title and an address)")
    return carried


def _read(body: bytes, url: str, base_url: str, key: Key, now_ms: int) -> Carried:
    source = SitemapSource(body, url, MAX_BYTES)
    texts = source.iter_text()
    head = ""
    while len(head) < _HEAD and (more := next(texts, None)) is not None:
        head += more
    if is_xml_feed(head):
        return _whole(products_of(_counted(xml_items(source, chain((head,), texts))), key, now_ms), source)
    start = head.lstrip()
    if start.startswith(("{", "[")):
        texts = _at_most(MAX_JSON, texts)
    text = head + "".join(texts)
    if start.startswith(("{", "[")):
        return _whole(_from_json(text, base_url), source)
    if not start or start.startswith("<"):
        raise UnreadableFeed(f"it is {described(text.encode('utf-8', 'replace'))}, not a product feed")
    return _whole(products_of(_counted(table_items(text.lstrip())), key, now_ms), source)


def _counted(items: Iterator[Item]) -> Iterator[Item]:
    yield from islice(items, MAX_ITEMS)
    if next(items, None) is not None:
        raise UnreadableFeed(f"it carries more than {MAX_ITEMS:,} items: it must be split into several feeds")


def _at_most(characters: int, texts: Iterator[str]) -> Iterator[str]:
    for text in texts:
        characters -= len(text)
        if characters < 0:
            raise UnreadableFeed(f"its JSON has more than {MAX_JSON:,} characters, which aren't read")
        yield text


def _from_json(text: str, base_url: str) -> Carried:
    body = text.encode("utf-8", "replace")
    if woocommerce.is_listing(body):
        return woocommerce.read_listing(body)
    nodes = shopify.product_nodes(load_json(body))
    if nodes is None:
        raise UnreadableFeed(f"it is {described(body)}, which is no feed that is known")
    return shopify.read_listing(body, base_url)


def _whole(carried: Carried, source: SitemapSource) -> Carried:
    """Say whether the data stopped in the middle: that is known when all of it was read."""
    return replace(carried, truncated=source.truncated)
