"""The worker: claims what is due, has it run, and writes down how it ended; until it's told to stop."""

from __future__ import annotations

import logging
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from random import Random
from typing import TypeVar

from storebot.core.job_kinds import KINDS
from storebot.core.jobs import Asked, Verdict, verdict_of
from storebot.db import job_claims, job_runs
from storebot.db.database import Database
from storebot.db.holders import is_alive, this_process
from storebot.db.jobs import Job
from storebot.db.retry import retrying
from storebot.exceptions import ClaimLost, ConfigurationError, DatabaseError, NotLaunched
from storebot.jobs.launching import Attempt, Ended, Launcher

logger = logging.getLogger(__name__)
T = TypeVar("T")

NOT_LAUNCHED_MS = 60_000
SYNC_S = 300.0


@dataclass(slots=True)
class Underway:
    """A job that this worker runs, or a dead worker's that it stops."""

    job: Job
    attempt: Attempt
    started: float  # by the monotonic clock
    ours: bool = True
    why: str = ""  # why it was asked to stop: shutdown | cancel | time | lost | orphan
    kill_at: float = 0.0


@dataclass(slots=True)
class Tally:
    """How this worker's own attempts ended, by verdict."""

    verdicts: dict[Verdict, int] = field(default_factory=dict)

    def add(self, verdict: Verdict) -> None:
        self.verdicts[verdict] = self.verdicts.get(verdict, 0) + 1


