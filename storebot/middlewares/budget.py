"""Send nothing that the store's budget has no room for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from scrapy.exceptions import NotConfigured
from scrapy.http import Request

from storebot.purse import Purse
from storebot.run import Run

if TYPE_CHECKING:
    from scrapy.crawler import Crawler


class BudgetMiddleware:
    """The last before the wire: what it lets through is sent, or at least on its way.

    Where a limit is reached it raises `BudgetReached`, which the errback of a page takes as a page that wasn't asked
    for. A request that must wait for others holds its place among those that are downloaded at a time.
    """

    def __init__(self, purse: Purse) -> None:
        self.purse = purse

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        run = crawler.get_extension(Run)
        if run is None or not run.purse.has_limits:
            raise NotConfigured  # without a message: few stores have a budget, and Scrapy warns of messages
        return cls(run.purse)

    async def process_request(self, request: Request) -> None:
        await self.purse.admit(request.meta)

    def process_exception(self, request: Request, exception: Exception) -> None:
        """Let go of the room of a request that was never sent; for one that was, the handler has done it."""
        self.purse.release(request.meta)
