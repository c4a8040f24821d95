"""One run's hold on the database: the store's lease, the run row, the claims, and the thread that saves."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Concatenate, ParamSpec, TypeVar

from sqlalchemy import Connection

from storebot.db import leases, listings, pages, runs, visits, walks
from storebot.db.database import Database, now_ms
from storebot.db.holders import is_alive, this_process
from storebot.db.retry import retrying
from storebot.db.saver import Saver
from storebot.exceptions import StorebotError
from storebot.items import Outcome, Record, RunStatus, Target

P = ParamSpec("P")
T = TypeVar("T")
Saved = visits.Saved
Claim = Callable[[Connection], list[Target]]


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionOptions:
    """What a session is for, and its pace."""

    store: str
    kind: str  # backfill | refresh
    parser_version: str
    hash_version: int
    lease_s: int  # how long lease and claims outlive a silent process
    claim_batch: int
    commit_rows: int
    commit_s: float
    revisit_after_ms: int
    error_backoff_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """How things stand when the last record is saved: what a run is judged by."""

    outcomes: Mapping[Outcome, int]
    pages_known: int = 0
    pages_read: int = 0  # have a record
    pages_left: int = 0  # could be claimed, and weren't visited
    listings_known: int = 0
    pages_waiting: int = 0  # an earlier run couldn't observe them, and their next try isn't due


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What a run was judged to be, for its row."""

    status: RunStatus
    reason: str
    requests: int
    size_bytes: int
    rows_written: int
    rows_skipped: int
    change_events: int


