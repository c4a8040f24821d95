"""One run's hold on the database: the store's lease, the run row, the claims, and the thread that saves."""

from __future__ import annotations

import asyncio
import logging
import secrets
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Concatenate, ParamSpec, TypeVar

from sqlalchemy import Connection

from storebot.core import breaker
from storebot.core.breaker import Breaker, State
from storebot.core.delist import Rules, is_trusted
from storebot.core.expect import MEASURED, Expected, missed
from storebot.core.gate import State as GateState
from storebot.core.gate_limits import Declared
from storebot.core.month import Month
from storebot.core.overrides import Override
from storebot.core.pacing import Pace
from storebot.core.planner import value
from storebot.core.planner.planned import PlannedRun
from storebot.core.planner.terms import Orders, Terms
from storebot.core.proxy_pool import Rest
from storebot.core.rung import Rung
from storebot.core.soft404 import known_strays
from storebot.db import (
    breakers,
    canonicals,
    delisting,
    expectations,
    following,
    holds,
    knowledge,
    leases,
    listings,
    pages,
    planned_runs,
    promotion,
    proxies,
    retention,
    robots,
    rounds,
    runs,
    spending,
    tiers,
    values,
    views,
    visits,
    walks,
)
from storebot.db.database import Database, now_ms
from storebot.db.holders import is_alive, this_process
from storebot.db.learning import Learner
from storebot.db.planned_claims import PlannedClaims
from storebot.db.retry import retrying
from storebot.db.saver import Saver
from storebot.exceptions import StorebotError
from storebot.items import CatalogPage, Expense, Outcome, Outlay, Record, Round, RunStatus, Target, Tier, Visit

logger = logging.getLogger(__name__)

