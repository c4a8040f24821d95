"""A store's records read again from its kept pages: parse in all processes, compare and save in this one."""

from __future__ import annotations

import secrets
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType

from storebot.core.fingerprint import HASH_VERSION
from storebot.core.summary import Summary
from storebot.db import corrections, reparsing
from storebot.db.context import RunContext
from storebot.db.corrections import Corrected
from storebot.db.database import Database
from storebot.db.reparsing import Selection, Subject
from storebot.db.retry import retrying
from storebot.exceptions import ExitCode, StorebotError
from storebot.items import Outcome, RunStatus, Visit
from storebot.reparse.differences import Differences, sentence
from storebot.reparse.workers import Readings, Workers
from storebot.stores.model import Store

_TICK_S = 1.0  # between two looks at signals and the lease, where pages take long
CHUNK = 25  # pages to a chunk: read in some hundredths of a second, saved in one transaction
NOT_KEPT = "the page that the record was read from isn't in the archive: the next refresh reads it anew"
_SIGNALS = (signal.SIGINT, signal.SIGTERM)


@dataclass(slots=True, kw_only=True)
class Reparse:
    """One run. ``shown`` is told of pages done and pages in all, now and then."""

    database: Database
    store: Store
    workers: Workers
    lease_s: int
    since_ms: int = 0
    dry_run: bool = False
    announce: bool = False
    shown: Callable[[int, int], None] = lambda done, total: None
    found: Differences = field(default_factory=Differences)
    _pages: int = 0
    _signal: int = 0
    _started: float = field(default_factory=time.monotonic)
    _extended: float = 0.0

    def run(self) -> Summary:
        """Read everything again, and save what differs; return how it ended.

        A run that is killed loses the chunks under way, and the next one begins with the pages that aren't by today's
        parser yet. Raises what the database raises, `StoreBusy`, and `StorebotError` where a process died.
        """
        wanted = Selection(
            store=self.store.name,
            version=self.store.parser_version,
            hash_version=HASH_VERSION,
            since_ms=self.since_ms,
        )
        if self.dry_run:
            self._go_through(wanted, reparsing.context(wanted))
            return self._summary(0)
        return self._as_a_run(wanted)

    def _as_a_run(self, wanted: Selection) -> Summary:
        run = retrying(
            self.database,
            lambda conn: reparsing.begin(conn, wanted, secrets.token_hex(16), self.lease_s),
        )
        self._extended = time.monotonic()
        status, reason = RunStatus.FAILED, "it ended by an error"
        try:
            with self._noting_signals():
                self._go_through(wanted, run)
            summary = self._summary(run.run_id)
            status, reason = summary.status, summary.reason
            return summary
        except StorebotError as error:
            reason = str(error)
            raise
        finally:
            retrying(self.database, lambda conn: reparsing.finish(conn, run, status, reason, self.found.outcomes))

    def _go_through(self, wanted: Selection, run: RunContext) -> None:
        with self.database.read() as conn:
            ids = reparsing.subject_ids(conn, wanted)
        self._pages, done = len(ids), 0
        try:
            for readings in self.workers.read(self._chunks(wanted, ids), every_s=_TICK_S):
                if readings is not None:
                    self.found.add(self._settled(run, readings))
                    done += len(readings.subjects)
                self._extend(run)
                self.shown(done, len(ids))
                if self._signal:
                    return
        except BrokenProcessPool as error:
            if self._signal:  # whoever stops a service may signal each of its processes
                return
            raise StorebotError(
                f"{self.store.name}: a process that read kept pages died, by one of the pages or for want of memory; "
                f"what was saved is saved: run it again, with --workers 1 if it happens again ({error})"
            ) from error

    def _chunks(self, wanted: Selection, ids: Sequence[int]) -> Iterator[Sequence[Subject]]:
        for start in range(0, len(ids), CHUNK):
            with self.database.read() as conn:
                chunk = reparsing.subjects(conn, wanted, ids[start : start + CHUNK])
            yield chunk

    def _settled(self, run: RunContext, readings: Readings) -> list[Corrected]:
        visits = [*readings.visits, *_not_kept(run, readings)]
        if self.dry_run:
            with self.database.read() as conn:
                return corrections.compare(conn, run, visits)
        return retrying(self.database, lambda conn: corrections.correct(conn, run, visits, announce=self.announce))

    def _extend(self, run: RunContext) -> None:
        if not self.dry_run and time.monotonic() - self._extended > self.lease_s / 3:
            retrying(self.database, lambda conn: reparsing.extend(conn, run, self.lease_s))
            self._extended = time.monotonic()

    @contextmanager
    def _noting_signals(self) -> Iterator[None]:
        """Have SIGINT and SIGTERM end the run when the next chunk is saved; a second one ends it at once."""
        before = {number: signal.signal(number, self._signalled) for number in _SIGNALS}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _signalled(self, number: int, _: FrameType | None) -> None:
        if self._signal:
            raise KeyboardInterrupt
        self._signal = number

    def _summary(self, run_id: int) -> Summary:
        status, reason, code = self._judged()
        return Summary(
            kind=reparsing.KIND,
            store=self.store.name,
            run_id=run_id,
            status=status,
            reason=reason,
            exit_code=code,
            outcomes=self.found.outcomes,
            rows_written=0 if self.dry_run else self.found.rows_written,
            change_events=self.found.changes,
            elapsed_s=time.monotonic() - self._started,
        )

    def _judged(self) -> tuple[RunStatus, str, ExitCode]:
        if self._signal:
            code = ExitCode.SIGTERM if self._signal == signal.SIGTERM else ExitCode.SIGINT
            return RunStatus.INTERRUPTED, "stopped by a signal; the next run goes on", code
        if not self._pages:
            when = (
                " that was fetched since then"
                if self.since_ms
                else f": scrapy crawl backfill -a store={self.store.name}"
            )
            return RunStatus.FAILED, f"there is no record that was read from a page{when}", ExitCode.PARTIAL
        outcomes = self.found.outcomes
        doubts = sentence([(outcomes[one], one.value) for one in (Outcome.INVALID, Outcome.ERROR)])
        unread = self.found.reasons[NOT_KEPT]
        reason = "; ".join(filter(None, [doubts, sentence([(unread, f"of which {NOT_KEPT}")])]))
        return (RunStatus.PARTIAL, reason, ExitCode.PARTIAL) if reason else (RunStatus.COMPLETE, "", ExitCode.COMPLETE)


def _not_kept(run: RunContext, readings: Readings) -> list[Visit]:
    """Return a visit for each page that can't be read again though it should be."""
    read = {visit.target.page_id for visit in readings.visits}
    return [
        Visit(
            target=subject.target,
            at_ms=subject.target.fetched_at,
            outcome=Outcome.SKIPPED,
            reason=NOT_KEPT,
            requests=0,
        )
        for subject in readings.subjects
        if subject.target.page_id not in read
        and (subject.target.parser_version, subject.target.hash_version) != (run.parser_version, run.hash_version)
    ]
