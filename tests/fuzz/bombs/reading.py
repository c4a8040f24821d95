"""What is said of a document, as one sentence, and the CPU seconds that reading it took (``spent``, the last one)."""

from __future__ import annotations

import re
import time
from collections.abc import Callable

from storebot.core.blocks import classify
from storebot.core.normalise import Context, normalise
from storebot.core.page import Page
from storebot.core.parsing.links import next_link, read_links
from storebot.core.parsing.platforms import shopify, woocommerce
from storebot.core.parsing.platforms.feed import read_feed
from storebot.core.parsing.reading import identity, read_product
from storebot.core.parsing.rules import ProductRules
from storebot.core.parsing.sitemap import read_sitemap
from storebot.exceptions import UnreadableFeed, UnreadableSitemap
from storebot.items import PageType

URL = "https://shop.example/p/1"

spent: list[float] = []


def product(body: bytes) -> str:
    """Read a product page as a crawl does: block check, reading, records; and once more as a catalogue."""
    started = time.process_time()
    page = Page(url=URL, body=body, headers={"content-type": "text/html"})
    reading = read_product(page, ProductRules())
    classify(page, page_type=PageType.PRODUCT, identity=lambda: identity(reading))
    context = Context(store="shop", url_key=URL, url=URL)
    problems = [one for extracted in reading.extracted for one in normalise(extracted, context)[1]]
    links = read_links(page, re.compile("/p/"))
    next_link(page)
    spent.append(time.process_time() - started)
    said = "; ".join(dict.fromkeys(f"{one.field}: {one.reason}" for one in (*reading.problems, *problems[:5])))
    return f"{len(reading.extracted)} records, {len(links)} links; {said}"


def sitemap(body: bytes) -> str:
    started = time.process_time()
    try:
        reading = read_sitemap(body, "https://shop.example/sitemap.xml")
        taken = sum(1 for _ in reading.iter_entries())
        said = f"{taken} entries, {reading.lost} lost, {'incomplete' if reading.incomplete else 'complete'}"
    except UnreadableSitemap as error:
        said = str(error)
    spent.append(time.process_time() - started)
    return said


def feed(body: bytes) -> str:
    started = time.process_time()
    try:
        carried = read_feed(body, "https://shop.example/feed", "https://shop.example", lambda url: url, 0)
        said = f"{len(carried.products)} products, {carried.lost} lost"
    except UnreadableFeed as error:
        said = str(error)
    spent.append(time.process_time() - started)
    return said


def listing(read: Callable[[bytes], object], body: bytes) -> str:
    started = time.process_time()
    try:
        said = repr(read(body))[:300]
    except UnreadableFeed as error:
        said = str(error)
    spent.append(time.process_time() - started)
    return said


def shopify_listing(body: bytes) -> str:
    assert shopify.is_listing(body) in (True, False)
    carried = shopify.read_listing(body, "https://shop.example")
    return f"{len(carried.products)} products, {sum(len(one.extracted) for one in carried.products)} records"


def woocommerce_listing(body: bytes) -> str:
    assert woocommerce.is_listing(body) in (True, False)
    nodes = woocommerce.read_nodes(body)
    variations = woocommerce.by_parent([{**node, "parent": 1} for node in nodes] * 10)
    carried = woocommerce.carried(nodes, variations)
    return f"{len(carried.products)} products, {sum(len(one.extracted) for one in carried.products)} records"
