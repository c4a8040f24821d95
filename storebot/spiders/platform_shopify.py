"""Shopify's listing: first what the shop says of itself, for its prices don't name their currency."""

from __future__ import annotations

import logging
from collections.abc import Callable

from scrapy.http import Response
from twisted.python.failure import Failure

from storebot.core.parsing.platforms import shopify
from storebot.core.walk import Seen
from storebot.exceptions import UnreadableFeed
from storebot.items import WalkState
from storebot.run import Run
from storebot.spiders.platform import PlatformDiscovery, Requests
from storebot.stores.model import Store

logger = logging.getLogger(__name__)


class ShopifyDiscovery(PlatformDiscovery):
    """Walk `/products.json`; the currency is that of `/meta.json`, else of the home page, else the declared one."""

    platform = shopify.NAME

    def __init__(self, store: Store, run: Run, *, head_only: bool, otherwise: Callable[[], Requests]) -> None:
        super().__init__(store, run, head_only=head_only, otherwise=otherwise)
        self.currency: str | None = None

    def templates(self) -> tuple[str, ...]:
        return (shopify.listing_template(self.store.base_url),)

    async def read(self, response: Response, seen: Seen) -> Requests:
        found = shopify.read_listing(response.body, self.store.base_url, self.currency)
        async for request in self.judge(seen, found, response.body):
            yield request

    async def prepare(self) -> Requests:
        yield self.request(shopify.metadata_url(self.store.base_url), self.parse_metadata, self.no_metadata)

    async def parse_metadata(self, response: Response) -> Requests:
        """Take currency and number of products out of `/meta.json`."""
        try:
            facts = shopify.read_metadata(response.body) if response.status == 200 else shopify.ShopFacts(None, None)
        except UnreadableFeed as error:
            logger.info("%s: %s: %s", self.store.name, response.url, error)
            facts = shopify.ShopFacts(None, None)
        self.currency, self.total = facts
        async for request in self._go_on():
            yield request

    async def no_metadata(self, failure: Failure) -> Requests:
        """Do without `/meta.json`."""
        logger.info("%s: no metadata of the shop: %s", self.store.name, failure.value)
        async for request in self._go_on():
            yield request

    async def _go_on(self) -> Requests:
        if self.currency or self._declared:
            async for request in self.ask():
                yield request
        else:
            yield self.request(f"{self.store.base_url}/", self.parse_home, self.no_home, page_type=None)

    @property
    def _declared(self) -> bool:
        return isinstance(self.store.product.currency, str)

    async def parse_home(self, response: Response) -> Requests:
        """Take the currency out of the scripts of the home page."""
        self.currency = shopify.currency_in_page(response.body)
        async for request in self.ask() if self.currency else self._without_currency():
            yield request

    async def no_home(self, failure: Failure) -> Requests:
        """Give up: a price without a currency isn't one."""
        logger.info("%s: no home page: %s", self.store.name, failure.value)
        async for request in self._without_currency():
            yield request

    async def _without_currency(self) -> Requests:
        self.run.session.withhold(self.platform)
        reason = "neither /meta.json nor the home page names the shop's currency: declare `currency` in [product]"
        async for request in self.finish(WalkState.INCOMPLETE, reason, leaves_pages=True):
            yield request