class Session:
    """Made by `open`, which takes the lease; ended by `close`, which gives it back. Safe to use from any thread."""

    def __init__(self, database: Database, options: SessionOptions) -> None:
        self.database, self.options = database, options
        self.token = secrets.token_hex(16)
        self.run_id = 0
        self.started_ms = 0  # by the database's clock
        self.due = 0  # pages that were due when the run began
        self._ahead_ms = 0
        self._saver: Saver[Record, Saved] | None = None

    @classmethod
    def open(
        cls,
        url: str,
        options: SessionOptions,
        *,
        on_saved: Callable[[Sequence[Saved]], None],
        on_failed: Callable[[StorebotError], None],
        require_absolute: bool = False,
    ) -> Session:
        """Take the store's lease, close what dead runs left open, and start a run.

        Raises `StoreBusy` when another run has the store, and what `Database.open` raises. The callbacks run on the
        saver's thread.
        """
        session = cls(Database.open(url, require_absolute=require_absolute), options)
        try:
            retrying(session.database, session._begin)
        except BaseException:
            session.database.dispose()
            raise
        session._saver = Saver(
            session.database,
            partial(_save, session._context()),
            max_rows=options.commit_rows,
            max_wait_s=options.commit_s,
            on_saved=on_saved,
            on_failed=on_failed,
            refused=visits.refused,
        )
        return session

    @property
    def unsaved(self) -> int:
        """Records that wait for their commit."""
        return self._thread.pending

    def now_ms(self) -> int:
        """Return the time as the database has it: a page's next time must not depend on this machine's clock."""
        return int(time.time() * 1000) + self._ahead_ms

    def submit(self, record: Record) -> None:
        """Hand one record to the saving thread; it is written with the next group commit."""
        self._thread.submit(record)

    async def call(self, verb: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run one verb in a transaction of its own, after everything that was submitted before it."""
        return await asyncio.wrap_future(self._thread.call(partial(verb, **kwargs), *args))

    def claim_pending(self, conn: Connection) -> list[Target]:
        """Claim pages that were never read. A backfill takes those that failed in an earlier run whenever it's started:
        somebody asked for it again. A refresh, which a clock starts, leaves them their back-off."""
        again_ms = max(self.options.error_backoff_ms - 1, 0) if self.options.kind == "backfill" else 0
        return self._claim(pages.claim_pending, conn, due_before=self.started_ms + again_ms)

    def claim_due(self, conn: Connection) -> list[Target]:
        """Claim pages that were never read, and when there is none, pages that were due when the run began."""
        return self.claim_pending(conn) or self._claim(pages.claim_due, conn, due_before=self.started_ms)

    def _claim(self, verb: Callable[..., list[Target]], conn: Connection, due_before: int) -> list[Target]:
        options = self.options
        return verb(
            conn,
            options.store,
            self.token,
            options.claim_batch,
            options.lease_s,
            due_before,
            parser_version=options.parser_version,
            hash_version=options.hash_version,
        )

    def keep(self, conn: Connection) -> None:
        """Extend the lease and the claims. Raises `LeaseLost`."""
        options = self.options
        leases.extend(conn, options.store, self.token, options.lease_s)
        pages.extend_claims(conn, options.store, self.token, options.lease_s)

    def close(self, judge: Callable[[Standing], Finding]) -> None:
        """Save what is left, give back what was claimed, write the run row as ``judge`` finds, and release the lease.

        Raises the failure that ended saving; the run row is written, and the lease released, nevertheless.
        """
        try:
            self._thread.close()
        finally:
            try:
                retrying(self.database, partial(self._end, judge=judge))
            finally:
                self.database.dispose()

    @property
    def _thread(self) -> Saver[Record, Saved]:
        if self._saver is None:
            raise RuntimeError("a session is used before open() made it ready")
        return self._saver

    def _begin(self, conn: Connection) -> None:
        options = self.options
        leases.take(conn, options.store, self.token, this_process(), options.lease_s, is_alive)
        runs.mark_interrupted(conn, options.store)
        pages.release(conn, options.store, keep_token=self.token)
        self.run_id = runs.start(
            conn, options.store, options.kind, parser_version=options.parser_version, hash_version=options.hash_version
        )
        leases.note_run(conn, options.store, self.token, self.run_id)
        self.started_ms = now_ms(conn)
        self._ahead_ms = self.started_ms - int(time.time() * 1000)
        if options.kind == "refresh":
            self.due = pages.due_count(conn, options.store, self.started_ms)

    def _end(self, conn: Connection, judge: Callable[[Standing], Finding]) -> None:
        store, kind = self.options.store, self.options.kind
        pages.release(conn, store, token=self.token)
        outcomes = runs.tally(conn, self.run_id)
        known = sum(pages.counts(conn, store).values())
        sold = listings.count(conn, store)
        finding = judge(
            Standing(
                listings_known=sold,
                outcomes=outcomes,
                pages_known=known,
                pages_read=pages.read_count(conn, store),
                pages_left=pages.left(conn, store, kind, self.started_ms),
                pages_waiting=pages.waiting(conn, store, self.started_ms, self.options.error_backoff_ms),
            )
        )
        runs.finish(
            conn,
            self.run_id,
            finding.status,
            finding.reason,
            outcomes=outcomes,
            requests=finding.requests,
            size_bytes=finding.size_bytes,
            rows_written=finding.rows_written,
            rows_skipped=finding.rows_skipped,
            change_events=finding.change_events,
            pages_known=known,
            listings_known=sold,
        )
        if kind == "backfill" and finding.status is RunStatus.COMPLETE:
            walks.close_walks(conn, store)
        leases.release(conn, store, self.token)

    def _context(self) -> visits.RunContext:
        options = self.options
        return visits.RunContext(
            run_id=self.run_id,
            store=options.store,
            lease_token=self.token,
            kind=options.kind,
            announce_new=options.kind != "backfill",
            revisit_after_ms=options.revisit_after_ms,
            error_backoff_ms=options.error_backoff_ms,
            parser_version=options.parser_version,
            hash_version=options.hash_version,
        )


def _save(context: visits.RunContext, conn: Connection, records: Sequence[Record]) -> Sequence[Saved]:
    return visits.save(conn, context, records)
