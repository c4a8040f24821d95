"""One run's hold on the database: the store's lease, the run row, the claims, and the thread that saves."""

from __future__ import annotations

import asyncio
import logging
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Concatenate, ParamSpec, TypeVar

from sqlalchemy import Connection

from storebot.core.delist import Rules, is_trusted
from storebot.core.gate import State
from storebot.core.gate_limits import Declared
from storebot.core.soft404 import known_strays
from storebot.db import canonicals, delisting, holds, leases, listings, pages, promotion, rounds, runs, visits, walks
from storebot.db.database import Database, now_ms
from storebot.db.holders import is_alive, this_process
from storebot.db.retry import retrying
from storebot.db.saver import Saver
from storebot.exceptions import StorebotError
from storebot.items import Outcome, Record, Round, RunStatus, Target

logger = logging.getLogger(__name__)

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
    gate: Declared = field(default_factory=Declared)  # what the store file says of its write gate
    delist: Rules = field(default_factory=Rules)


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """How things stand when the last record is saved: what a run is judged by."""

    outcomes: Mapping[Outcome, int]
    pages_known: int = 0
    pages_read: int = 0  # have a record
    pages_left: int = 0  # could be claimed, and weren't visited
    listings_known: int = 0
    pages_waiting: int = 0  # an earlier run couldn't observe them, and their next try isn't due
    rows_written: int = 0
    change_events: int = 0
    held: int = 0  # pages whose change the write gate holds
    held_why: str = ""  # the sentence of the gate that holds most of them


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
    rounds: Mapping[Round, str] = field(default_factory=dict)  # each with the reason why it isn't whole


