"""The tier `browser`: pages rendered by a Chromium of our own, driven by Playwright (decision 0025)."""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING, ClassVar, Self

from storebot.fetch.browsing.agent import whole_agent
from storebot.fetch.browsing.browsers import Browsers
from storebot.fetch.browsing.chromium import Chromium, Cookies, Launch, find_chromium
from storebot.fetch.browsing.private import Network
from storebot.fetch.browsing.rendering import Renderer
from storebot.fetch.browsing.visitor import visitor_of
from storebot.fetch.tier import FetchTier
from storebot.items import Tier
from storebot.stores.fetch_browser import Browser
from storebot.stores.model import Store

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.http import Request, Response


class BrowserTier(FetchTier):
    """One browser per crawler, one context per visitor; all it sends goes through a `Guard`.

    ``concurrency`` is how many pages are open at once, whatever plain HTTP is allowed.
    """

    tier: ClassVar[Tier] = Tier.BROWSER
    counts_wire: ClassVar[bool] = True

    def __init__(self, renderer: Renderer, browsers: Browsers, concurrency: int) -> None:
        self._renderer, self._browsers = renderer, browsers
        self._slots = asyncio.Semaphore(concurrency)

    @classmethod
    def check(cls, store: Store) -> None:
        """Raise ConfigurationError where there is no browser."""
        find_chromium(os.environ.get("STOREBOT_CHROMIUM", ""))

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        settings = crawler.settings
        store: Store = crawler.spider.store  # type: ignore[union-attr]  # only a store lists this tier
        section = store.fetch.browser or Browser()
        network = Network(store)
        launch = Launch(
            executable=find_chromium(settings.get("STOREBOT_CHROMIUM") or ""),
            user_agent=whole_agent(store, settings["USER_AGENT"], settings["BOT_NAME"]),
            signature=settings["USER_AGENT"],
            language=(store.fetch.language or "en").partition(",")[0],
            verify_certificates=settings.getbool("DOWNLOAD_VERIFY_CERTIFICATES"),
            guard=network.guard,
        )
        cookies = Cookies()
        browsers = Browsers(
            lambda: Chromium.start(launch, cookies), recycle_pages=section.recycle_pages, stats=crawler.stats
        )
        renderer = Renderer(store, cls.tier, settings.getint("DOWNLOAD_MAXSIZE"))
        return cls(renderer, browsers, section.concurrency)

    async def fetch(self, request: Request) -> Response:
        async with self._slots, self._browsers.lent(visitor_of(request)) as (tabs, guard):
            return await self._renderer.fetch(tabs, request, guard.explain)

    async def close(self) -> None:
        await self._browsers.close()
