"""Phase two: revisit what is due, cheaply, and write only what changed."""

from __future__ import annotations

from collections.abc import AsyncIterator

from scrapy.http import Request

from storebot.run import Run
from storebot.spiders.base import StoreSpider


class RefreshSpider(StoreSpider):
    """``scrapy crawl refresh -a store=NAME``: conditional requests to the pages that are due, and to new ones."""

    name = "refresh"

    async def start(self) -> AsyncIterator[Request]:
        run = self.crawler.get_extension(Run)
        assert run is not None
        async for request in self.crawl(run, run.session.claim_due, head_only=True):
            yield request
