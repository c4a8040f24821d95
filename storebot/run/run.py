"""The run itself: opened with its spider, closed with it, and asked by the others meanwhile."""

from __future__ import annotations

import asyncio
import logging
import os
import random
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Self

from scrapy import signals
from scrapy.exceptions import CloseSpider, NotConfigured

from storebot.archive.keeping import Keeper
from storebot.core.page_sizes import PageSizes
from storebot.core.planner.plan_report import waits
from storebot.core.retry_budget import RetryBudget
from storebot.core.rounds import Rounds, Source
from storebot.core.summary import Summary
from storebot.db.session import Claim, Finding, Saved, Session, Standing
from storebot.exceptions import ExitCode, StorebotError
from storebot.failed_pages import FailedPages
from storebot.identities import Identities
from storebot.items import Outcome, Record, Target, Visit, WalkEnd, WalkState
from storebot.purse import Purse
from storebot.request_ladder import RequestLadder
from storebot.run.delay import Delay
from storebot.run.faults import Faults
from storebot.run.feed import Feed
from storebot.run.judging import Course, found
from storebot.run.lease import keep_lease
from storebot.run.opening import open_session, session_options
from storebot.run.process import Signals, tune
from storebot.run.spending import Spending
from storebot.run.stopping import Stopping
from storebot.run.tally import Tally
from storebot.stores.model import Store

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.http import Request
    from scrapy.settings import BaseSettings

logger = logging.getLogger(__package__)  # the run's: its parts log by one name


