"""A store's records read again from its kept pages: parse in all processes, compare, judge and save in this one.

Nothing is written before all is judged: docs/decisions/0045-gate-of-a-re-parse.md.
"""

from __future__ import annotations

import secrets
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from types import FrameType

from storebot.core.fingerprint import HASH_VERSION
from storebot.core.gate import Reading, State, Verdict
from storebot.core.gate_correction import tripped
from storebot.core.overrides import Override
from storebot.core.summary import Summary
from storebot.db import corrections, reparsing
from storebot.db.context import RunContext
from storebot.db.corrections import Corrected
from storebot.db.database import Database
from storebot.db.gating import Gate
from storebot.db.reparsing import Selection, Subject
from storebot.db.retry import retrying
from storebot.exceptions import StorebotError
from storebot.items import RunStatus
from storebot.reparse.aside import Aside, unpacked
from storebot.reparse.differences import Differences
from storebot.reparse.ending import End, judged
from storebot.reparse.workers import Workers
from storebot.stores.model import Store

_TICK_S = 1.0  # between two looks at signals and the lease, where pages take long
CHUNK = 25  # pages to a chunk: read in some hundredths of a second, saved in one transaction
_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_ACCEPTS = "what the write gate would hold is published"


@dataclass(slots=True, kw_only=True)
class Reparse:
    """One run. ``shown`` is told of pages done and pages in all, now and then.

    With ``accepted``, as "who: why", what the write gate would hold is published, and the run's row says by whom.
    """

    database: Database
    store: Store
    workers: Workers
    lease_s: int
    since_ms: int = 0
    dry_run: bool = False
    announce: bool = False
    accepted: str = ""
    shown: Callable[[int, int], None] = lambda done, total: None
    found: Differences = field(default_factory=Differences)
    verdict: Verdict | None = None
    _gate: Gate | None = None
    _pages: int = 0
    _saving: bool = False
    _signal: int = 0
    _started: float = field(default_factory=time.monotonic)
    _extended: float = 0.0

    def run(self) -> Summary:
        """Read everything again, and save what differs unless the write gate holds it; return how it ended.

        A run that is killed while it saves loses the chunk under way, and the next one begins with the pages that
        aren't by today's parser yet. Raises what the database raises, `StoreBusy`, and `StorebotError` where a process
        died.
        """
        wanted = Selection(
            store=self.store.name,
            version=self.store.parser_version,
            hash_version=HASH_VERSION,
            since_ms=self.since_ms,
        )
        if self.dry_run:
            self._read(wanted, reparsing.context(wanted), None)
            return self._summary(0)
        return self._as_a_run(wanted)

    @property
    def tripped(self) -> list[Reading]:
        """The gates that say no; none before all is read."""
        return tripped(self._gate.tally, self._gate.limits) if self._gate and self.verdict else []

    def _as_a_run(self, wanted: Selection) -> Summary:
        who, _, why = self.accepted.partition(":")
        overrides = [Override(_ACCEPTS, who.strip(), why.strip())] if self.accepted else []
        run = retrying(
            self.database,
            lambda conn: reparsing.begin(conn, wanted, secrets.token_hex(16), self.lease_s, overrides),
        )
        self._extended = time.monotonic()
        status, reason = RunStatus.FAILED, "it ended by an error"
        try:
            with self._noting_signals(), closing(Aside()) as aside:
                self._read(wanted, run, aside)
                if self.verdict and (self.verdict.state is not State.TRIP or self.accepted):
                    self._save(run, aside)
            summary = self._summary(run.run_id)
            status, reason = summary.status, summary.reason
            return summary
        except StorebotError as error:
            reason = str(error)
            raise
        finally:
            gate = self._gate if self.verdict else None
            retrying(self.database, lambda conn: reparsing.finish(conn, run, status, reason, gate))

    def _read(self, wanted: Selection, run: RunContext, aside: Aside | None) -> None:
        """Read all pages, compare them and put them aside; judge what differs as a whole. A signal ends it without."""
        with self.database.read() as conn:
            ids = reparsing.subject_ids(conn, wanted)
        self._pages, done = len(ids), 0
        self._gate = gate = reparsing.gate(self.store.gate.declared, len(ids))
        try:
            for readings in self.workers.read(self._chunks(wanted, ids), every_s=_TICK_S):
                if readings is not None:
                    with self.database.read() as conn:
                        compared = corrections.compare(conn, run, unpacked(readings.visits))
                    self.found.add(compared)
                    gate.count((one.outcome, one.facts) for one in compared)
                    if aside is not None:
                        aside.put(readings.visits)
                    done += readings.pages
                self._extend(run)
                self.shown(done, len(ids))
                if self._signal:
                    break
        except BrokenProcessPool as error:
            if not self._signal:  # whoever stops a service may signal each of its processes
                raise StorebotError(
                    f"{self.store.name}: a process that read kept pages died, by one of the pages or for want of "
                    f"memory; nothing was written: run it again, with --workers 1 if it happens again ({error})"
                ) from error
        if self._signal:
            self.found = Differences()
        else:
            self.verdict = gate.judge(final=True)

    def _chunks(self, wanted: Selection, ids: Sequence[int]) -> Iterator[Sequence[Subject]]:
        for start in range(0, len(ids), CHUNK):
            with self.database.read() as conn:
                chunk = reparsing.subjects(conn, wanted, ids[start : start + CHUNK])
            yield chunk

    def _save(self, run: RunContext, aside: Aside) -> None:
        """Save what was put aside; what is `found` is from now on what was saved."""
        self._saving, self.found = True, Differences()
        for chunk in aside.chunks():
            self.found.add(self._saved(run, chunk))
            self._extend(run)
            if self._signal:
                return

    def _saved(self, run: RunContext, chunk: bytes) -> list[Corrected]:
        visits = unpacked(chunk)
        return retrying(self.database, lambda conn: corrections.correct(conn, run, visits, announce=self.announce))

    def _extend(self, run: RunContext) -> None:
        if not self.dry_run and time.monotonic() - self._extended > self.lease_s / 3:
            retrying(self.database, lambda conn: reparsing.extend(conn, run, self.lease_s))
            self._extended = time.monotonic()

    @contextmanager
    def _noting_signals(self) -> Iterator[None]:
        """Have SIGINT and SIGTERM end the run when the chunk under way is done; a second one ends it at once."""
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
        status, reason, code = judged(
            End(
                store=self.store.name,
                pages=self._pages,
                found=self.found,
                since_ms=self.since_ms,
                signal=self._signal,
                saving=self._saving,
                verdict=self.verdict,
                accepted=self.accepted,
            )
        )
        return Summary(
            kind=reparsing.KIND,
            store=self.store.name,
            run_id=run_id,
            status=status,
            reason=reason,
            exit_code=code,
            outcomes=self.found.outcomes if status is not RunStatus.HELD else self.found.held(),
            rows_written=self.found.rows_written if self._saving else 0,
            change_events=self.found.changes,
            elapsed_s=time.monotonic() - self._started,
        )
