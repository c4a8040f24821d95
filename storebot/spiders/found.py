"""Which of the links that discovery finds are product pages of the store."""

from __future__ import annotations

from collections.abc import Iterable

from storebot.core.urls import url_key
from storebot.exceptions import InvalidURL
from storebot.items import Discovered
from storebot.stores.model import Store


def product_pages(store: Store, links: Iterable[tuple[str, str | None]]) -> tuple[Discovered, ...]:
    """Return the product pages among (URL, lastmod) pairs: on the store's hosts, matching product_url, once each."""
    found: dict[str, Discovered] = {}
    for url, lastmod in links:
        if not store.is_product(url):
            continue
        try:
            key = url_key(url, store.key_rules)
        except InvalidURL:
            continue  # a link that is no URL names no page: shops have them, and the page's other links count
        found.setdefault(key, Discovered(url, key, lastmod))
    return tuple(found.values())