P = ParamSpec("P")
T = TypeVar("T")
Saved = visits.Saved
Claim = Callable[[Connection], list[Target]]
_NAMES = 20  # pages that are named, with their addresses, take the memory of one that was read
_FORGOTTEN = 100_000  # visits at the end of one run, at most: some seconds
_ENDED_BY_ITSELF = (RunStatus.COMPLETE, RunStatus.PARTIAL, RunStatus.HELD)


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
    expect: Expected = field(default_factory=Expected)  # what the run's row is marked for, if it misses it
    keep_visits_ms: int = 0  # 0: for ever
    currency: str = ""  # of the store's prices
    currencies: Mapping[Tier, str] = field(default_factory=dict)  # the same for each tier that is priced
    overrides: tuple[Override, ...] = ()  # for the run's row
    force: str = ""  # "who: why", to ask a store whose breaker is open
    orders: Orders = field(default_factory=Orders)  # of a refresh: by which budget it chooses
    heads: int = 0  # how many catalogue pages each refresh reads


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
    missed: tuple[str, ...] = ()  # what was expected of the run and isn't so, a sentence each
    used: tiers.Used = field(default_factory=tiers.Used)


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
        self.pages_read = 0  # that have a record
        self.latency_ms = 0  # of an answer to the last run; 0 where it isn't known
        self.breaker = Breaker()
        self.overrides: tuple[Override, ...] = ()
        self.probes = False  # whether one request has to work before any other is sent
        self.pace = Pace()  # how slowly the last run had to ask
        self.robots: dict[str, str] = {}  # as it was read last, by origin
        self.rungs: tuple[Rung, ...] = ()  # what earlier runs learned of the store's tiers
        self.rests: tuple[Rest, ...] = ()  # and which of its proxies the store had blocked
        self.strays: frozenset[str] = frozenset()  # for core.soft404
        self.spent_in_month = Expense()  # by all runs of the month in which this one began, before it
        self.spared_ms = 0  # so much longer a page isn't due: a budget is running out
        self.terms: Terms | None = None  # None: the run isn't limited, and visits what is due
        self.views: list[tuple[int, str]] = []  # catalogue pages that the plan wants to see: id and address
        self.left: Callable[[], int] = _without_end  # how many pages may still be asked for
        self._claims: PlannedClaims | None = None
        self._learner: Learner | None = None
        self._delisted = 0  # events
        self._ahead_ms = 0
        self._withheld: dict[str, str] = {}  # for claim_due, as long as a feed is the one to say what is due
        self._saver: Saver[Record | Outlay, Saved] | None = None
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
        Raises `StoreBusy` when another run has the store, `BreakerOpen` when it's left alone, and what `Database.open`
        raises. The callbacks run on the saver's thread.
        """
        session = cls(Database.open(url, require_absolute=require_absolute), options)
        try:
            retrying(session.database, session._begin)
            if options.kind == "refresh":
                session._value_anew()
        except BaseException:
            session.database.dispose()
            raise
        session._on_saved = on_saved
        session._saver = Saver(
            session.database,
            partial(_save, session._context, options.currencies, keep),
            max_rows=options.commit_rows,
            max_wait_s=options.commit_s,
            on_saved=session._committed,
            on_failed=on_failed,
            refused=_refused,
            weight=_weight,
        )
        return session

    @property
    def unsaved(self) -> int:
        """Records that wait for their commit; a page of a walk counts for more, by what it names and carries."""
        return self._thread.pending

    def now_ms(self) -> int:
        """Return the time as the database has it: a page's next time must not depend on this machine's clock."""
        return int(time.time() * 1000) + self._ahead_ms

    def submit(self, record: Record | Outlay) -> None:
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
        return self._claim(pages.claim_pending, conn, self.options.claim_batch, due_before=self.started_ms + again_ms)

    def claim_due(self, conn: Connection) -> list[Target]:
        """Claim pages that were never read, and when there is none, pages that were due when the run began.

        With a plan: its pages, in its order.
        """
        if self._claims is not None:
            return self._claims.claim(conn)
        return self.claim_pending(conn) or self._claim(
            pages.claim_due, conn, self.options.claim_batch, due_before=self.started_ms - self.spared_ms
        )

    def _claim(self, verb: Callable[..., list[Target]], conn: Connection, what: object, **more: Any) -> list[Target]:
        options = self.options
        withheld = self._withheld if verb is not pages.claim_pending else {}
        return verb(
            conn,
            options.store,
            self.token,
            what,
            options.lease_s,
            parser_version=options.parser_version,
            hash_version=options.hash_version,
            validators=self.learner.may_ask_conditionally(self.now_ms()),
            **withheld,
            **more,
        )

    # --- the plan ---------------------------------------------------------------------------------------------------

    @property
    def learner(self) -> Learner:
        """What the run learns of the store; it belongs to the saving thread."""
        if self._learner is None:
            raise RuntimeError("a session is used before open() made it ready")
        return self._learner

    @property
    def is_planned(self) -> bool:
        """Whether the run goes by a plan, which is made when its discovery has ended."""
        return self.terms is not None or (self.options.kind == "refresh" and self.options.orders.full)

    def remember(self, conn: Connection) -> None:
        """Save what the run has learned by now."""
        self.learner.save(conn, now=True)

    def draw_up(self, requests: int) -> PlannedRun:
        """Make the run's plan, with so many requests, from what is saved. It reads only, for some seconds."""
        from storebot.db.planning import make_plan  # and numpy, which a run without a plan need not wait for

        store, terms = self.options.store, self.terms
        with self.database.explaining(), self.database.read() as conn:
            seen = views.looked_since(conn, store, self.started_ms)
            make = partial(make_plan, conn, store, requests, now_ms=self.now_ms(), seed=self.run_id, seen=seen)
            return make(sweep=terms.sweep, every_h=terms.every_h) if terms else make(full=True)

    def follow(self, conn: Connection, plan: PlannedRun, discovery: int) -> None:
        """Claim by a plan from now on, and keep it with the run; ``discovery`` are the requests that were spent."""
        options, learner, terms = self.options, self.learner, self.terms
        learner.memory.knowledge.threshold, learner.memory.sweep_after = plan.threshold, plan.sweep_after
        following.date_anew(conn, plan.due_anew)
        if terms is not None:
            following.note(conn, self.run_id, plan, terms, options.orders, discovery)
        self.views = following.addresses(conn, plan.views)
        learner.flagged.clear()
        learner.save(conn, now=True)
        self._claims = PlannedClaims(
            plan,
            self._claim,
            flagged=learner.flagged,
            started_ms=self.started_ms,
            planned_ms=self.now_ms(),
            batch=options.claim_batch,
            left=lambda: self.left(),
        )
        lanes = ", ".join(f"{len(ids)} {lane.value}" for lane, ids in plan.lanes.items())
        logger.info("%s: the plan: %s, %d catalogue pages", options.store, lanes or "no page", len(self.views))

    def _value_anew(self) -> None:
        """Give the pages their value by the store file's rules where these are other ones than before."""
        rules, memory = self.options.orders.rules, self.learner.memory
        if memory.values_by != (digest := value.digest(rules)):
            values.value_anew(self.database, self.options.store, rules)
            memory.values_by = digest

    def shut(self, conn: Connection, reason: str, chance: float, until_ms: int = 0) -> None:
        """Open the store's breaker: it says no. ``until_ms`` is when it wants to be asked again, if it says so."""
        leases.check(conn, self.options.store, self.token)
        self.breaker = breaker.opened(self.breaker, now_ms(conn), reason, chance=chance, asked_until_ms=until_ms)
        breakers.record(conn, self.options.store, self.breaker)

    def close_breaker(self, conn: Connection) -> None:
        """Close the store's breaker: the probe worked."""
        self.breaker = breaker.closed(self.breaker)
        breakers.record(conn, self.options.store, self.breaker)

    def keep(self, conn: Connection, rungs: Sequence[Rung] = (), rests: Sequence[Rest] | None = None) -> None:
        """Extend the lease and the claims, and save what the run has learned of the tiers, and of its proxies where it
        has some. Raises `LeaseLost`."""
        options = self.options
        leases.extend(conn, options.store, self.token, options.lease_s)
        self._save_learned(conn, rungs, rests)
        pages.extend_claims(conn, options.store, self.token, options.lease_s)

    def close(
        self,
        judge: Callable[[Standing], Finding],
        *,
        whole: bool = True,
        rungs: Sequence[Rung] = (),
        rests: Sequence[Rest] | None = None,
    ) -> None:
        """Save what is left, decide on what waits in the write gate, settle what pages say of their true address, give
        back what was claimed, write the run row as ``judge`` finds, and release the lease.

        What a run that isn't ``whole`` (it was stopped) leaves waiting the next run goes on with. Raises the failure
        that ended saving; the run row is written, and the lease released, nevertheless.
        """
        try:
            self._thread.close()
            if whole:
                self._decide()
            retrying(self.database, partial(self._settle, rungs=rungs, rests=rests))
        finally:
            try:
                retrying(self.database, partial(self._end, judge=judge))
                self._forget()
            finally:
                self.database.dispose()

    @property
    def _thread(self) -> Saver[Record | Outlay, Saved]:
        if self._saver is None:
            raise RuntimeError("a session is used before open() made it ready")
        return self._saver

    def _begin(self, conn: Connection) -> None:
        options = self.options
        leases.take(conn, options.store, self.token, this_process(), options.lease_s, is_alive)
        self.breaker, forced = breakers.ask(conn, options.store, options.kind, options.force)
        self.overrides = (*options.overrides, *forced)
        self.probes = self.breaker.state is State.HALF_OPEN
        runs.mark_interrupted(conn, options.store)
        pages.release(conn, options.store, keep_token=self.token)
        self.latency_ms = runs.last_latency_ms(conn, options.store)
        self.run_id = runs.start(
            conn,
            options.store,
            options.kind,
            parser_version=options.parser_version,
            hash_version=options.hash_version,
            overrides=self.overrides,
        )
        leases.note_run(conn, options.store, self.token, self.run_id)
        self.started_ms = now_ms(conn)
        self.origin = runs.first_started(conn, options.store)
        self._ahead_ms = self.started_ms - int(time.time() * 1000)
        self.pages_read = pages.read_count(conn, options.store)
        self.strays = known_strays(pages.strays(conn, options.store), self.pages_read)
        self.pace = breakers.pace(conn, options.store, self.started_ms)
        self.robots = robots.texts(conn, options.store)
        self.rungs = tiers.load(conn, options.store)
        self.rests = proxies.load(conn, options.store)
        month = Month.at(self.started_ms).days
        self.spent_in_month = spending.spent_on(conn, options.store, month, options.currency)
        if options.kind == "refresh":
            self.terms = planned_runs.terms_of(conn, options.store, options.orders, self.started_ms, options.heads)
            if self.terms is None:
                following.take_back(conn, options.store, self.run_id, options.revisit_after_ms)
            self.due = pages.due_count(conn, options.store, self.started_ms)
        memory = knowledge.load(conn, options.store, self.started_ms)
        self._learner = Learner(options.store, memory, planned=self.terms is not None, rules=options.orders.rules)
        run = self._new_context()
        gate = promotion.open_gate(conn, run, options.gate, self.started_ms)
        self._run = replace(run, gate=gate)

    def _committed(self, saved: Sequence[Saved]) -> None:
        """Count what a commit brought, and publish what waited if the gate is open by it."""
        self.learner.committed()
        if self._claims is not None:
            for one in saved:
                if one.outcome is Outcome.HELD and isinstance(one.record, Visit):
                    self._claims.look_again(one.record.target.page_id)
        self._on_saved(saved)
        run = self._context
        assert run.gate is not None
        visits.count(run.gate, saved)
        if run.gate.waiting and run.gate.judge().state is GateState.OPEN:
            for published in promotion.promote(self.database, run, run.gate):
                self._on_saved(published)

    def _decide(self) -> None:
        run = self._context
        assert run.gate is not None
        for published in promotion.finish(self.database, run, run.gate):
            self._on_saved(published)

    def _save_learned(self, conn: Connection, rungs: Sequence[Rung], rests: Sequence[Rest] | None) -> None:
        tiers.save(conn, self.options.store, rungs)
        if rests is not None:
            proxies.save(conn, self.options.store, rests)

    def _settle(self, conn: Connection, rungs: Sequence[Rung], rests: Sequence[Rest] | None) -> None:
        leases.check(conn, self.options.store, self.token)
        self._save_learned(conn, rungs, rests)
        canonicals.settle(conn, self.options.store, now_ms(conn))
        with self.learner.attempt(conn):
            self.learner.learn_means(conn, now_ms(conn))
            self.learner.save(conn, now=True)
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
        way = "planned" if self.is_planned else kind
        expect = self.options.expect
        measured = expectations.measure(
            conn, store, now_ms=now_ms(conn), started_ms=self.started_ms, max_age_ms=expect.max_age_ms
        )
        misses = missed(expect, measured, expectations.past(conn, store, kind, self.run_id) if expect.learned else ())
        finding = judge(
            Standing(
                listings_known=sold,
                outcomes=outcomes,
                pages_known=known,
                pages_read=pages.read_count(conn, store),
                pages_left=pages.left(conn, store, way, self.started_ms, self.started_ms - self.spared_ms),
                pages_waiting=pages.waiting(conn, store, self.started_ms, self.options.error_backoff_ms),
                rows_written=totals.rows_written,
                change_events=totals.change_events + self._delisted,
                held=sum(count for _, _, count in held),
                held_why=held[0][1] if held else "",
                missed=misses,
                used=tiers.used(conn, [self.run_id]).get(self.run_id, tiers.Used()),
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
            measured=measured if finding.status in MEASURED else None,
            missed=misses if finding.status in MEASURED else (),
        )
        self._end_rounds(conn, finding.rounds)
        calm = finding.status in _ENDED_BY_ITSELF and any(outcomes.get(outcome) for outcome in Outcome if outcome.seen)
        breakers.record_end(conn, store, self.token, self.pace, calm=calm)
        if kind == "backfill" and finding.status is RunStatus.COMPLETE:
            walks.close_walks(conn, store)
        leases.release(conn, store, self.token)

    def _forget(self) -> None:
        """Let go of visits that are older than they have to be kept."""
        if keep_ms := self.options.keep_visits_ms:
            gone = retention.forget(self.database, self.options.store, self.now_ms() - keep_ms, most=_FORGOTTEN)
            logger.log(
                logging.INFO if gone else logging.DEBUG, "%s: %d old visits were forgotten", self.options.store, gone
            )

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
            learner=self._learner,
        )


def _without_end() -> int:
    """Return how many pages may be asked for where nothing limits them."""
    return sys.maxsize


def _unheard(saved: Sequence[Saved]) -> None:
    """Tell nobody: before `open` names somebody."""


def _nothing(conn: Connection) -> None:
    """Do nothing: a call that returns when everything before it is committed."""


def _weight(record: Record | Outlay) -> int:
    """Return for how many records one counts while it waits: what a sitemap names is in memory as long as it does."""
    return 1 + len(record.found) // _NAMES + len(record.visits) if isinstance(record, CatalogPage) else 1


def _refused(record: Record | Outlay, error: Exception) -> Record | None:
    return None if isinstance(record, Outlay) else visits.refused(record, error)


def _save(
    context: visits.RunContext,
    currencies: Mapping[Tier, str],
    keep: Callable[[Sequence[Saved]], None] | None,
    conn: Connection,
    records: Sequence[Record | Outlay],
) -> Sequence[Saved]:
    saved = visits.save(conn, context, [record for record in records if not isinstance(record, Outlay)])
    spending.add(conn, context.store, currencies, records)
    if keep is not None:  # before the commit: no record may stand without the page that it was read from
        keep(saved)
    return saved
