"""What discovery makes of the links that it finds, and of a source that can't be read."""

from __future__ import annotations

import time
from collections.abc import Iterable

from twisted.python.failure import Failure

from storebot.core.urls import same_site, url_key
from storebot.exceptions import InvalidURL
from storebot.items import Discovered, WalkEnd, WalkState
from storebot.stores.model import Store


def now_ms() -> int:
    """Return the local time, for what is a record of this process and not a claim."""
    return int(time.time() * 1000)


def product_pages(store: Store, links: Iterable[tuple[str, str | None]]) -> tuple[Discovered, ...]:
    """Return the product pages among (URL, lastmod) pairs: on the store's hosts, matching product_url, once each."""
    found: dict[str, Discovered] = {}
    for url, lastmod in links:
        if not store.product_pattern.search(url) or not same_site(url, store.base_url, store.keys.aliases):
            continue
        try:
            key = url_key(url, store.key_rules)
        except InvalidURL:
            continue  # a link that is no URL names no page: shops have them, and the page's other links count
        found.setdefault(key, Discovered(url, key, lastmod))
    return tuple(found.values())


def unread(store: Store, walk: str, failure: Failure, *, checkpoint: bool) -> WalkEnd:
    """Return the end of a walk whose document gave no response to read."""
    error = failure.value
    reason = f"{walk}: {type(error).__name__}: {error}"
    return WalkEnd(
        store=store.name, walk=walk, at_ms=now_ms(), state=WalkState.INCOMPLETE, reason=reason, checkpoint=checkpoint
    )
