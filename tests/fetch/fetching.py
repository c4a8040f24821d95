"""One crawler with a store and its tiers, but without a crawl: requests go to its download handler directly."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar

from scrapy import Spider
from scrapy.crawler import Crawler
from scrapy.http import Request, Response
from scrapy.utils.test import get_crawler

from storebot.fetch.handler import LadderDownloadHandler
from storebot.items import PageType, Spent, Tier
from storebot.stores.model import Store
from storebot.stores.writing import checked

AIOHTTP = "scrapy.core.downloader.handlers._aiohttp.AiohttpDownloadHandler"  # the one that needs no reactor
T = TypeVar("T")


def store_of(fetch: str = "", name: str = "shop") -> Store:
    """Return a store whose file has these lines, of ``[fetch]`` and its subsections."""
    return checked(name, f'base_url = "http://shop.example"\nproduct_url = "/p/"\n{fetch}\n')


def crawler_of(store: Store | None, **settings: Any) -> Crawler:
    """Return a crawler as a download handler finds it: frozen settings, a spider, no engine yet."""
    own = {
        "TWISTED_REACTOR_ENABLED": False,
        "STOREBOT_HTTP_HANDLER": AIOHTTP,
        "DOWNLOAD_VERIFY_CERTIFICATES": False,  # to load the authorities takes longer than a test
        "DOWNLOAD_MAXSIZE": 1_000_000,
        "DOWNLOAD_WARNSIZE": 0,
        "EXTENSIONS_BASE": {},
        "USER_AGENT": "storebot/test",
    }
    crawler = get_crawler(Spider, {**own, **settings})
    crawler.spider = Spider(name="any")
    if store is not None:
        crawler.spider.store = store  # type: ignore[attr-defined]  # as StoreSpider has one
    return crawler


def asked(url: str, tier: Tier | None = None, **meta: Any) -> Request:
    """Return a request as a spider makes it for a product page."""
    named = {} if tier is None else {"tier": tier}
    return Request(url, meta={"page_type": PageType.PRODUCT, "download_timeout": 5, **named, **meta})


def within(crawler: Crawler, do: Callable[[LadderDownloadHandler], Awaitable[T]]) -> T:
    """Do something with the crawler's handler, in an event loop of its own, and close it."""

    async def main() -> T:
        handler = LadderDownloadHandler.from_crawler(crawler)
        try:
            return await do(handler)
        finally:
            await handler.close()

    return asyncio.run(main())


def fetched(crawler: Crawler, *requests: Request) -> list[Response | Exception]:
    """Return what each request brought, one after the other: its response, or what was raised."""

    async def do(handler: LadderDownloadHandler) -> list[Response | Exception]:
        found: list[Response | Exception] = []
        for request in requests:
            try:
                found.append(await handler.download_request(request))
            except Exception as error:
                found.append(error)
        return found

    return within(crawler, do)


def response(crawler: Crawler, request: Request) -> Response:
    """Return the response to one request; raises what the handler raised."""
    (found,) = fetched(crawler, request)
    if isinstance(found, Exception):
        raise found
    return found


def spent(request: Request) -> Spent:
    """Return what a request's visit has taken."""
    taken: Spent = request.meta["spent"]
    return taken


def names(found: Sequence[Response | Exception]) -> list[str | int]:
    """Return the status of each response, and the name of each exception."""
    return [type(one).__name__ if isinstance(one, Exception) else one.status for one in found]
