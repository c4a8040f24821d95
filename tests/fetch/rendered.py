"""A crawler's download handler whose browser stays open for all tests of a module."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, Self, TypeVar

import psutil
from scrapy.crawler import Crawler
from scrapy.http import Request, Response

from storebot.fetch.handler import LadderDownloadHandler
from storebot.items import Spent, Tier
from storebot.stores.model import Store
from storebot.stores.writing import checked
from tests.fetch.fetching import asked, crawler_of

T = TypeVar("T")


def store_at(url: str, sections: str) -> Store:
    """Return a store at an address whose file has these sections besides."""
    return checked("shop", f'base_url = "{url}"\nproduct_url = "/p/"\n{sections}\n')


class Rendered:
    """``with Rendered(store, chromium=…) as rendered``: a handler on an event loop that lasts as long as the block."""

    def __init__(self, store: Store, *, tier: Tier = Tier.BROWSER, **settings: Any) -> None:
        self.tier = tier
        self.crawler: Crawler = crawler_of(store, BOT_NAME="storebot", **settings)
        self._runner = asyncio.Runner()

    def __enter__(self) -> Self:
        self._runner.__enter__()

        async def made() -> LadderDownloadHandler:
            return LadderDownloadHandler.from_crawler(self.crawler)

        self.handler = self.run(made())
        return self

    def __exit__(self, *_: object) -> None:
        self.run(self.handler.close())
        self._runner.__exit__(None, None, None)

    def run(self, doing: Coroutine[Any, Any, T]) -> T:
        """Run something on its event loop."""
        return self._runner.run(doing)

    def request(self, url: str, **meta: Any) -> Request:
        """Return a request for a product page."""
        return asked(url, self.tier, **meta)

    def get(self, url: str, **meta: Any) -> Response:
        """Return what a URL brings, or raise what is raised."""
        return self.run(self.handler.download_request(self.request(url, **meta)))

    def all(self, *requests: Request) -> list[Response | BaseException]:
        """Return what requests bring that are all made at once."""

        async def at_once() -> list[Response | BaseException]:
            return await asyncio.gather(*map(self.handler.download_request, requests), return_exceptions=True)

        return self.run(at_once())

    def spent(self, url: str, **meta: Any) -> tuple[Response, Spent]:
        """Return what a URL brings, and what that took."""
        request = self.request(url, **meta)
        return self.run(self.handler.download_request(request)), request.meta["spent"]

    def stats(self, prefix: str) -> dict[str, int]:
        """Return the stats below a name."""
        found = self.crawler.stats.get_stats() if self.crawler.stats else {}
        return {name.removeprefix(prefix): value for name, value in found.items() if name.startswith(prefix)}


def browser_processes() -> list[psutil.Process]:
    """Return the main processes of the browsers that this process has started: those with no browser above them."""
    found = [each for each in psutil.Process().children(recursive=True) if _is_browser(each)]
    return [each for each in found if each.ppid() not in {one.pid for one in found}]


def _is_browser(process: psutil.Process) -> bool:
    try:
        command = process.cmdline()  # nothing where it has ended
        return "chrom" in "".join(command[:1]) and not any(
            each.startswith(("--type=", "--monitor")) for each in command
        )
    except psutil.Error:
        return False
