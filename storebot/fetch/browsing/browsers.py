"""One Chromium at a time: replaced when it has served enough pages, and when it died."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from scrapy.exceptions import DownloadTimeoutError

from storebot.exceptions import TierUnusable
from storebot.fetch.browsing.chromium import Chromium, Lent
from storebot.fetch.browsing.visitor import Visitor

if TYPE_CHECKING:
    from scrapy.statscollectors import StatsCollector

logger = logging.getLogger(__name__)

MOST_CRASHES, CRASHES_WITHIN_S = 5, 60.0
MOST_TIMEOUTS = 5


class Crashes:
    """Lets browsers be replaced `MOST_CRASHES` times a minute; beyond that whoever wants one waits."""

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._clock, self._sleep = clock, sleep
        self._at: deque[float] = deque(maxlen=MOST_CRASHES)

    async def one_more(self) -> None:
        """Note a crash; return when another browser may take over."""
        wait_s = self._at[0] + CRASHES_WITHIN_S - self._clock() if len(self._at) == MOST_CRASHES else 0.0
        if wait_s > 0:
            logger.warning("the browser died %d times within a minute; pages wait %.0f s", MOST_CRASHES + 1, wait_s)
            await self._sleep(wait_s)
        else:
            logger.warning("the browser died; a new one takes over, and the pages in flight are tried again")
        self._at.append(self._clock())


class Browsers:
    """Lends tabs of the one browser that runs; it's started for the first page.

    After ``recycle_pages`` pages it's replaced, when the last of them is done: a browser, and its driver, grow with
    every page (case W06), and after `MOST_TIMEOUTS` pages in a row that took too long: it may be the browser that
    hangs. One that died is replaced as `Crashes` allows. One that can't be started isn't tried again.
    """

    def __init__(
        self,
        start: Callable[[], Awaitable[Chromium]],
        *,
        recycle_pages: int,
        stats: StatsCollector,
        crashes: Crashes | None = None,
    ) -> None:
        self._start, self._recycle_pages, self._stats = start, recycle_pages, stats
        self._crashes = crashes or Crashes()
        self._current: Chromium | None = None
        self._unusable: TierUnusable | None = None
        self._timeouts = 0
        self._changing, self._left = asyncio.Lock(), asyncio.Event()

    @asynccontextmanager
    async def lent(self, visitor: Visitor) -> AsyncIterator[Lent]:
        """Lend the tabs of a visitor for one page."""
        async with self._changing:
            lending = (await self._fit()).lent(visitor)
            lent = await lending.__aenter__()
        try:
            yield lent
            self._timeouts = 0
        except DownloadTimeoutError:
            self._timeouts += 1
            raise
        finally:
            await lending.__aexit__(None, None, None)
            self._left.set()

    async def close(self) -> None:
        """End the browser. Pages in flight are lost."""
        self._unusable = TierUnusable("the crawl is over")
        async with self._changing:
            await self._end()

    async def _fit(self) -> Chromium:
        """Return a browser that can take one more page."""
        if self._unusable is not None:
            raise self._unusable
        browser = self._current
        if browser is not None and not browser.alive:
            self._stats.inc_value("fetch/browser/crashed")
            await self._end()
            await self._crashes.one_more()
            browser = None
        if browser is not None and (browser.pages >= self._recycle_pages or self._timeouts >= MOST_TIMEOUTS):
            self._timeouts = 0
            await self._emptied(browser)
            self._stats.inc_value("fetch/browser/recycled")
            await self._end()
            browser = None
        if browser is None:
            browser = self._current = await self._started()
        return browser

    async def _started(self) -> Chromium:
        try:
            browser = await self._start()
        except TierUnusable as error:
            self._unusable = error
            raise
        self._stats.inc_value("fetch/browser/started")
        return browser

    async def _emptied(self, browser: Chromium) -> None:
        """Wait until a browser has no page any more."""
        while browser.guests and browser.alive:
            self._left.clear()
            await self._left.wait()

    async def _end(self) -> None:
        browser, self._current = self._current, None
        if browser is not None:
            await browser.close()
