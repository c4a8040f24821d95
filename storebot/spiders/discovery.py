"""Find the pages of a store, by what `[discover]` of its file names: a platform's listing, product feeds, sitemaps, a
catalogue.

Each source is a *walk*: it is opened before its first request, and closed by a `WalkEnd` that is saved after its last
page, so that the feed of product pages knows when no more can be named.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from functools import partial

from scrapy.http import Request

from storebot.core.parsing.platforms import shopify, woocommerce
from storebot.core.rounds import Source
from storebot.run import Run
from storebot.spiders.catalogue import CatalogueDiscovery
from storebot.spiders.feeds import FeedDiscovery
from storebot.spiders.platform import PlatformDiscovery
from storebot.spiders.platform_shopify import ShopifyDiscovery
from storebot.spiders.platform_woocommerce import WooCommerceDiscovery
from storebot.spiders.rounds import begin_round
from storebot.spiders.sitemaps import SitemapDiscovery
from storebot.stores.model import Store

WINDOW = 8  # catalogue pages in flight at most: they are judged, and held in memory, in page order
PLATFORMS: dict[str, type[PlatformDiscovery]] = {
    shopify.NAME: ShopifyDiscovery,
    woocommerce.NAME: WooCommerceDiscovery,
}


async def discover(store: Store, run: Run, *, head_only: bool, concurrency: int) -> AsyncIterator[Request]:
    """Yield the first requests of every source that the store file declares.

    A platform's listing carries new products, too: a refresh asks the other sources only for what it doesn't carry.
    """
    otherwise = partial(_named, store, run, head_only=head_only, concurrency=concurrency)
    if store.discover.platform:
        await begin_round(run, Source.PLATFORM, [store.discover.platform, store.product_url], head_only=False)
        listing = PLATFORMS[store.discover.platform](store, run, head_only=head_only, otherwise=otherwise)
        async for request in listing.start():
            yield request
    if store.discover.feeds:
        await begin_round(run, Source.FEED, [store.discover.feeds, store.product_url], head_only=False)
        async for request in FeedDiscovery(store, run, head_only=head_only).start():
            yield request
    if not (store.discover.platform and head_only):
        async for request in otherwise():
            yield request


async def _named(store: Store, run: Run, *, head_only: bool, concurrency: int) -> AsyncIterator[Request]:
    """Yield the first requests of the sources that name pages and carry none."""
    if store.discover.sitemaps and (store.refresh.sitemaps or not head_only):
        named = [store.discover.sitemaps, store.discover.sitemap_url, store.product_url]
        await begin_round(run, Source.SITEMAP, named, head_only=False)
        for request in SitemapDiscovery(store, run, head_only=head_only).start():
            yield request
    # A budget may end it anywhere: pages that were asked for ahead of the first one missing would be paid for in vain.
    window = 1 if run.purse.has_limits else min(concurrency, WINDOW)
    catalogue = CatalogueDiscovery(store, run, head_only=head_only, window=window)
    if store.catalogue_urls:
        await begin_round(run, Source.CATALOGUE, catalogue.meaning, head_only=head_only)
    async for request in catalogue.start():
        yield request
