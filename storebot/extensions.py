"""What watches a crawl: the circuit breaker, the progress display, the heartbeat."""

from __future__ import annotations

import asyncio
import logging
import os
import sys
import time
from collections import Counter
from typing import TYPE_CHECKING, Any, Self

from scrapy import signals
from scrapy.exceptions import NotConfigured
from tqdm import tqdm

from storebot.core.breaker import Watch
from storebot.core.heartbeat import Beat, address, beat_of
from storebot.core.secrets import shown_url
from storebot.heartbeat import Pinging
from storebot.items import Outcome, Record, Visit
from storebot.run import Run

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

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
    """Open the store's circuit breaker when it says no too often: the run ends, and the next ones wait.

    Visits that were blocked count, those of discovery, too; and answers that failed, whatever was asked for.
    """

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        breaker = cls()
        breaker.watch(crawler)
        return breaker

    def spider_opened(self) -> None:
        super().spider_opened()
        if hasattr(self, "run"):
            blocks = self.run.store.blocks
            self.blocked = Watch(blocks.breaker_share, blocks.breaker_min)
            self.failed = Watch(blocks.breaker_error_share, blocks.breaker_min)
            self.run.on_submit.append(self.submitted)
            self.run.on_answer.append(self.answered)

    def submitted(self, record: Record) -> None:
        """Take a visit that is about to be saved; one that a feed carried, or that wasn't made, says nothing."""
        if not isinstance(record, Visit) or record.source or record.outcome is Outcome.SKIPPED:
            return
        if self.blocked.add(no=record.outcome is Outcome.BLOCKED):
            self.run.shut(f"{self.blocked.noes} of the last {self.blocked.count} visits were blocked")

    def answered(self, failed: bool) -> None:
        """Take one answer of the wire."""
        if self.failed.add(no=failed):
            share = f"{self.failed.noes} of the last {self.failed.count}"
            self.run.shut(f"{share} requests failed (no connection, a time-out, HTTP 5xx)")


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


class Heartbeat(Watcher):
    """Tell a watchdog (``STOREBOT_HEARTBEAT``) that the run began, and how it ended.

    It waits `WAIT_S` for the watchdog's answer at the end, and for nothing else; what goes wrong is a line in the log.
    """

    WAIT_S = 10.0

    def __init__(self, template: str, store: str, kind: str) -> None:
        super().__init__()
        self.template, self.store, self.kind = template, store, kind
        self._last: Pinging | None = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        template, store = os.environ.get("STOREBOT_HEARTBEAT", ""), getattr(crawler.spider, "store", None)
        if not template or store is None or crawler.spider is None:
            raise NotConfigured  # without a message: it is what was asked for
        heartbeat = cls(template, store.name, crawler.spider.name)
        heartbeat.watch(crawler)
        crawler.signals.connect(heartbeat.engine_stopped, signals.engine_stopped)
        return heartbeat

    def spider_opened(self) -> None:
        super().spider_opened()
        if hasattr(self, "run"):
            self.run.on_open.append(self._began)

    async def engine_stopped(self) -> None:
        summary = self.run.summary if hasattr(self, "run") else None
        beat = beat_of(summary.exit_code) if summary else None
        if summary is None or beat is None:
            return
        await self._wait()  # its start has to come first
        self._send(beat, summary.line())
        await self._wait()
        if self._last is not None and self._last.error is None:
            logger.warning("the heartbeat %s wasn't answered within %.0f s", shown_url(self.template), self.WAIT_S)

    def _began(self) -> None:
        self._send(Beat.START, "")

    def _send(self, beat: Beat, text: str) -> None:
        try:
            url = address(self.template, beat, self.store, self.kind)
        except ValueError as error:
            logger.warning("STOREBOT_HEARTBEAT: %s; nobody is told of this run", error)
            return
        self._last = Pinging(url, text)
        self._last.start()

    async def _wait(self) -> None:
        if self._last is not None:
            await asyncio.to_thread(self._last.join, self.WAIT_S)
            if self._last.error:
                logger.warning("the heartbeat %s failed: %s", shown_url(self.template), self._last.error)
