"""How a crawl is ended: whoever would send requests is told first, then Scrapy's engine is asked to close."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

logger = logging.getLogger(__package__)  # the run's: its parts log by one name


class Stopping:
    """The end of a crawl, from the moment at which no request is to be sent any more."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self.begun = asyncio.Event()
        self.listeners: list[Callable[[], None]] = []  # called when it begins

    def begin(self) -> None:
        """Tell who would send requests that there are to be no more of them; once."""
        if self.begun.is_set():
            return
        self.begun.set()
        for told in self.listeners:
            told()

    def close_crawl(self, reason: str) -> None:
        """Ask the engine to end the crawl: in-flight pages finish, nothing more is sent."""
        self.begin()
        task = asyncio.ensure_future(self._crawler.engine.close_spider_async(reason=reason))
        task.add_done_callback(_say_failure)


def _say_failure(task: asyncio.Task[None]) -> None:
    """Log why the engine could not be closed; it usually means that it was closing already."""
    if not task.cancelled() and (error := task.exception()):
        logger.info("closing the crawl: %s", error)
