"""One run's hold on the database: the store's lease, the run row, the claims, and the thread that saves."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from typing import Concatenate, ParamSpec, TypeVar

from sqlalchemy import Connection

from storebot.core import breaker
from storebot.core.gate import State
from storebot.core.proxy_pool import Rest
from storebot.core.rung import Rung
from storebot.db import breakers, leases, pages, promotion
from storebot.db.database import Database, now_ms
from storebot.db.judgement import Finding as Finding
from storebot.db.judgement import Standing as Standing
from storebot.db.retry import retrying
from storebot.db.saved import Saved as Saved
from storebot.db.saved import count
from storebot.db.saver import Saver
from storebot.db.session_claims import Claim as Claim
from storebot.db.session_claims import ClaimingSession
from storebot.db.session_closing import end, forget, save_tiers, settle
from storebot.db.session_opening import begin, value_anew
from storebot.db.session_options import SessionOptions as SessionOptions
from storebot.db.session_saving import refused, save, weight
from storebot.exceptions import StorebotError
from storebot.items import Outlay, Record

P = ParamSpec("P")
T = TypeVar("T")


class Session(ClaimingSession):
    """Made by `open`, which takes the lease; ended by `close`, which gives it back. Safe to use from any thread."""

    def __init__(self, database: Database, options: SessionOptions) -> None:
        super().__init__(database, options)
        self._saver: Saver[Record | Outlay, Saved] | None = None
        self._on_saved: Callable[[Sequence[Saved]], None] = _unheard

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
            retrying(session.database, partial(begin, session=session))
            if options.kind == "refresh":
                value_anew(session)
        except BaseException:
            session.database.dispose()
            raise
        session._on_saved = on_saved
        session._saver = Saver(
            session.database,
            partial(save, session.context, options.currencies, keep),
            max_rows=options.commit_rows,
            max_wait_s=options.commit_s,
            on_saved=session._committed,
            on_failed=on_failed,
            refused=refused,
            weight=weight,
        )
        return session

    @property
    def unsaved(self) -> int:
        """Records that wait for their commit; a page of a walk counts for more, by what it names and carries."""
        return self._thread.pending

    def submit(self, record: Record | Outlay) -> None:
        """Hand one record to the saving thread; it is written with the next group commit."""
        self._thread.submit(record)

    async def call(self, verb: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run one verb in a transaction of its own, after everything that was submitted before it."""
        return await asyncio.wrap_future(self._thread.call(partial(verb, **kwargs), *args))

    async def saved(self) -> None:
        """Wait until everything that was submitted before is committed."""
        await self.call(_nothing)

    def keep(self, conn: Connection, rungs: Sequence[Rung] = (), rests: Sequence[Rest] | None = None) -> None:
        """Extend the lease and the claims, and save what the run has learned of the tiers, and of its proxies where it
        has some. Raises `LeaseLost`."""
        options = self.options
        leases.extend(conn, options.store, self.token, options.lease_s)
        save_tiers(conn, self, rungs, rests)
        pages.extend_claims(conn, options.store, self.token, options.lease_s)

    def remember(self, conn: Connection) -> None:
        """Save what the run has learned by now."""
        self.learner.save(conn, now=True)

    def shut(self, conn: Connection, reason: str, chance: float, until_ms: int = 0) -> None:
        """Open the store's breaker: it says no. ``until_ms`` is when it wants to be asked again, if it says so."""
        leases.check(conn, self.options.store, self.token)
        self.breaker = breaker.opened(self.breaker, now_ms(conn), reason, chance=chance, asked_until_ms=until_ms)
        breakers.record(conn, self.options.store, self.breaker)

    def close_breaker(self, conn: Connection) -> None:
        """Close the store's breaker: the probe worked."""
        self.breaker = breaker.closed(self.breaker)
        breakers.record(conn, self.options.store, self.breaker)

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
            retrying(self.database, partial(settle, session=self, rungs=rungs, rests=rests))
        finally:
            try:
                retrying(self.database, partial(end, session=self, judge=judge))
                forget(self)
            finally:
                self.database.dispose()

    @property
    def _thread(self) -> Saver[Record | Outlay, Saved]:
        if self._saver is None:
            raise RuntimeError("a session is used before open() made it ready")
        return self._saver

    def _committed(self, saved: Sequence[Saved]) -> None:
        """Count what a commit brought, and publish what waited if the gate is open by it."""
        self.learner.committed()
        self.look_again(saved)
        self._on_saved(saved)
        run = self.context
        assert run.gate is not None
        count(run.gate, saved)
        if run.gate.waiting and run.gate.judge().state is State.OPEN:
            for published in promotion.promote(self.database, run, run.gate):
                self._on_saved(published)

    def _decide(self) -> None:
        run = self.context
        assert run.gate is not None
        for published in promotion.finish(self.database, run, run.gate):
            self._on_saved(published)


def _unheard(saved: Sequence[Saved]) -> None:
    """Tell nobody: before `open` names somebody."""


def _nothing(conn: Connection) -> None:
    """Do nothing: a call that returns when everything before it is committed."""
