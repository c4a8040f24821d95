"""Scrapy under storebot's own settings with an empty callback: what our settings cost before storebot does anything."""

from __future__ import annotations

from typing import Any

import scrapy
from scrapy.settings import Settings

from bench.contenders.bare import BareSpider
from bench.contenders.common import arguments, finish
from bench.contenders.scrapy_crawl import SETTINGS, crawl
from storebot import settings as storebot_settings

_COMPONENTS = ("DOWNLOADER_MIDDLEWARES", "SPIDER_MIDDLEWARES", "EXTENSIONS", "ITEM_PIPELINES")


def floor_settings() -> dict[str, Any]:
    """Return storebot's settings without its own components, which need a store; robots.txt isn't asked.

    Those that replace Scrapy's are left in.
    """
    settings = Settings()
    settings.setmodule(storebot_settings, priority="project")
    mine = {name: settings.get(name) for name in dir(storebot_settings) if name.isupper()}
    for name in _COMPONENTS:
        parts = dict(settings.getdict(name))
        mine[name] = {
            path: order
            for path, order in parts.items()
            if not str(path).startswith("storebot.") or str(path).startswith("storebot.lean_engine.")
        }
    mine |= SETTINGS | {"DOWNLOAD_DELAY": 0, "ROBOTSTXT_OBEY": False, "SPIDER_MODULES": []}
    return mine


class FloorSpider(BareSpider):
    """Fetches ``start_urls``, past the duplicate filter as storebot does."""

    name = "floor"
    start_urls: list[str]

    async def start(self) -> Any:
        """Yield a request per page."""
        for url in self.start_urls:
            yield scrapy.Request(url)


if __name__ == "__main__":
    urls, _ = arguments()
    finish(crawl(FloorSpider, floor_settings(), start_urls=urls))