class Run:
    """The run that a crawler executes, from the lease to the last line.

    What belongs together commits together: records go through `submit` and are written by one thread with one
    connection, in group commits. A commit that fails for good stops the crawl; nothing of it is half done.
    """

    def __init__(self, crawler: Crawler, store: Store, kind: str, settings: BaseSettings) -> None:
        self.crawler, self.store, self.kind, self.settings = crawler, store, kind, settings
        self.on_visits: list[Callable[[Counter[Outcome]], None]] = []
        self.on_open: list[Callable[[], None]] = []  # once there is a session
        self.on_submit: list[Callable[[Record], None]] = []  # of each record, before it is saved
        self.on_answer: list[Callable[[bool], None]] = []  # of each answer of the wire: whether it's a failure
        self._stopping = Stopping(crawler)
        self.ending, self.on_ending = self._stopping.begun, self._stopping.listeners  # of no more requests
        self.pages_expected = 0
        self.summary: Summary | None = None
        self.error: StorebotError | None = None  # why the run could not go on
        self.failed_pages = FailedPages.from_settings(settings, store.name)
        self.keeper = Keeper(settings, store)
        self.sizes = PageSizes()
        self.identities = Identities.of_store(store, os.environ)
        self._retries = RetryBudget(
            most=settings.getint("STOREBOT_RETRIES_MAX"), share=settings.getfloat("STOREBOT_RETRIES_SHARE")
        )
        self.ladder = RequestLadder(
            store,
            clock=lambda: self.session.now_ms(),
            count=lambda name: crawler.stats.inc_value(name),
            allowed=lambda: self.purse.allowed,
            may=lambda: self.may_retry("tier"),
        )
        self.purse = Purse(store)
        self.rounds = Rounds()
        self.reserved = 0  # requests of a planned run that aren't for pages: the catalogue pages it has yet to ask for
        self._tally = Tally(store)
        self.outcomes, self.forbidden = self._tally.outcomes, self._tally.forbidden
        self._feed = Feed(
            crawler, store.name, session=lambda: self.session, room=self.room, on_failed=self._could_not_ask
        )
        self._faults = Faults(store.name, self._tally, self._feed, session=lambda: self.session, submit=self.submit)
        self._spending = Spending(store, kind, self.purse, stop=self._feed.stop, note=self.note)
        self._delay = Delay(store, settings)
        self._signals = Signals(self._stopping.begin)
        self._max_unsaved = settings.getint("STOREBOT_MAX_UNSAVED")
        self._opened: Session | None = None
        self._shut = False
        self._notes: list[str] = []
        self._closing = False  # from then on nobody can claim: that is no failure
        self._heartbeat: asyncio.Task[None] | None = None
        self._started = time.monotonic()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        store = getattr(crawler.spider, "store", None)
        if crawler.spider is None or not isinstance(store, Store):
            raise NotConfigured("only backfill and refresh have a store, and so a run")
        run = cls(crawler, store, crawler.spider.name, crawler.settings)
        crawler.signals.connect(run.spider_opened, signals.spider_opened)
        crawler.signals.connect(run.spider_closed, signals.spider_closed)
        crawler.signals.connect(run._faults.spider_error, signals.spider_error)
        crawler.signals.connect(run._faults.item_error, signals.item_error)
        return run

    # --- what the others call ---------------------------------------------------------------------------------------

    @property
    def session(self) -> Session:
        """The run's hold on the database; there is one from `spider_opened` on."""
        if self._opened is None:
            raise RuntimeError("the run has no database yet: wait for spider_opened")
        return self._opened

    @property
    def is_open(self) -> bool:
        """Whether there is a session."""
        return self._opened is not None

    @property
    def code_without_summary(self) -> ExitCode:
        """The exit code of a run that was not even closed: a second signal stops Scrapy where it stands."""
        number = self._signals.number
        return ExitCode(128 + number) if number else ExitCode.INTERNAL_ERROR

    def submit(self, record: Record) -> None:
        """Hand one record to the database thread; it is written with the next group commit."""
        if isinstance(record, Visit):
            self.purse.told(record)
        self.session.submit(record)
        for told in self.on_submit:
            told(record)

    @property
    def is_full(self) -> bool:
        """Whether too many records are waiting for their commit: memory must not grow when the database is slow."""
        return self.session.unsaved >= self._max_unsaved

    async def room(self) -> None:
        """Wait until there is room for another record."""
        while self.is_full:
            await asyncio.sleep(0.02)

    def walk_opened(self, walk: str, source: Source, *, carries: str = "") -> None:
        """Say that a walk of a source may still name pages: the feed waits for it until its `WalkEnd` is saved.

        Until one that ``carries`` the records of a source has ended no page is claimed at all: what it carries needs no
        request.
        """
        self._feed.walk_opened(walk, carries)
        self.rounds.walk(walk, source)

    def close_feed(self) -> None:
        """Claim no more pages in this run: the shop refuses what would have carried them."""
        self._feed.close()

    def shut(self, reason: str, until_ms: int = 0) -> None:
        """Open the store's circuit breaker and end the run: the store says no, and is asked nothing any more.

        ``until_ms`` is when it wants to be asked again, where it says so itself.
        """
        if self._shut:
            return
        self._shut = True
        self.note(reason)
        saved = asyncio.ensure_future(self.session.call(self.session.shut, reason, random.random(), until_ms))
        saved.add_done_callback(self._breaker_saved)
        self.close_crawl("blocked")

    @property
    def must_wait(self) -> bool:
        """Whether a refresh has nothing to spend but on finding pages: then it's left to the next one, with a note."""
        terms = self.session.terms
        if terms is None or not terms.must_wait:
            return False
        self.note(waits(terms))
        return True

    def requests_left(self) -> int:
        """Return how many requests a planned run has left; pages that are out take one each."""
        terms = self.session.terms
        if terms is None:
            return sys.maxsize
        return int(terms.allowance) - self.purse.total.requests - self._feed.out - self.reserved

    async def plan(self) -> None:
        """Have a refresh with a budget decide what it fetches, when its discovery has ended: by what that found."""
        session = self.session
        if not session.is_planned:
            return
        await self.walked()
        try:
            await session.call(session.remember)
            spent = self.purse.total.requests
            plan = await asyncio.to_thread(session.draw_up, max(self.requests_left(), 0))
            await session.call(session.follow, plan, spent)
        except StorebotError as error:
            self._could_not_ask(error)
            return
        self.pages_expected = plan.requests

    async def walked(self) -> None:
        """Wait until what the walks that were opened have named, or shown on cards, is saved."""
        await self._feed.walked(self.ending)

    def give_back(self, target: Target) -> None:
        """Take a page back that the feed gave away and that wasn't asked for; the next run visits it."""
        self._feed.give_back()

    def slowed(self, delay_s: float) -> None:
        """Say what it means for the refresh interval that the store itself asks for such a delay, if it's news."""
        self._delay.slowed(self.session, delay_s)

    def may_retry(self, kind: str) -> bool:
        """Take one retry, of whatever kind, from the run's budget; False when it's used up: then a failure is final."""
        granted = self._retries.take(kind, self.crawler.stats.get_value("downloader/request_count", 0))
        if not granted and self._retries.refused == 1:
            self.note(f"{self._retries.told}, and no more will be: what fails from then on isn't tried again")
        return granted

    def escalated(self, request: Request, reason: str) -> Request | None:
        """Return the request to the next tier up for a page that wasn't got, None where there is none to be tried."""
        return self.ladder.escalated(request, reason)

    def note(self, text: str) -> None:
        """Keep a sentence for the run's reason: what was done in another way than the store file asks for."""
        self._notes.append(text)
        logger.warning("%s: %s", self.store.name, text)

    def abandon(self, error: StorebotError) -> None:
        """End the crawl because of what would keep every further page from being fetched; the exit code is its own."""
        self._failed(error)

    def feed(self, claim: Claim, had: Callable[[Target], Visit | None] | None = None) -> AsyncIterator[Target]:
        """Yield the pages to visit, claimed in batches, until none is left and no walk can name another.

        A batch is claimed when the scheduler ran empty, so that memory doesn't grow with the store (NOTES A4.7). A page
        of which ``had`` gives the visit isn't visited.
        """
        return self._feed.pages(claim, had)

    def close_crawl(self, reason: str) -> None:
        """Ask the engine to end the crawl: in-flight pages finish, nothing more is sent."""
        self._stopping.close_crawl(reason)

    # --- signals ----------------------------------------------------------------------------------------------------

    async def spider_opened(self) -> None:
        """Open the database, take the store's lease and start the run, or close the spider with the reason."""
        loop = asyncio.get_running_loop()
        self._signals.note(loop)
        try:
            self._opened = session = await asyncio.to_thread(self._open, loop)
        except Exception as error:  # Scrapy would log what isn't a CloseSpider, and crawl on without a run
            if isinstance(error, StorebotError):
                self.error = error
                logger.error("%s", error)
            else:
                self.error = StorebotError(f"{self.store.name}: the run could not be opened: {error!r}")
                logger.error("%s", self.error, exc_info=error)
            raise CloseSpider("not_started") from error
        self.pages_expected = session.due
        session.left = self.requests_left
        self.ladder.remember(session.rungs)
        self.identities.remember(session.rests, session.now_ms())
        self._spending.open(session)
        self._heartbeat = asyncio.create_task(keep_lease(session, self.ladder, self.identities, self._failed))
        self._delay.begin(session)
        for told in self.on_open:
            told()
        tune()

    async def spider_closed(self, reason: str) -> None:
        """Write what is left, give back what was claimed, and finish the run row; say how it ended."""
        self._closing = True
        if self._heartbeat:
            self._heartbeat.cancel()
        if self._opened is not None:
            self.purse.tell_rest()
            try:
                whole = reason in ("finished", "blocked") and not self._signals.number and self.error is None
                judge, rungs = partial(self._found, reason), self.ladder.rungs
                rests = self.identities.rests(self._opened.now_ms())
                await asyncio.to_thread(self._opened.close, judge, whole=whole, rungs=rungs, rests=rests)
            except Exception as error:  # any: Scrapy logs what a signal's handler raises, and would exit with 0
                ours = _as_ours(error)
                logger.error("%s: %s", self.store.name, ours, exc_info=None if ours is error else error)
                self.error = self.error or ours
        self.keeper.close()
        if unasked := self._feed.unasked:
            logger.info("%s: %d pages were read from the page archive, not fetched", self.store.name, unasked)
        if self.summary is None or self.error is not None:
            self._found(reason, Standing(outcomes=self.outcomes))

    # --- inside -----------------------------------------------------------------------------------------------------

    def _open(self, loop: asyncio.AbstractEventLoop) -> Session:
        options = session_options(self.store, self.kind, self.settings, self.purse, self.crawler.spider)
        url, keeper, sizes = self.settings["STOREBOT_DATABASE_URL"], self.keeper, self.sizes
        return open_session(loop, url, options, keeper, sizes, on_saved=self._saved, on_failed=self._failed)

    def _breaker_saved(self, saved: asyncio.Future[None]) -> None:
        if not saved.cancelled() and isinstance(error := saved.exception(), StorebotError):
            self._failed(error)

    def _saved(self, saved: Sequence[Saved]) -> None:
        news = self._tally.add(saved)
        self.pages_expected += news.new_pages
        self._feed.out -= news.visited
        for end in news.ends:
            self._walk_ended(end)
        for outcome, count in news.outcomes.items():
            self.crawler.stats.inc_value(f"storebot/visit/{outcome.value}", count)
        for listener in self.on_visits:
            listener(news.outcomes)
        self._feed.wake()

    def _walk_ended(self, end: WalkEnd) -> None:
        self._feed.walk_ended(end.walk)
        self.rounds.ended(end.walk, end.reason if end.state is WalkState.INCOMPLETE else "")
        if end.state is WalkState.INCOMPLETE:
            self._tally.incomplete_walks.append(end.reason)
            logger.warning("%s: %s", self.store.name, end.reason)

    def _failed(self, error: StorebotError) -> None:
        """End the crawl: what can't be saved must not be fetched."""
        if self.error is None:
            self.error = error
            logger.error("%s: %s", self.store.name, error)
            self.close_crawl("not_saved")
        self._feed.wake()

    def _could_not_ask(self, error: StorebotError) -> None:
        """End the crawl because the database didn't answer, unless the run is closing: then it doesn't any more."""
        if not self._closing:
            self._failed(error)

    def _found(self, finish_reason: str, standing: Standing) -> Finding:
        """Judge the run by how things stand, and keep the summary for the last line."""
        course = Course(
            kind=self.kind,
            store=self.store,
            run_id=self._opened.run_id if self._opened else 0,
            finish_reason=finish_reason,
            is_shut=self._shut,
            tally=self._tally,
            notes=self._notes,
            rounds=self.rounds,
            purse=self.purse,
            budget=self._spending.reached,
            signal=self._signals.number,
            error=self.error,
            elapsed_s=time.monotonic() - self._started,
        )
        finding, self.summary = found(course, standing)
        return finding


def _as_ours(error: Exception) -> StorebotError:
    """Return an error of ours that says what happened."""
    return error if isinstance(error, StorebotError) else StorebotError(f"the run could not be finished: {error!r}")
