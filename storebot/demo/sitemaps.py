"""robots.txt and the sitemaps of the demo store, as bytes."""

from __future__ import annotations

import gzip
import re
from datetime import UTC, datetime

from storebot.demo.goods import OPENED_S, Product
from storebot.demo.pages import HONEST, View
from storebot.demo.shop import Shop

_XMLNS = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
_XML = '<?xml version="1.0" encoding="UTF-8"?>\n'


def robots(shop: Shop, base_url: str) -> bytes:
    """Return robots.txt: what no crawler needs is disallowed, the sitemap index is named."""
    rules = ["User-agent: *", "Disallow: /cart", "Disallow: /account", "Disallow: /search", "Disallow: /_demo/"]
    if shop.options.crawl_delay_s is not None:
        rules.append(f"Crawl-delay: {shop.options.crawl_delay_s}")
    return "\n".join((*rules, "", f"Sitemap: {base_url}/sitemap.xml", "")).encode()


def index(shop: Shop, base_url: str, frozen: bool = False) -> bytes:
    """Return the sitemap index; a child's lastmod is when an entry in it last came, went or changed, or the opening.

    ``frozen`` makes it the opening always.
    """
    touched = {} if frozen else shop.touched
    rows = "".join(
        f"<sitemap><loc>{base_url}{child_path(number)}</loc>{_lastmod(touched.get(number, OPENED_S))}</sitemap>\n"
        for number in range(1, shop.sitemaps + 1)
    )
    return f"{_XML}<sitemapindex {_XMLNS}>\n{rows}</sitemapindex>\n".encode()


def child(shop: Shop, base_url: str, number: int, view: View = HONEST) -> bytes:
    """Return one gzipped sitemap, as it is shown in this view."""
    rows = "".join(
        f"<url><loc>{base_url}{product.path}</loc>{_lastmod(_shown_s(shop, product, view.frozen_lastmod))}</url>\n"
        for product in shop.sitemap_products(number)
        if view.unlisted is None or not re.search(view.unlisted, product.path)
    )
    return gzip.compress(f"{_XML}<urlset {_XMLNS}>\n{rows}</urlset>\n".encode(), mtime=0)


def child_path(number: int) -> str:
    """Return the path of a sitemap child."""
    return f"/sitemaps/products-{number}.xml.gz"


def _shown_s(shop: Shop, product: Product, frozen: str | None) -> int:
    if frozen is not None and re.search(frozen, product.path):
        return shop.opening(product.id).modified_s
    return product.modified_s


def _lastmod(at_s: int) -> str:
    return f"<lastmod>{datetime.fromtimestamp(at_s, UTC).isoformat()}</lastmod>"