class Session:
    """Made by `open`, which takes the lease; ended by `close`, which gives it back. Safe to use from any thread."""

    def __init__(self, database: Database, options: SessionOptions) -> None:
        self.database, self.options = database, options
        self.token = secrets.token_hex(16)
        self.run_id = 0
        self.started_ms = 0  # by the database's clock
        self.origin = 0  # which database this is: the start of the store's first run in it
        self.due = 0  # pages that were due when the run began
        self.strays: frozenset[str] = frozenset()  # for core.soft404
        self._delisted = 0  # events
        self._ahead_ms = 0
        self._withheld: dict[str, str] = {}  # for claim_due, as long as a feed is the one to say what is due
        self._saver: Saver[Record, Saved] | None = None
        self._on_saved: Callable[[Sequence[Saved]], None] = _unheard
        self._run: visits.RunContext | None = None

    @classmethod
    def open(
        cls,
        url: str,
        options: SessionOptions,
        *,
        on_saved: Callable[[Sequence[Saved]], None],
        on_failed: Callable[[StorebotError], None],
        require_absolute: bool = False,
        keep: Callable[[Sequence[Saved]], None] | None = None,
    ) -> Session:
        """Take the store's lease, close what dead runs left open, and start a run.

        ``keep`` is called before a commit with what it makes of the records; raises it, nothing is committed.
        Raises `StoreBusy` when another run has the store, and what `Database.open` raises. The callbacks run on the
        saver's thread.
        """
        session = cls(Database.open(url, require_absolute=require_absolute), options)
        try:
            retrying(session.database, session._begin)
        except BaseException:
            session.database.dispose()
            raise
        session._on_saved = on_saved
        session._saver = Saver(
            session.database,
            partial(_save, session._context, keep),
            max_rows=options.commit_rows,
            max_wait_s=options.commit_s,
            on_saved=session._committed,
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

    async def saved(self) -> None:
        """Wait until everything that was submitted before is committed."""
        await self.call(_nothing)

    def withhold(self, source: str) -> None:
        """Let nobody claim the pages whose record a feed carried: it couldn't be read, and they wait for it."""
        self._withheld = {"withheld": visits.carried_version(self.options.parser_version, source)}

    def claim_pending(self, conn: Connection) -> list[Target]:
        """Claim pages that were never read. A backfill takes those that failed in an earlier run whenever it's started:
        somebody asked for it again. A refresh, which a clock starts, leaves them their back-off."""
        again_ms = max(self.options.error_backoff_ms - 1, 0) if self.options.kind == "backfill" else 0
        return self._claim(pages.claim_pending, conn, due_before=self.started_ms + again_ms)

    def claim_due(self, conn: Connection) -> list[Target]:
        """Claim pages that were never read, and when there is none, pages that were due when the run began."""
        return self.claim_pending(conn) or self._claim(
            pages.claim_due, conn, due_before=self.started_ms, **self._withheld
        )

    def _claim(
        self, verb: Callable[..., list[Target]], conn: Connection, due_before: int, **withheld: str
    ) -> list[Target]:
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
            **withheld,
        )

    def keep(self, conn: Connection) -> None:
        """Extend the lease and the claims. Raises `LeaseLost`."""
        options = self.options
        leases.extend(conn, options.store, self.token, options.lease_s)
        pages.extend_claims(conn, options.store, self.token, options.lease_s)

    def close(self, judge: Callable[[Standing], Finding], *, whole: bool = True) -> None:
        """Save what is left, decide on what waits in the write gate, settle what pages say of their true address, give
        back what was claimed, write the run row as ``judge`` finds, and release the lease.

        What a run that isn't ``whole`` (it was stopped) leaves waiting the next run goes on with. Raises the failure
        that ended saving; the run row is written, and the lease released, nevertheless.
        """
        try:
            self._thread.close()
            if whole:
                self._decide()
            retrying(self.database, self._settle)
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
        self.origin = runs.first_started(conn, options.store)
        self._ahead_ms = self.started_ms - int(time.time() * 1000)
        self.strays = known_strays(pages.strays(conn, options.store), pages.read_count(conn, options.store))
        if options.kind == "refresh":
            self.due = pages.due_count(conn, options.store, self.started_ms)
        run = self._new_context()
        gate = promotion.open_gate(conn, run, options.gate, self.started_ms)
        self._run = replace(run, gate=gate)

    def _committed(self, saved: Sequence[Saved]) -> None:
        """Count what a commit brought, and publish what waited if the gate is open by it."""
        self._on_saved(saved)
        run = self._context
        assert run.gate is not None
        visits.count(run.gate, saved)
        if run.gate.waiting and run.gate.judge().state is State.OPEN:
            for published in promotion.promote(self.database, run, run.gate):
                self._on_saved(published)

    def _decide(self) -> None:
        run = self._context
        assert run.gate is not None
        for published in promotion.finish(self.database, run, run.gate):
            self._on_saved(published)

    def _settle(self, conn: Connection) -> None:
        leases.check(conn, self.options.store, self.token)
        canonicals.settle(conn, self.options.store, now_ms(conn))
        outcomes = runs.tally(conn, self.run_id)
        if outcomes.get(Outcome.MISSING) and is_trusted(outcomes) and not holds.held_by(conn, self.run_id):
            self._delisted = delisting.confirm(conn, self.options.store, self.run_id, self.options.delist, now_ms(conn))

    def _end(self, conn: Connection, judge: Callable[[Standing], Finding]) -> None:
        store, kind = self.options.store, self.options.kind
        pages.release(conn, store, token=self.token)
        totals = runs.totals(conn, self.run_id)
        outcomes = totals.outcomes
        held = holds.held_by(conn, self.run_id)
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
                rows_written=totals.rows_written,
                change_events=totals.change_events + self._delisted,
                held=sum(count for _, _, count in held),
                held_why=held[0][1] if held else "",
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
        self._end_rounds(conn, finding.rounds)
        if kind == "backfill" and finding.status is RunStatus.COMPLETE:
            walks.close_walks(conn, store)
        leases.release(conn, store, self.token)

    def _end_rounds(self, conn: Connection, judged: Mapping[Round, str]) -> None:
        """End the rounds that the run began, and find the pages that aren't named any more."""
        if self._run is None or self._run.gate is None or not rounds.end(conn, judged):
            return
        store, share = self.options.store, self._run.gate.limits.missing
        unnamed = rounds.miss(conn, store, self.options.delist.confirmations, share)
        if unnamed.found:
            tail = (
                "their own addresses are asked" if unnamed.believed else "too many to believe it: they are only asked"
            )
            logger.warning("%s: %d pages are named by nothing any more; %s", store, unnamed.found, tail)

    @property
    def _context(self) -> visits.RunContext:
        if self._run is None:
            raise RuntimeError("a session is used before open() made it ready")
        return self._run

    def _new_context(self) -> visits.RunContext:
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


def _unheard(saved: Sequence[Saved]) -> None:
    """Tell nobody: before `open` names somebody."""


def _nothing(conn: Connection) -> None:
    """Do nothing: a call that returns when everything before it is committed."""


def _save(
    context: visits.RunContext,
    keep: Callable[[Sequence[Saved]], None] | None,
    conn: Connection,
    records: Sequence[Record],
) -> Sequence[Saved]:
    saved = visits.save(conn, context, records)
    if keep is not None:  # before the commit: no record may stand without the page that it was read from
        keep(saved)
    return saved
