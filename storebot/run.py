"""One execution over one store: the lease, the database thread, the run row, and the feed of pages to visit.

Spider, middlewares, pipelines and extensions find it with ``crawler.get_extension(Run)``; none of them talks to the
database but through it.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import secrets
import signal
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from functools import partial
from types import FrameType
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Self, TypeVar

from scrapy import signals
from scrapy.exceptions import CloseSpider, NotConfigured
from sqlalchemy import Connection
from sqlalchemy.exc import SQLAlchemyError

from storebot.core.ending import Ending, judge
from storebot.core.fingerprint import HASH_VERSION
from storebot.core.summary import Summary
from storebot.db import leases, pages, runs, visits, walks
from storebot.db.database import Database, now_ms
from storebot.db.holders import is_alive, this_process
from storebot.db.saver import Saver
from storebot.exceptions import ExitCode, SaveFailed, StorebotError
from storebot.items import Outcome, Record, RunStatus, Target, Visit, WalkEnd, WalkState
from storebot.stores.model import Store

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from scrapy.settings import BaseSettings
    from twisted.python.failure import Failure

logger = logging.getLogger(__name__)

P = ParamSpec("P")
T = TypeVar("T")
Claim = Callable[[Connection], list[Target]]


class Run:
    """The run that a crawler executes, from the lease to the last line.

    What belongs together commits together: records go through `submit` and are written by one thread with one
    connection, in group commits. A commit that fails for good stops the crawl; nothing of it is half done.
    """

    def __init__(self, crawler: Crawler, store: Store, kind: str, settings: BaseSettings) -> None:
        self.crawler, self.store, self.kind, self.settings = crawler, store, kind, settings
        self.outcomes: Counter[Outcome] = Counter()
        self.on_visits: list[Callable[[Counter[Outcome]], None]] = []
        self.run_id = 0
        self.pages_expected = 0
        self.rows_written = 0
        self.change_events = 0
        self.internal_errors = 0
        self.incomplete_walks: list[str] = []
        self.summary: Summary | None = None
        self.error: StorebotError | None = None
        self.started_ms = 0
        self._signal = 0
        self._started = time.monotonic()
        self._token = secrets.token_hex(16)
        self._walks_open: set[str] = set()
        self._news: asyncio.Event = asyncio.Event()
        self._database: Database | None = None
        self._saver: Saver[Record, visits.Saved] | None = None
        self._heartbeat: asyncio.Task[None] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

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
    def unsaved(self) -> int:
        """Records that wait for their commit."""
        return self._saver.pending if self._saver else 0

    def submit(self, record: Record) -> None:
        """Hand one record to the database thread; it is written with the next group commit."""
        assert self._saver is not None
        self._saver.submit(record)

    async def room(self) -> None:
        """Wait while too many records are waiting for their commit: memory must not grow when the database is slow."""
        limit = self.settings.getint("STOREBOT_MAX_UNSAVED")
        while self.unsaved >= limit:
            await asyncio.sleep(0.02)

    async def call(self, verb: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run one verb of ``storebot.db`` in a transaction of its own, after everything submitted before it."""
        assert self._saver is not None
        return await asyncio.wrap_future(self._saver.call(partial(verb, **kwargs), *args))

    def walk_opened(self, walk: str) -> None:
        """Say that a walk may still name pages: the feed waits for it until its `WalkEnd` is saved."""
        self._walks_open.add(walk)

    async def feed(self, claim: Claim) -> AsyncIterator[Target]:
        """Yield the pages to visit, claimed in batches, until none is left and no walk can name another.

        A batch is claimed when the scheduler ran empty, so that memory doesn't grow with the store (NOTES A4.7).
        """
        while True:
            self._news.clear()
            try:
                batch = await self.call(claim)
            except StorebotError as error:
                if self.error is None:
                    self._save_failed(error)
                return
            for target in batch:
                yield target
            if batch:
                await self.crawler.signals.wait_for(signals.scheduler_empty)
            elif self._walks_open or self.unsaved:
                logger.debug("waiting for %s, %d unsaved", sorted(self._walks_open), self.unsaved)
                await self._news.wait()
            else:
                return

    def claim_pending(self, conn: Connection) -> list[Target]:
        """Claim pages that were never read."""
        return pages.claim_pending(conn, self.store.name, self._token, **self._claim_options())

    def claim_due(self, conn: Connection) -> list[Target]:
        """Claim pages that were never read, and when there is none, pages that were due when the run began."""
        due = partial(pages.claim_due, due_before=self.started_ms)
        return self.claim_pending(conn) or due(conn, self.store.name, self._token, **self._claim_options())

    # --- signals ----------------------------------------------------------------------------------------------------

    async def spider_opened(self) -> None:
        """Open the database, take the store's lease and start the run row, or close the spider with the reason."""
        self._loop = asyncio.get_running_loop()
        self._note_signals()
        try:
            await asyncio.to_thread(self._open)
        except StorebotError as error:
            self.error = error
            logger.error("%s", error)
            raise CloseSpider("not_started") from error
        self._heartbeat = asyncio.create_task(self._beat())
        # What was loaded up to here stays; the collector need not look at it for every few hundred objects of a page.
        gc.collect()
        gc.freeze()
        gc.set_threshold(50_000, 20, 20)

    async def spider_closed(self, reason: str) -> None:
        """Write what is left, give back what was claimed, and finish the run row."""
        if self._heartbeat:
            self._heartbeat.cancel()
        await asyncio.to_thread(self._finish, reason)

    def spider_error(self, failure: Failure, response: Response | Failure | None) -> None:
        """Record the visit or the walk whose parser raised: an exception in our code is an outcome, never silence."""
        self.internal_errors += 1
        meta = getattr(getattr(response, "request", None), "meta", {})
        at_ms = int(time.time() * 1000)
        if isinstance(target := meta.get("target"), Target):
            self.submit(Visit(target=target, at_ms=at_ms, outcome=Outcome.ERROR, reason=f"raised {failure.value!r}"))
        elif walk := meta.get("walk"):
            self._abandon(walk, at_ms, failure)

    def item_error(self, item: object, failure: Failure) -> None:
        """Record the visit that a pipeline could not take."""
        self.internal_errors += 1
        if isinstance(item, Visit):
            reason = f"{item.target.url}: raised {failure.value!r}"
            self.submit(Visit(target=item.target, at_ms=item.at_ms, outcome=Outcome.ERROR, reason=reason))

    def _abandon(self, walk: str, at_ms: int, failure: Failure) -> None:
        """End a walk that an exception stopped: the feed must not wait for it, and its checkpoint stays."""
        name, state, reason = self.store.name, WalkState.INCOMPLETE, f"{walk}: raised {failure.value!r}"
        self.submit(WalkEnd(store=name, walk=walk, at_ms=at_ms, state=state, reason=reason, checkpoint=False))

    # --- inside -----------------------------------------------------------------------------------------------------

    def _claim_options(self) -> dict[str, Any]:
        return {
            "limit": self.settings.getint("STOREBOT_CLAIM_BATCH"),
            "ttl_s": self.settings.getint("STOREBOT_LEASE_S"),
            "parser_version": self.store.parser_version,
            "hash_version": HASH_VERSION,
        }

    def _open(self) -> None:
        url = self.settings.get("STOREBOT_DATABASE_URL")
        self._database = Database.open(url, require_absolute="SCRAPYD_JOB" in os.environ)
        with self._database.write() as conn:
            leases.take(
                conn,
                self.store.name,
                self._token,
                this_process(),
                ttl_s=self.settings.getint("STOREBOT_LEASE_S"),
                alive=is_alive,
            )
            runs.mark_interrupted(conn, self.store.name)
            pages.release(conn, self.store.name, keep_token=self._token)
            self.run_id = runs.start(
                conn, self.store.name, self.kind, parser_version=self.store.parser_version, hash_version=HASH_VERSION
            )
            leases.note_run(conn, self.store.name, self._token, self.run_id)
            self.started_ms = now_ms(conn)
            if self.kind == "refresh":
                self.pages_expected = pages.due_count(conn, self.store.name, due_before=self.started_ms)
        context = visits.RunContext(
            run_id=self.run_id,
            store=self.store.name,
            lease_token=self._token,
            kind=self.kind,
            announce_new=self.kind != "backfill",
            revisit_after_ms=self.store.revisit_after_ms,
            error_backoff_ms=self.settings.getint("STOREBOT_ERROR_BACKOFF_S") * 1000,
            parser_version=self.store.parser_version,
            hash_version=HASH_VERSION,
        )
        self._saver = Saver(
            self._database,
            lambda conn, records: visits.save(conn, context, records),
            max_rows=self.settings.getint("STOREBOT_COMMIT_ROWS"),
            max_wait_s=self.settings.getfloat("STOREBOT_COMMIT_S"),
            on_saved=self._from_thread(self._saved),
            on_failed=self._from_thread(self._save_failed),
            refused=visits.refused,
        )

    def _from_thread(self, method: Callable[[Any], None]) -> Callable[[Any], None]:
        """Return a callable for the database thread that runs ``method`` on the event loop."""
        loop = self._loop
        assert loop is not None

        def tell(value: Any) -> None:
            loop.call_soon_threadsafe(method, value)

        return tell

    def _saved(self, saved: Sequence[visits.Saved]) -> None:
        tally: Counter[Outcome] = Counter()
        for one in saved:
            self.rows_written += one.rows_written
            self.change_events += one.changes
            if one.outcome is not None:
                tally[one.outcome] += 1
            if isinstance(one.record, WalkEnd):
                self._walk_ended(one.record)
            self.pages_expected += one.new_pages
        self.outcomes.update(tally)
        for outcome, count in tally.items():
            self.crawler.stats.inc_value(f"storebot/visit/{outcome.value}", count)
        for listener in self.on_visits:
            listener(tally)
        self._news.set()

    def _walk_ended(self, end: WalkEnd) -> None:
        self._walks_open.discard(end.walk)
        if end.state is WalkState.INCOMPLETE:
            self.incomplete_walks.append(end.reason)
            logger.warning("%s: %s", self.store.name, end.reason)

    def _save_failed(self, error: StorebotError) -> None:
        logger.error("%s: %s", self.store.name, error)
        self.error = error
        self._news.set()
        self.close_crawl("save_failed")

    def close_crawl(self, reason: str) -> None:
        """Ask the engine to end the crawl: in-flight pages finish, nothing more is sent."""
        task = asyncio.ensure_future(self.crawler.engine.close_spider_async(reason=reason))
        task.add_done_callback(_say_failure)

    async def _beat(self) -> None:
        """Extend the lease and the claims at a third of their life; a lost lease ends the crawl."""
        ttl_s = self.settings.getint("STOREBOT_LEASE_S")
        while True:
            await asyncio.sleep(ttl_s / 3)
            try:
                await self.call(leases.extend, self.store.name, self._token, ttl_s=ttl_s)
                await self.call(pages.extend_claims, self.store.name, self._token, ttl_s=ttl_s)
            except StorebotError as error:
                self.error = self.error or error
                logger.error("%s: %s", self.store.name, error)
                self.close_crawl("lease_lost")
                return

    def _note_signals(self) -> None:
        """Remember which signal asked for the end, then do what Scrapy does with it."""
        for number in (signal.SIGINT, signal.SIGTERM):
            before = signal.getsignal(number)
            if callable(before):
                signal.signal(number, partial(self._signalled, before))

    def _signalled(self, before: Callable[[int, FrameType | None], Any], number: int, frame: FrameType | None) -> None:
        self._signal = number
        before(number, frame)

    def _finish(self, reason: str) -> None:
        """Judge the run and write its row; a database that can't even take that is said, not raised."""
        for step in (self._close_saver, partial(self._close_run, reason), self._close_database):
            try:
                step()
            except (StorebotError, SQLAlchemyError) as error:
                logger.error("%s: while the run was finished: %s", self.store.name, error)
                self.error = self.error or error if isinstance(error, StorebotError) else SaveFailed(str(error))
        if self.summary is None or self.error:
            self.summary = self._summary(*judge(self._ending(reason, known=0, left=0)))

    def _close_saver(self) -> None:
        if self._saver:
            self._saver.close()

    def _close_database(self) -> None:
        if self._database:
            self._database.dispose()

    def _close_run(self, reason: str) -> None:
        if self._database is None or not self.run_id:
            return
        name = self.store.name
        with self._database.write() as conn:
            pages.release(conn, name, token=self._token)
            known = sum(pages.counts(conn, name).values())
            left = pages.left(conn, name, self.kind, due_before=self.started_ms)
            status, why, code = judge(self._ending(reason, known=known, left=left))
            self.outcomes = Counter(runs.tally(conn, self.run_id))
            self.summary = self._summary(status, why, code)
            runs.finish(
                conn,
                self.run_id,
                status,
                why,
                outcomes=self.outcomes,
                requests=self.summary.requests,
                size_bytes=self.summary.size_bytes,
                rows_written=self.rows_written,
                rows_skipped=self.summary.skipped,
                change_events=self.change_events,
            )
            if self.kind == "backfill" and status is RunStatus.COMPLETE:
                walks.close_walks(conn, name)
            leases.release(conn, name, self._token)

    def _ending(self, reason: str, *, known: int, left: int) -> Ending:
        return Ending(
            kind=self.kind,
            finish_reason=reason,
            outcomes=self.outcomes,
            incomplete_walks=self.incomplete_walks,
            pages_known=known,
            pages_left=left,
            internal_errors=self.internal_errors,
            signal=self._signal,
            failure=str(self.error) if self.error else "",
            failure_code=self.error.exit_code if self.error else None,
        )

    def _summary(self, status: RunStatus, reason: str, code: ExitCode) -> Summary:
        stats = self.crawler.stats
        return Summary(
            kind=self.kind,
            store=self.store.name,
            run_id=self.run_id,
            status=status,
            reason=reason,
            exit_code=code,
            outcomes=self.outcomes,
            rows_written=self.rows_written,
            change_events=self.change_events,
            requests=stats.get_value("downloader/request_count", 0),
            size_bytes=stats.get_value("downloader/response_bytes", 0),
            elapsed_s=time.monotonic() - self._started,
        )


def _say_failure(task: asyncio.Task[None]) -> None:
    """Log why the engine could not be closed; it usually means that it was closing already."""
    if not task.cancelled() and (error := task.exception()):
        logger.info("closing the crawl: %s", error)
