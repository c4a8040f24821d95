"""The worker: claims what is due, has it run, and writes down how it ended; until it's told to stop."""

from __future__ import annotations

import logging
import secrets
import time
from collections.abc import Callable
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
from storebot.jobs.underway import Tally, Underway, reason_of

logger = logging.getLogger(__name__)
T = TypeVar("T")

NOT_LAUNCHED_MS = 60_000
SYNC_S = 300.0


class Worker:
    """Runs up to ``concurrency`` jobs at a time. `tick` does all that is to be done now, and never waits for a job.

    What runs on a node doesn't end with its worker: the next one follows it. What runs here does.

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

        A database that fails for longer than a lease ends what runs here: somebody else may have it by then.
        """
        try:
            if not self.stopping and self._clock() - self._planned >= SYNC_S:
                self._renew_plan()
            if not self.stopping:
                self._find_orphans()
            self._beat()
            self._look()
            while not self.stopping and self._free > 0 and self._begin_next():
                pass
        except DatabaseError as error:
            logger.error("%s; jobs that run go on", error)
            if self._clock() - self._beaten > self._lease_s:
                for token, one in list(self._underway.items()):
                    if one.attempt.node:
                        del self._underway[token]
                    else:
                        self._stop(one, "lost")

    def stop(self) -> None:
        """Claim nothing more, leave what runs on nodes to the next worker, and ask what runs here to end.

        Asked a second time it's killed.
        """
        self._leave()
        for one in self._underway.values():
            if self.stopping:
                one.attempt.kill()
            else:
                self._stop(one, "shutdown")
        self.stopping = True

    def _leave(self) -> None:
        """Let the attempts on nodes go on alone, free to be taken over at once."""
        left = {token: one for token, one in self._underway.items() if one.ours and one.attempt.node}
        for token, one in left.items():
            del self._underway[token]
            logger.info("%s goes on on %s: the next worker follows it", one.job, one.attempt.node)
        if not left:
            return
        try:
            self._write(lambda conn: job_claims.leave(conn, left, self._holder))
        except DatabaseError as error:
            logger.error("%s; they can be taken over when their claims expire", error)

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
            self.tally.not_launched += 1
            self._write(lambda conn: job_claims.give_back(conn, job, NOT_LAUNCHED_MS, why))
            return True
        self._underway[token] = Underway(job, attempt, self._clock())
        logger.info("%s begins%s, log: %s", job, f" on {attempt.node}" if attempt.node else "", attempt.log)
        where = {"holder": attempt.holder, "node": attempt.node, "log": attempt.log}
        self._write(lambda conn: job_runs.note_start(conn, token, **where))
        return True

    def _find_orphans(self) -> None:
        """Take over the jobs of workers that ended. What is left on nodes is followed; what is left here is stopped."""
        for job in self._read(lambda conn: job_claims.orphans(conn, is_alive)):
            if job.claim_token in self._underway:
                continue
            run = self._run_of(job)
            attempt = None
            if run is not None:
                place = self._remote if run.node and self._remote is not None else self._local
                attempt = place.adopt(run)
            if attempt is not None and attempt.node:
                self._follow(job, attempt)
                continue
            logger.warning("%s: its worker is dead; %s", job, "its process is stopped" if attempt else "taken over")
            if attempt is None:
                self._end(job, Ended(None), "orphan")
                continue
            one = Underway(job, attempt, self._clock(), ours=False)
            self._underway[job.claim_token] = one
            self._stop(one, "orphan")

    def _follow(self, orphan: Job, attempt: Attempt) -> None:
        """Take over what another worker left on a node, as it is; nothing where a third one was faster."""
        job = self._write(lambda conn: job_claims.take_over(conn, orphan, self._holder, self._lease_s))
        if job is None:
            return
        age_s = (job.claim_expires_at - job.started_at) / 1000 - self._lease_s
        self._underway[job.claim_token] = Underway(job, attempt, self._clock() - age_s)
        logger.info("%s is followed on %s, log: %s", job, attempt.node, attempt.log)

    def _beat(self) -> None:
        """Keep the claims. One that was lost is given up: its process is stopped, nothing written.

        One on a node that another worker follows by now is left to it.
        """
        ours = {token: one for token, one in self._underway.items() if one.ours}
        if not ours:
            self._beaten = self._clock()
            return
        if self._clock() - self._beaten < min(self._lease_s / 3, 5.0):
            return
        held = self._write(lambda conn: job_claims.beat(conn, ours, self._holder, self._lease_s))
        self._beaten = self._clock()
        for token, one in ours.items():
            if token not in held and one.attempt.node and self._read(partial(job_claims.goes_on, token=token)):
                del self._underway[token]
                logger.warning("%s is followed by another worker by now", one.job)
            elif token not in held:
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
        reason = reason_of(ended, run.reason if run else "", why, job)
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
