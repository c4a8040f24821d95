"""One browser at a time: replaced when it's worn out or dead, with a bound on how often, and ended with the crawl."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from scrapy.exceptions import DownloadTimeoutError
from scrapy.statscollectors import MemoryStatsCollector
from scrapy.utils.test import get_crawler

from storebot.exceptions import TierUnusable
from storebot.fetch.browsing.browsers import CRASHES_WITHIN_S, MOST_CRASHES, MOST_TIMEOUTS, Browsers, Crashes
from storebot.fetch.browsing.chromium import Chromium, Cookies, Launch
from storebot.fetch.browsing.errors import BrowserCrashed
from storebot.fetch.browsing.guard import Guard
from storebot.fetch.browsing.visitor import Visitor
from tests.vendors.chromium import chromium_path

VISITOR = Visitor(1)


async def _guard(proxy: object) -> Guard:
    guard = Guard(private_ok=True)
    await guard.open()
    return guard


def browsers(recycle_pages: int, crashes: Crashes | None = None) -> tuple[Browsers, MemoryStatsCollector]:
    """Return a keeper of real browsers, and the stats that it counts into."""
    stats = MemoryStatsCollector(get_crawler())
    launch, cookies = Launch(executable=chromium_path(), guard=_guard), Cookies()
    kept = Browsers(lambda: Chromium.start(launch, cookies), recycle_pages=recycle_pages, stats=stats, crashes=crashes)
    return kept, stats


def within(kept: Browsers, do: Callable[[], Awaitable[Any]]) -> Any:
    async def main() -> Any:
        try:
            return await do()
        finally:
            await kept.close()

    return asyncio.run(main())


def counted(stats: MemoryStatsCollector) -> dict[str, int]:
    return {name.rpartition("/")[2]: value for name, value in stats.get_stats().items()}


def test_a_browser_that_is_worn_out_is_replaced_and_its_cookies_stay() -> None:
    """Case W06: when its last page is done, whoever wants one waits for it."""
    kept, stats = browsers(recycle_pages=2)

    async def visits() -> list[str]:
        seen = []

        async def visit(seconds: float) -> None:
            async with kept.lent(VISITOR) as (tabs, _):
                await tabs.context.add_cookies([{"name": "seen", "value": "yes", "url": "http://shop.example"}])
                await asyncio.sleep(seconds)
                seen.append("done")

        async def third() -> None:
            await asyncio.sleep(0.1)
            async with kept.lent(VISITOR) as (tabs, _):
                seen.append(str((await tabs.context.cookies())[0].get("value")))

        await asyncio.gather(visit(0), visit(0.5), third())
        return seen

    assert within(kept, visits) == ["done", "done", "yes"]
    assert counted(stats) == {"started": 2, "recycled": 1}


def test_a_browser_in_which_everything_takes_too_long_is_replaced() -> None:
    kept, stats = browsers(recycle_pages=100)

    async def visits() -> None:
        for _ in range(MOST_TIMEOUTS):
            with pytest.raises(DownloadTimeoutError):
                async with kept.lent(VISITOR):
                    raise DownloadTimeoutError("took longer than 45 s")
        async with kept.lent(VISITOR):
            pass

    within(kept, visits)
    assert counted(stats) == {"started": 2, "recycled": 1}


def test_a_browser_that_is_gone_when_a_context_is_wanted_has_crashed() -> None:
    kept, stats = browsers(recycle_pages=100)

    async def visits() -> None:
        async with kept.lent(VISITOR) as (tabs, _):
            assert tabs.context.browser is not None
            await tabs.context.browser.close()
            with pytest.raises(BrowserCrashed, match="the browser is gone"):
                async with kept._current.lent(Visitor(2)):  # type: ignore[union-attr]
                    pass
        async with kept.lent(VISITOR):
            pass

    within(kept, visits)
    assert counted(stats) == {"started": 2, "crashed": 1}


def test_a_browser_that_died_is_replaced_a_few_times_a_minute() -> None:
    now, waits = [0.0], []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)
        now[0] += seconds

    crashes = Crashes(lambda: now[0], sleep)

    async def die() -> None:
        for number in range(MOST_CRASHES + 2):
            now[0] = max(now[0], float(number))
            await crashes.one_more()

    asyncio.run(die())
    assert waits == [CRASHES_WITHIN_S - MOST_CRASHES, 1.0]


def test_a_browser_that_cannot_be_started_is_not_tried_again() -> None:
    stats = MemoryStatsCollector(get_crawler())
    started = []

    async def start() -> Chromium:
        started.append(1)
        return await Chromium.start(Launch(executable="/bin/false", guard=_guard), Cookies())

    kept = Browsers(start, recycle_pages=2, stats=stats)

    async def twice() -> None:
        for _ in range(2):
            with pytest.raises(TierUnusable, match=r"^/bin/false can't be started: "):
                async with kept.lent(VISITOR):
                    pass

    within(kept, twice)
    assert (started, counted(stats)) == ([1], {})


def test_after_the_crawl_nobody_gets_a_browser() -> None:
    kept, stats = browsers(recycle_pages=2)

    async def late() -> None:
        await kept.close()
        with pytest.raises(TierUnusable, match="the crawl is over"):
            async with kept.lent(VISITOR):
                pass

    within(kept, late)
    assert counted(stats) == {}
