"""The demo store in a process of its own, and the list of its product pages as its sitemap gives it."""

from __future__ import annotations

import gzip
import re
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from storebot.demo.running import DemoProcess

ROOT = Path(__file__).resolve().parents[1]
_LOC = re.compile(r"<loc>([^<]+)</loc>")


@dataclass(frozen=True, slots=True)
class Shop:
    """A demo store that is open, and its product pages."""

    base_url: str
    urls: list[str]


@contextmanager
def open_shop(markup: str, products: int) -> Iterator[Shop]:
    """Serve a demo store as long as the block lasts. Raises RuntimeError if its sitemap doesn't name every product."""
    with DemoProcess(products=products, markup=markup) as demo:
        urls = product_urls(f"{demo.url}/sitemap.xml")
        if len(urls) != products:
            raise RuntimeError(f"the sitemap of the demo store names {len(urls)} of {products} products")
        yield Shop(demo.url, urls)


def product_urls(sitemap: str) -> list[str]:
    """Return the URLs that a sitemap, or the children of a sitemap index, name."""
    text = _fetch(sitemap).decode()
    urls = _LOC.findall(text)
    return [url for child in urls for url in product_urls(child)] if "<sitemapindex" in text else urls


def _fetch(url: str) -> bytes:
    """Return a body, unzipped where it is a gzip file."""
    with urllib.request.urlopen(url, timeout=60) as response:
        body: bytes = response.read()
    return gzip.decompress(body) if body.startswith(b"\x1f\x8b") else body
