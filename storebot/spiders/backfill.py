"""Phase one: walk the whole store once, and read every page that was never read."""

from __future__ import annotations

from collections.abc import AsyncIterator

from scrapy.http import Request

from storebot.run import Run
from storebot.spiders.base import StoreSpider


class BackfillSpider(StoreSpider):
    """``scrapy crawl backfill -a store=NAME``: resumes where the last one stopped; what is had isn't fetched again."""

    name = "backfill"

    async def start(self) -> AsyncIterator[Request]:
        run = self.crawler.get_extension(Run)
        assert run is not None
        async for request in self.crawl(run, run.session.claim_pending, head_only=False):
            yield request
