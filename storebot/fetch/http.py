"""The plain tier: Scrapy's own client for HTTP/1.1, or in the fast mode that of aiohttp."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Self

from scrapy.utils.misc import build_from_crawler, load_object

from storebot.fetch.proxied import handler_for
from storebot.fetch.tier import FetchTier
from storebot.items import Tier
from storebot.stores.model import Store

if TYPE_CHECKING:
    from scrapy.core.downloader.handlers import DownloadHandlerProtocol
    from scrapy.crawler import Crawler
    from scrapy.http import Request, Response


class HttpTier(FetchTier):
    """A download handler of Scrapy's, by ``STOREBOT_HTTP_HANDLER``: its exceptions are Scrapy's own already."""

    tier: ClassVar[Tier] = Tier.HTTP

    def __init__(self, handler: DownloadHandlerProtocol) -> None:
        self._handler = handler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        store = getattr(crawler.spider, "store", None)
        handler = handler_for(store) if isinstance(store, Store) else None
        return cls(build_from_crawler(load_object(handler or crawler.settings["STOREBOT_HTTP_HANDLER"]), crawler))

    async def fetch(self, request: Request) -> Response:
        return await self._handler.download_request(request)

    async def close(self) -> None:
        await self._handler.close()
