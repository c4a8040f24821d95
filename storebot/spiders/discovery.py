"""Find the pages of a store, by its sitemaps, its catalogue, or both (`[discover]` of the store file).

Each source is a *walk*: it is opened before its first request, and closed by a `WalkEnd` that is saved after its last
page, so that the feed of product pages knows when no more can be named.
"""

from __future__ import annotations

from collections.abc import AsyncIterator

from scrapy.http import Request

from storebot.run import Run
from storebot.spiders.catalogue import CatalogueDiscovery
from storebot.spiders.sitemaps import SitemapDiscovery
from storebot.stores.model import Store

WINDOW = 8  # catalogue pages in flight at most: they are judged, and held in memory, in page order


async def discover(store: Store, run: Run, *, head_only: bool, concurrency: int) -> AsyncIterator[Request]:
    """Yield the first requests of every source that the store file declares."""
    if store.discover.sitemaps and (store.refresh.sitemaps or not head_only):
        for request in SitemapDiscovery(store, run, head_only=head_only).start():
            yield request
    catalogue = CatalogueDiscovery(store, run, head_only=head_only, window=min(concurrency, WINDOW))
    async for request in catalogue.start():
        yield request