class Worker:
    """Runs up to ``concurrency`` jobs at a time. `tick` does all that is to be done now, and never waits for a job.

    ``local`` takes the jobs that ``remote`` (None: there is none) doesn't: those that are no crawls. ``plan`` brings
    the jobs of the store files up to date; it's called at the start, and every `SYNC_S` seconds.
    """

    def __init__(
        self,
        database: Database,
        local: Launcher,
        *,
        concurrency: int,
        lease_s: float,
        grace_s: float,
        remote: Launcher | None = None,
        plan: Callable[[], None] = lambda: None,
        clock: Callable[[], float] = time.monotonic,
        chance: Callable[[], float] | None = None,
    ) -> None:
        self._database, self._local, self._remote, self._plan = database, local, remote, plan
        self._concurrency, self._lease_s, self._grace_s = concurrency, lease_s, grace_s
        self._clock, self._chance = clock, chance or Random().random
        self._holder = this_process()
        self._underway: dict[str, Underway] = {}  # by token
        self._beaten = self._planned = -1e9
        self.stopping = False
        self.tally = Tally()

    @property
    def idle(self) -> bool:
        """Whether nothing is under way."""
        return not self._underway

    def tick(self) -> None:
        """Plan, take dead workers' jobs over, keep claims, look after what runs, and claim what is due.

        A database that fails for longer than a lease ends what runs: somebody else may have it by then.
        """
        try:
            if not self.stopping and self._clock() - self._planned >= SYNC_S:
                self._renew_plan()
            self._find_orphans()
            self._beat()
            self._look()
            while not self.stopping and self._free > 0 and self._begin_next():
                pass
        except DatabaseError as error:
            logger.error("%s; jobs that run go on", error)
            if self._clock() - self._beaten > self._lease_s:
                for one in self._underway.values():
                    self._stop(one, "lost")

    def stop(self) -> None:
        """Claim nothing more and ask what runs to end; asked a second time it's killed."""
        for one in self._underway.values():
            if self.stopping:
                one.attempt.kill()
            else:
                self._stop(one, "shutdown")
        self.stopping = True

    @property
    def _free(self) -> int:
        return self._concurrency - sum(one.ours for one in self._underway.values())

    def _renew_plan(self) -> None:
        """Read the store files again; a folder that can't be read is an error at the start alone."""
        first = self._planned < 0
        try:
            self._plan()
        except ConfigurationError as error:
            if first:
                raise
            logger.error("%s; jobs stay as they are", error)
        self._planned = max(self._clock(), 0.0)

    def _begin_next(self) -> bool:
        token = secrets.token_hex(16)
        job = self._write(lambda conn: job_claims.claim(conn, token, self._holder, self._lease_s))
        if job is None:
            return False
        launcher = self._remote if self._remote is not None and self._is_crawl(job) else self._local
        try:
            attempt = launcher.start(job, token)
        except NotLaunched as error:
            logger.warning("%s; trying again in %d s", error, NOT_LAUNCHED_MS // 1000)
            why = str(error)
            self._write(lambda conn: job_claims.give_back(conn, job, NOT_LAUNCHED_MS, why))
            return True
        self._underway[token] = Underway(job, attempt, self._clock())
        logger.info("%s begins%s, log: %s", job, f" on {attempt.node}" if attempt.node else "", attempt.log)
        where = {"holder": attempt.holder, "node": attempt.node, "log": attempt.log}
        self._write(lambda conn: job_runs.note_start(conn, token, **where))
        return True

    def _find_orphans(self) -> None:
        """Take over the jobs of workers that died: what is left of them is stopped, so that it isn't done twice."""
        for job in self._read(lambda conn: job_claims.orphans(conn, is_alive)):
            if job.claim_token in self._underway:
                continue
            run = self._run_of(job)
            attempt = None
            if run is not None:
                place = self._remote if run.node and self._remote is not None else self._local
                attempt = place.adopt(run)
            logger.warning("%s: its worker is dead; %s", job, "its process is stopped" if attempt else "taken over")
            if attempt is None:
                self._end(job, Ended(None), "orphan")
                continue
            one = Underway(job, attempt, self._clock(), ours=False)
            self._underway[job.claim_token] = one
            self._stop(one, "orphan")

    def _beat(self) -> None:
        """Keep the claims. One that another worker has by now is given up: its process is stopped, nothing written."""
        ours = {token: one for token, one in self._underway.items() if one.ours}
        if not ours:
            self._beaten = self._clock()
            return
        if self._clock() - self._beaten < min(self._lease_s / 3, 5.0):
            return
        held = self._write(lambda conn: job_claims.beat(conn, ours, self._lease_s))
        self._beaten = self._clock()
        for token, one in ours.items():
            if token not in held:
                self._stop(one, "lost")
            elif held[token] == Asked.CANCEL.value:
                self._stop(one, "cancel")

    def _look(self) -> None:
        for token, one in list(self._underway.items()):
            if ended := one.attempt.ended():
                self._end(one.job, ended, one.why)  # first: if it can't be saved, it's tried again at the next tick
                del self._underway[token]
            elif one.why:
                if self._clock() >= one.kill_at:
                    one.attempt.kill()
            elif self._clock() - one.started > one.job.time_limit_s:
                self._stop(one, "time")

    def _stop(self, one: Underway, why: str) -> None:
        if not one.why:
            one.why, one.kill_at = why, self._clock() + self._grace_s
            logger.info("%s is stopped: %s", one.job, why)
            one.attempt.stop()

    def _end(self, job: Job, ended: Ended, why: str) -> None:
        run = self._run_of(job)
        noted = run.exit_code if run is not None and ended.exit_code is None else None
        code = ended.exit_code if noted is None else noted
        reason = _reason(ended, run.reason if run else "", why, job)
        verdict = verdict_of(code, timed_out=why == "time" and code != 0)
        if why in ("shutdown", "cancel") and verdict is not Verdict.DONE:
            verdict = Verdict.STOPPED  # by us, whatever its code: it may have had no time to say it
        finish = partial(
            job_claims.finish,
            job=job,
            verdict=verdict,
            exit_code=code,
            reason=reason,
            chance=self._chance(),
            shutting_down=why in ("shutdown", "orphan"),
        )
        try:
            found = self._write(finish)
        except ClaimLost as error:
            logger.warning("%s", error)
            return
        logger.info("%s: %s%s; then %s", job, verdict.value, f", {reason}" if reason else "", found.status.value)
        if why != "orphan":
            self.tally.add(verdict)

    def _run_of(self, job: Job) -> job_runs.JobRun | None:
        return self._read(lambda conn: job_runs.of_token(conn, job.claim_token))

    def _is_crawl(self, job: Job) -> bool:
        return job.kind in KINDS and bool(KINDS[job.kind].spider)

    def _write(self, work: Callable[..., T]) -> T:
        return retrying(self._database, work)

    def _read(self, work: Callable[..., T]) -> T:
        return retrying(self._database, work, writes=False)


def _reason(ended: Ended, noted: str, why: str, job: Job) -> str:
    """Say in a sentence why an attempt didn't end well: in its own words if it had any."""
    said = {
        "time": f"stopped after its time limit of {job.time_limit_s} s",
        "cancel": "cancelled by a person",
        "shutdown": "its worker was stopped",
        "orphan": "its worker died",
        "lost": "its claim was lost",
    }.get(why, "")
    own = noted or ended.reason
    if not said and ended.exit_code is not None and ended.exit_code < 0:
        said = f"killed by signal {-ended.exit_code}; is there memory enough?"
    return "; ".join(part for part in (said, own) if part)
