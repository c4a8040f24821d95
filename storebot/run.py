"""One execution over one store: what spider, middlewares, pipelines and extensions share while it lasts.

They find it with ``crawler.get_extension(Run)``; none of them talks to the database but through it.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import random
import signal
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from functools import partial
from types import FrameType
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urlsplit

from scrapy import signals
from scrapy.exceptions import CloseSpider, NotConfigured

from storebot.archive.keeping import Keeper
from storebot.core.ending import Ending, judge
from storebot.core.expect import MEASURED
from storebot.core.fingerprint import HASH_VERSION
from storebot.core.month import DAY_MS
from storebot.core.page_sizes import PageSizes
from storebot.core.planner.plan_report import waits
from storebot.core.planner.terms import Orders
from storebot.core.retry_budget import RetryBudget
from storebot.core.rounds import Rounds, Source
from storebot.core.summary import Summary
from storebot.core.thrift import Thrift, stretched_ms
from storebot.core.urls import same_site
from storebot.db.session import Claim, Finding, Saved, Session, SessionOptions, Standing
from storebot.exceptions import ExitCode, StorebotError
from storebot.failed_pages import FailedPages
from storebot.identities import Identities
from storebot.items import Outcome, Record, RunStatus, Spent, Target, Visit, WalkEnd, WalkState
from storebot.lean import keep_memory
from storebot.manners import kept_delay_s, late_by, overridden, warnings
from storebot.purse import Purse
from storebot.request_ladder import RequestLadder
from storebot.stores.model import Store

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.http import Request, Response
    from scrapy.settings import BaseSettings
    from twisted.python.failure import Failure

logger = logging.getLogger(__name__)

_OF_SPENT = ("requests", "size_bytes", "elapsed_ms", "browser_ms", "billed", "cost_micro", "by_tier")
_SILENCE_S = 10.0  # without a commit, after which it is asked whether there is anything to wait for


class Run:
    """The run that a crawler executes, from the lease to the last line.

    What belongs together commits together: records go through `submit` and are written by one thread with one
    connection, in group commits. A commit that fails for good stops the crawl; nothing of it is half done.
    """

    def __init__(self, crawler: Crawler, store: Store, kind: str, settings: BaseSettings) -> None:
        self.crawler, self.store, self.kind, self.settings = crawler, store, kind, settings
        self.outcomes: Counter[Outcome] = Counter()
        self.on_visits: list[Callable[[Counter[Outcome]], None]] = []
        self.on_open: list[Callable[[], None]] = []  # once there is a session
        self.on_submit: list[Callable[[Record], None]] = []  # of each record, before it is saved
        self.on_answer: list[Callable[[bool], None]] = []  # of each answer of the wire: whether it's a failure
        self.on_ending: list[Callable[[], None]] = []  # when no request is to be sent any more
        self.ending = asyncio.Event()
        self._moved_off: Counter[str] = Counter()  # visits that were redirected off the site, by host
        self.forbidden: Counter[str] = Counter()  # requests that robots.txt forbade: core.ending
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
        self._max_unsaved = settings.getint("STOREBOT_MAX_UNSAVED")
        self._opened: Session | None = None
        self._walks_open: set[str] = set()
        self.rounds = Rounds()
        self._carrying: dict[str, str] = {}  # of these, walks that carry products whole, with the source of the records
        self._feed_closed = False
        self._budget_reached = ""  # by which limit
        self._pages_stopped = False  # by it, not its walks alone
        self._shut = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._notes: list[str] = []
        self._incomplete_walks: list[str] = []
        self._news = asyncio.Event()
        self._internal_errors = self._walks_blocked = 0
        self._out = 0  # pages that the feed gave away, and whose visit isn't saved
        self.reserved = 0  # requests of a planned run that aren't for pages: the catalogue pages it has yet to ask for
        self._delay_s = 0.0  # between two requests, as far as was said what it means
        self._unasked = 0  # pages that were read from the archive instead of being fetched
        self._closing = False  # from then on nobody can claim: that is no failure
        self._signal = 0
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
        crawler.signals.connect(run.spider_error, signals.spider_error)
        crawler.signals.connect(run.item_error, signals.item_error)
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
        return ExitCode(128 + self._signal) if self._signal else ExitCode.INTERNAL_ERROR

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
        self._walks_open.add(walk)
        self.rounds.walk(walk, source)
        if carries:
            self._carrying[walk] = carries

    def close_feed(self) -> None:
        """Claim no more pages in this run: the shop refuses what would have carried them."""
        self._feed_closed = True

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
        return int(terms.allowance) - self.purse.total.requests - self._out - self.reserved

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
            if not self._closing:
                self._failed(error)
            return
        self.pages_expected = plan.requests

    async def walked(self) -> None:
        """Wait until what the walks that were opened have named, or shown on cards, is saved."""
        while self._walks_open and not self._feed_closed and not self.ending.is_set():
            self._news.clear()
            await self._news.wait()

    def give_back(self, target: Target) -> None:
        """Take a page back that the feed gave away and that wasn't asked for; the next run visits it."""
        self._out -= 1
        self._news.set()

    def slowed(self, delay_s: float) -> None:
        """Say what it means for the refresh interval that the store itself asks for such a delay, if it's news."""
        session = self.session
        delay_s = session.pace.delay_s(delay_s)
        if delay_s <= self._delay_s:
            return
        self._delay_s = delay_s
        late = late_by(self.store, self.settings, delay_s, pages=session.pages_read, latency_ms=session.latency_ms)
        if late:
            logger.warning("%s: %s", self.store.name, late)

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

    async def feed(self, claim: Claim, had: Callable[[Target], Visit | None] | None = None) -> AsyncIterator[Target]:
        """Yield the pages to visit, claimed in batches, until none is left and no walk can name another.

        A batch is claimed when the scheduler ran empty, so that memory doesn't grow with the store (NOTES A4.7). A page
        of which ``had`` gives the visit isn't visited.
        """
        while True:
            self._news.clear()
            # Asked before the claim: what is saved while it runs may name pages that it didn't see, and a page that is
            # out may have to be looked at again.
            last = not self._walks_open and not self.session.unsaved and not self._out
            if self._carrying or self._feed_closed:
                if last:
                    return
                await self._news.wait()
                continue
            try:
                batch = await self.session.call(claim)
            except StorebotError as error:
                if not self._closing:
                    self._failed(error)
                return
            self._out += len(batch)
            asked = 0
            for target in batch:
                if had is not None and (visit := had(target)) is not None:
                    await self._submit_unasked(visit)
                    continue
                asked += 1
                yield target
            if asked:
                await self.crawler.signals.wait_for(signals.scheduler_empty)
            elif batch:
                continue
            elif last:
                return
            else:
                await self._wait_for_news()

    async def _submit_unasked(self, visit: Visit) -> None:
        self._unasked += 1
        self.session.submit(visit)
        await asyncio.sleep(0)  # a whole batch is read in half a second: others must have their turn
        await self.room()

    async def _wait_for_news(self) -> None:
        """Wait until something is saved. Each page that is out brings its visit; should one not, the run still ends."""
        while not self._news.is_set():
            try:
                await asyncio.wait_for(self._news.wait(), _SILENCE_S)
            except TimeoutError:
                if self._out and not self.session.unsaved and self._is_engine_idle():
                    logger.error("%s: %d pages were asked for and brought no visit", self.store.name, self._out)
                    self._out = 0
                    return

    def _is_engine_idle(self) -> bool:
        engine = self.crawler.engine
        return not engine.downloader.active and (engine.scraper.slot is None or engine.scraper.slot.is_idle())

    def close_crawl(self, reason: str) -> None:
        """Ask the engine to end the crawl: in-flight pages finish, nothing more is sent."""
        self._end_soon()
        task = asyncio.ensure_future(self.crawler.engine.close_spider_async(reason=reason))
        task.add_done_callback(_say_failure)

    # --- signals ----------------------------------------------------------------------------------------------------

    async def spider_opened(self) -> None:
        """Open the database, take the store's lease and start the run, or close the spider with the reason."""
        self._loop = asyncio.get_running_loop()
        self._note_signals()
        try:
            self._opened = session = await asyncio.to_thread(self._open, self._loop)
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
        self._open_purse(session)
        self._heartbeat = asyncio.create_task(self._beat(session))
        self._say_manners(session)
        for told in self.on_open:
            told()
        keep_memory()
        # What was loaded up to here stays; the collector need not look at it again. A full collection waits until a
        # quarter of what the last one left is new: without what is frozen, that is soon. The thresholds: a page leaves
        # some 25 objects in cycles, and what waits for a full collection is memory that grows with the store.
        gc.freeze()
        gc.collect()
        gc.set_threshold(10_000, 2, 1)

    async def spider_closed(self, reason: str) -> None:
        """Write what is left, give back what was claimed, and finish the run row; say how it ended."""
        self._closing = True
        if self._heartbeat:
            self._heartbeat.cancel()
        if self._opened is not None:
            self.purse.tell_rest()
            try:
                whole = reason in ("finished", "blocked") and not self._signal and self.error is None
                found, rungs = partial(self._found, reason), self.ladder.rungs
                rests = self.identities.rests(self._opened.now_ms())
                await asyncio.to_thread(self._opened.close, found, whole=whole, rungs=rungs, rests=rests)
            except Exception as error:  # any: Scrapy logs what a signal's handler raises, and would exit with 0
                ours = _as_ours(error)
                logger.error("%s: %s", self.store.name, ours, exc_info=None if ours is error else error)
                self.error = self.error or ours
        self.keeper.close()
        if self._unasked:
            logger.info("%s: %d pages were read from the page archive, not fetched", self.store.name, self._unasked)
        if self.summary is None or self.error is not None:
            self._found(reason, Standing(outcomes=self.outcomes))

    def spider_error(self, failure: Failure, response: Response | Failure | None) -> None:
        """Record the visit or the walk whose parser raised: an exception in our code is an outcome, never silence."""
        self._internal_errors += 1
        meta = getattr(getattr(response, "request", None), "meta", {})
        if isinstance(target := meta.get("target"), Target):
            self._give_up(target, failure, meta.get("spent") or Spent())
        elif walk := meta.get("walk"):
            if source := self._carrying.get(walk):
                self.session.withhold(source)
            reason = f"{walk}: raised {failure.value!r}"
            state, at_ms = WalkState.INCOMPLETE, self.session.now_ms()
            name = self.store.name
            self.submit(WalkEnd(store=name, walk=walk, at_ms=at_ms, state=state, reason=reason, checkpoint=False))

    def item_error(self, item: object, failure: Failure) -> None:
        """Record the visit that a pipeline could not take."""
        self._internal_errors += 1
        if isinstance(item, Visit):
            self._give_up(item.target, failure, item)

    # --- inside -----------------------------------------------------------------------------------------------------

    def _open(self, loop: asyncio.AbstractEventLoop) -> Session:
        def on_saved(saved: Sequence[Saved]) -> None:
            loop.call_soon_threadsafe(self._saved, saved)

        def on_failed(error: StorebotError) -> None:
            loop.call_soon_threadsafe(self._failed, error)

        self.keeper.open()
        self.sizes.begin(self.keeper.sizes())
        session = Session.open(
            self.settings["STOREBOT_DATABASE_URL"],
            self._options(),
            on_saved=on_saved,
            on_failed=on_failed,
            require_absolute="SCRAPYD_JOB" in os.environ,
            keep=self.keeper.keep,
        )
        self.keeper.origin = session.origin
        return session

    def _options(self) -> SessionOptions:
        settings = self.settings
        return SessionOptions(
            store=self.store.name,
            kind=self.kind,
            parser_version=self.store.parser_version,
            hash_version=HASH_VERSION,
            lease_s=settings.getint("STOREBOT_LEASE_S"),
            claim_batch=settings.getint("STOREBOT_CLAIM_BATCH"),
            commit_rows=settings.getint("STOREBOT_COMMIT_ROWS"),
            commit_s=settings.getfloat("STOREBOT_COMMIT_S"),
            revisit_after_ms=self.store.revisit_after_ms,
            error_backoff_ms=settings.getint("STOREBOT_ERROR_BACKOFF_S") * 1000,
            gate=self.store.gate.declared,
            delist=self.store.delist.rules,
            expect=self.store.expect.of(self.kind),
            keep_visits_ms=settings.getint("STOREBOT_VISITS_KEEP_DAYS") * DAY_MS,
            currency=self.purse.currency,
            currencies=dict.fromkeys(self.purse.table.tiers, self.purse.currency),
            overrides=overridden(self.store, settings),
            force=getattr(self.crawler.spider, "force", ""),
            orders=getattr(self.crawler.spider, "orders", Orders()),
            heads=self.store.refresh.head_pages * len(self.store.catalogue_urls),
        )

    def _say_manners(self, session: Session) -> None:
        for override in session.overrides:
            logger.warning("%s: overridden: %s", self.store.name, override.sentence())
        self._delay_s = kept_delay_s(self.store, self.settings, session.robots, session.pace)
        known = {"pages": session.pages_read, "latency_ms": session.latency_ms}
        for said in warnings(self.store, self.settings, **known, delay_s=self._delay_s):
            logger.warning("%s: %s", self.store.name, said)

    def _end_soon(self) -> None:
        """Tell who would send requests that there are to be no more of them; once."""
        if self.ending.is_set():
            return
        self.ending.set()
        for told in self.on_ending:
            told()

    def _breaker_saved(self, saved: asyncio.Future[None]) -> None:
        if not saved.cancelled() and isinstance(error := saved.exception(), StorebotError):
            self._failed(error)

    def _give_up(self, target: Target, failure: Failure, spent: Spent | Visit) -> None:
        reason = f"{target.url}: raised {failure.value!r}"
        took = {name: getattr(spent, name) for name in _OF_SPENT}
        self.submit(Visit(target=target, at_ms=self.session.now_ms(), outcome=Outcome.ERROR, reason=reason, **took))

    def _open_purse(self, session: Session) -> None:
        """Give the purse what this month's runs spent; close the spider where nothing may be spent any more."""
        self.purse.open(
            session.spent_in_month,
            now_ms=session.now_ms,
            submit=session.submit,
            on_stop=self._stopped_by_budget,
            on_thrift=self._spare,
        )
        if used_up := self.purse.used_up:
            self._stopped_by_budget(used_up, discovery=False)
            raise CloseSpider("budget")

    def _stopped_by_budget(self, why: str, discovery: bool) -> None:
        """Claim no more pages: a limit is reached. Of discovery alone: only its walks end here."""
        if self._budget_reached and (discovery or self._pages_stopped):
            return
        self._budget_reached = why
        logger.warning("%s: the budget is reached: %s; what is under way is finished", self.store.name, why)
        if not discovery:
            self._pages_stopped = True
            self.close_feed()
            self._news.set()

    def _spare(self, thrift: Thrift) -> None:
        """Go on more cheaply, and say how, because a limit comes near."""
        how = []
        if self.kind == "refresh" and thrift.stretch > 1 and not self.session.is_planned:
            self.session.spared_ms = stretched_ms(self.store.revisit_after_ms, thrift.stretch)
            how.append(f"known pages are looked at {thrift.stretch:.1f} times less often")
        if len(allowed := self.purse.allowed) < len(self.purse.tiers):
            how.append(f"no page is tried by a dearer tier than {max(allowed, key=self.purse.tiers.index).value}")
        if how:
            self.note(f"{thrift.why}, so {' and '.join(how)}")

    def _saved(self, saved: Sequence[Saved]) -> None:
        tally: Counter[Outcome] = Counter()
        for one in saved:
            self.pages_expected += one.new_pages
            if one.outcome is not None and not _is_read_discovery(one):
                tally[one.outcome] += 1
                if one.outcome is Outcome.MOVED and isinstance(one.record, Visit):
                    self._note_move(one.record.final_url)
            if one.instead_of is not None:
                tally[one.instead_of] -= 1
            self._out -= isinstance(one.record, Visit) and bool(one.record.target.page_id) and not one.record.source
            if isinstance(one.record, WalkEnd):
                self._walk_ended(one.record)
            elif isinstance(one.record, Visit) and not one.record.target.page_id:
                self._walks_blocked += one.outcome is Outcome.BLOCKED
        self.outcomes.update(tally)
        for outcome, count in tally.items():
            self.crawler.stats.inc_value(f"storebot/visit/{outcome.value}", count)
        for listener in self.on_visits:
            listener(tally)
        self._news.set()

    def _note_move(self, url: str) -> None:
        if url and not same_site(url, self.store.base_url, self.store.keys.aliases):
            self._moved_off[urlsplit(url).netloc] += 1

    def _walk_ended(self, end: WalkEnd) -> None:
        self._walks_open.discard(end.walk)
        self._carrying.pop(end.walk, None)
        self.rounds.ended(end.walk, end.reason if end.state is WalkState.INCOMPLETE else "")
        if end.state is WalkState.INCOMPLETE:
            self._incomplete_walks.append(end.reason)
            logger.warning("%s: %s", self.store.name, end.reason)

    def _failed(self, error: StorebotError) -> None:
        """End the crawl: what can't be saved must not be fetched."""
        if self.error is None:
            self.error = error
            logger.error("%s: %s", self.store.name, error)
            self.close_crawl("not_saved")
        self._news.set()

    async def _beat(self, session: Session) -> None:
        """Extend the lease and the claims at a third of their life; a lost lease ends the crawl."""
        while True:
            await asyncio.sleep(session.options.lease_s / 3)
            try:
                rests = self.identities.rests(session.now_ms())
                await session.call(session.keep, self.ladder.rungs, rests)
            except StorebotError as error:
                self._failed(error)
                return

    def _note_signals(self) -> None:
        """Remember which signal asked for the end, then do what Scrapy does with it."""
        for number in (signal.SIGINT, signal.SIGTERM):
            before = signal.getsignal(number)
            if callable(before):
                signal.signal(number, partial(self._signalled, before))

    def _signalled(self, before: Callable[[int, FrameType | None], Any], number: int, frame: FrameType | None) -> None:
        self._signal = number
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._end_soon)
        before(number, frame)

    def _found(self, finish_reason: str, standing: Standing) -> Finding:
        """Judge the run by how things stand, and keep the summary for the last line."""
        status, reason, code = judge(
            Ending(
                finish_reason="blocked" if self._shut else finish_reason,
                forbidden=self.forbidden,
                moved_off=self._moved_off,
                outcomes=standing.outcomes,
                incomplete_walks=self._incomplete_walks,
                notes=self._notes,
                walks_blocked=self._walks_blocked,
                pages_known=standing.pages_known,
                pages_read=standing.pages_read,
                pages_left=standing.pages_left,
                pages_waiting=standing.pages_waiting,
                listings_known=standing.listings_known,
                min_listings=self.store.expect.min_listings if self.kind == "backfill" else None,
                held=standing.held,
                held_why=standing.held_why,
                missed=standing.missed,
                internal_errors=self._internal_errors,
                budget=self._budget_reached,
                signal=self._signal,
                failure=str(self.error) if self.error else "",
                failure_code=self.error.exit_code if self.error else None,
            )
        )
        self.summary = self._summary(status, reason, code, standing)
        return Finding(
            status=status,
            reason=reason,
            requests=self.summary.requests,
            size_bytes=self.summary.size_bytes,
            rows_written=standing.rows_written,
            rows_skipped=self.summary.skipped,
            change_events=standing.change_events,
            rounds=self.rounds.judged(finished=finish_reason == "finished" and not self._signal),
        )

    def _summary(self, status: RunStatus, reason: str, code: ExitCode, standing: Standing) -> Summary:
        return Summary(
            kind=self.kind,
            store=self.store.name,
            run_id=self._opened.run_id if self._opened else 0,
            status=status,
            reason=reason,
            exit_code=code,
            outcomes=standing.outcomes,
            rows_written=standing.rows_written,
            change_events=standing.change_events,
            requests=self.purse.total.requests,
            size_bytes=self.purse.total.size_bytes,
            elapsed_s=time.monotonic() - self._started,
            cost_micro=self.purse.total.cost_micro,
            currency=self.purse.currency,
            tiers=standing.used.tiers,
            escalations=standing.used.escalations,
            missed=standing.missed if status in MEASURED else (),
        )


def _is_read_discovery(saved: Saved) -> bool:
    """Whether it's a page of a catalogue or a sitemap that was read: it is in the ledger for its escalation alone."""
    page = saved.record
    return isinstance(page, Visit) and not page.target.page_id and saved.outcome is not Outcome.BLOCKED


def _as_ours(error: Exception) -> StorebotError:
    """Return an error of ours that says what happened."""
    return error if isinstance(error, StorebotError) else StorebotError(f"the run could not be finished: {error!r}")


def _say_failure(task: asyncio.Task[None]) -> None:
    """Log why the engine could not be closed; it usually means that it was closing already."""
    if not task.cancelled() and (error := task.exception()):
        logger.info("closing the crawl: %s", error)
