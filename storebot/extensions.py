"""What watches a crawl: the circuit breaker, the store's Crawl-delay, the progress display."""

from __future__ import annotations

import logging
import sys
import time
from collections import Counter
from typing import TYPE_CHECKING, Any, Self

from scrapy import signals
from scrapy.exceptions import NotConfigured
from scrapy.utils.httpobj import urlparse_cached
from tqdm import tqdm

from storebot.core.breaker import should_open
from storebot.core.robots import asked_delay_s
from storebot.items import Outcome
from storebot.run import Run

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.http import Request

logger = logging.getLogger(__name__)


class Watcher:
    """An extension that is told the outcomes of each group commit; without a run it has nothing to watch."""

    run: Run

    def __init__(self) -> None:
        self.totals: Counter[Outcome] = Counter()

    def watch(self, crawler: Crawler) -> None:
        """Attach to the crawler's run when the spider opens: extensions can't see each other before that."""
        self._crawler = crawler
        crawler.signals.connect(self.spider_opened, signals.spider_opened)

    def spider_opened(self) -> None:
        run = self._crawler.get_extension(Run)
        if run is not None:
            self.run = run
            run.on_visits.append(self.seen)

    def seen(self, tally: Counter[Outcome]) -> None:
        """Take the outcomes of one commit."""
        self.totals.update(tally)


class Breaker(Watcher):
    """End the run as ``blocked`` when the store says no too often: a store that says no isn't hammered."""

    def __init__(self) -> None:
        super().__init__()
        self.open = False

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        breaker = cls()
        breaker.watch(crawler)
        return breaker

    def seen(self, tally: Counter[Outcome]) -> None:
        super().seen(tally)
        blocks = self.run.store.blocks
        if not self.open and should_open(self.totals, share=blocks.breaker_share, minimum=blocks.breaker_min):
            self.open = True
            logger.error(
                "%s: %d of %d visits were blocked: the run ends; look at the blocks table, then run again later",
                self.run.store.name,
                self.totals[Outcome.BLOCKED],
                self.totals.total(),
            )
            self.run.close_crawl("blocked")


class CrawlDelay:
    """Honour robots.txt's Crawl-delay and Request-rate where they ask for more than the store file does.

    Scrapy reads robots.txt but neither of them; the delay is a property of the downloader's slot.
    """

    def __init__(self, crawler: Crawler, agent: str) -> None:
        self.crawler, self.agent = crawler, agent

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        if not crawler.settings.getbool("ROBOTSTXT_OBEY"):
            raise NotConfigured("robots.txt is not asked")
        extension = cls(crawler, crawler.settings["ROBOTSTXT_USER_AGENT"] or crawler.settings["USER_AGENT"])
        crawler.signals.connect(extension.robots_parsed, signals.robots_parsed)
        return extension

    def robots_parsed(self, robotparser: Any, request: Request) -> None:
        rate = robotparser.rp.request_rate(self.agent)
        asked_s = asked_delay_s(robotparser.rp.crawl_delay(self.agent), *(rate[:2] if rate else ()))
        host = urlparse_cached(request).hostname or ""
        downloader = self.crawler.engine.downloader
        slot = downloader.slots.get(host)
        own_s = slot.delay if slot is not None else self.crawler.settings.getfloat("DOWNLOAD_DELAY")
        if own_s < asked_s:
            logger.info("%s: robots.txt asks for %s s between requests (the store file: %s)", host, asked_s, own_s)
            # A slot that is idle for a minute is thrown away, and its successor must not begin anew.
            downloader.per_slot_settings.setdefault(host, {})["delay"] = asked_s
            if slot is not None:
                slot.delay = asked_s


class Progress(Watcher):
    """Show how far the run is: a bar with rate, ETA and outcomes on a terminal, a line now and then elsewhere."""

    LINE_EVERY_S = 30.0

    def __init__(self, *, bar: bool) -> None:
        super().__init__()
        self.bar = bar
        self._tqdm: tqdm[Any] | None = None
        self._started = self._last_line = time.monotonic()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        mode = crawler.settings.get("STOREBOT_PROGRESS")
        if mode == "off":
            raise NotConfigured  # without a message: it is what was asked for, and Scrapy warns of messages
        progress = cls(bar=mode == "bar" or (mode == "auto" and sys.stderr.isatty()))
        progress.watch(crawler)
        # Not spider_closed: the last commits are made then, and the bar would stop short of its end.
        crawler.signals.connect(progress.engine_stopped, signals.engine_stopped)
        return progress

    def seen(self, tally: Counter[Outcome]) -> None:
        super().seen(tally)
        if self.bar:
            self._show(tally.total())
        elif time.monotonic() - self._last_line >= self.LINE_EVERY_S:
            self._say()

    def engine_stopped(self) -> None:
        if self._tqdm is not None:
            self._tqdm.close()

    def _show(self, count: int) -> None:
        if self._tqdm is None:
            title = f"{self.run.kind} {self.run.store.name}"
            self._tqdm = tqdm(unit="page", desc=title, file=sys.stderr, dynamic_ncols=True)
        self._tqdm.total = self._expected()
        self._tqdm.set_postfix_str(self._counts(), refresh=False)
        self._tqdm.update(count)

    def _say(self) -> None:
        self._last_line = time.monotonic()
        done = self.totals.total()
        rate = done / max(self._last_line - self._started, 1e-9)
        left = self._expected() - done
        eta = f", about {left / rate / 60:.0f} min left" if rate and left else ""
        name = self.run.store.name
        logger.info("%s: %d of %d pages, %.1f a second%s (%s)", name, done, done + left, rate, eta, self._counts())

    def _expected(self) -> int:
        return max(self.run.pages_expected, self.totals.total())

    def _counts(self) -> str:
        return " ".join(f"{outcome.value}={count}" for outcome, count in sorted(self.totals.items()) if count)
