"""The proof of the job queue: workers claim jobs while they are killed at random, and each job is done exactly once.

A job is the insertion of one row, in the transaction that finishes it. Time runs a hundred times faster than the
database's clock, so that claims expire and back-offs end within the measurement.
"""

from __future__ import annotations

import multiprocessing
import secrets
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from multiprocessing.synchronize import Event
from random import Random
from tempfile import TemporaryDirectory
from typing import NamedTuple

from sqlalchemy import BigInteger, Column, Connection, MetaData, String, Table, delete, insert, select

from storebot.core.jobs import JobStatus, Verdict
from storebot.db import job_claims, job_runs, jobs, schema
from storebot.db.addresses import database_url
from storebot.db.database import Database, now_ms
from storebot.db.holders import is_alive, this_process
from storebot.db.retry import retrying
from storebot.exceptions import ClaimLost

SPEED = 100
LEASE_S = 60
WORK_S = 0.01
DEADLINE_S = 60.0  # for the rest, when nobody is killed any more

_fork = multiprocessing.get_context("forkserver")
effects = Table("effects", MetaData(), Column("job_id", BigInteger, nullable=False), Column("token", String(64)))


@dataclass(frozen=True, slots=True)
class Found:
    """What came of one round; all of it empty or nought where the queue keeps its promise."""

    kills: int
    claims: int
    elapsed_s: float
    wrong: Sequence[str] = field(default_factory=list)  # a sentence each


def measure(url: str, *, workers: int, job_count: int, kills: int, kill_for_s: float, seed: int) -> Found:
    """Have ``workers`` processes do ``job_count`` jobs, while ``kills`` of them are killed, in ``kill_for_s`` seconds.

    Whoever is killed was at work, and is replaced. Each second worker says that it's on another machine: its claims
    have to expire.
    """
    database, random, began = Database.open(url), Random(seed), time.monotonic()
    with database.write() as conn:
        effects.create(conn, checkfirst=True)
        origin = now_ms(conn)
        plan = jobs.Plan(store="", kind="stage", time_limit_s=3600, max_attempts=1000)
        ids = [jobs.enqueue(conn, replace(plan, store=f"s{number}"), at_ms=origin) for number in range(job_count)]
    _fork.set_forkserver_preload(["bench.job_claims"])
    crew = [_hire(url, origin, number) for number in range(workers)]
    killed = 0
    while killed < kills and time.monotonic() - began < kill_for_s and _left(database):
        time.sleep(random.uniform(0.0, 0.08))
        place = random.randrange(workers)
        if not crew[place].at_work.is_set():
            continue
        crew[place].kill()
        crew[place] = _hire(url, origin, place)
        killed += 1
    while _left(database) and time.monotonic() - began < kill_for_s + DEADLINE_S:
        time.sleep(0.05)
    for one in crew:
        one.kill()
    with database.write() as conn:
        wrong, claims = _wrong(conn, ids)
        for table in (effects, schema.jobs, schema.job_runs):
            conn.execute(delete(table))
        effects.drop(conn)
    database.dispose()
    return Found(killed, claims, time.monotonic() - began, wrong)


class _Hired(NamedTuple):
    process: multiprocessing.process.BaseProcess
    at_work: Event  # it has connected, and claims

    def kill(self) -> None:
        self.process.kill()
        self.process.join()


def _hire(url: str, origin: int, number: int) -> _Hired:
    at_work = _fork.Event()
    process = _fork.Process(target=_work, args=(url, origin, number, at_work), daemon=True)
    process.start()
    return _Hired(process, at_work)


def _left(database: Database) -> int:
    with database.read() as conn:
        return sum(count for (_, status), count in jobs.counts(conn).items() if status != JobStatus.DONE.value)


def _wrong(conn: Connection, ids: Sequence[int]) -> tuple[list[str], int]:
    """Compare what is there with what should be; return what differs, and how many claims there were."""
    done = Counter(conn.execute(select(effects.c.job_id)).scalars())
    wrong = [f"job {one}: done {done[one]} times" for one in ids if done[one] != 1]
    wrong += [f"job {job.id}: {job.status.value}" for job in jobs.find(conn) if job.status is not JobStatus.DONE]
    attempts = job_runs.history(conn, limit=10**6)[::-1]
    ended: dict[int, int | None] = {}
    for one in attempts:
        before = ended.get(one.job_id, 0)
        if before is None or before > one.started_at:
            wrong.append(f"job {one.job_id}: claimed at {one.started_at} while another had it")
        ended[one.job_id] = one.finished_at
    return wrong, len(attempts)


def _work(url: str, origin: int, number: int, at_work: Event) -> None:
    """Claim, work, finish, until killed."""
    database = Database.open(url)
    me = this_process()
    holder = replace(me, host="elsewhere") if number % 2 else me

    def clock(conn: Connection) -> int:
        return origin + (now_ms(conn) - origin) * SPEED

    def claim(conn: Connection) -> jobs.Job | None:
        return job_claims.claim(conn, secrets.token_hex(16), holder, LEASE_S, at_ms=clock(conn))

    def end(conn: Connection, job: jobs.Job, verdict: Verdict) -> None:
        if verdict is Verdict.DONE:
            conn.execute(insert(effects), {"job_id": job.id, "token": job.claim_token})
        job_claims.finish(conn, job, verdict, at_ms=clock(conn))

    at_work.set()
    while True:
        with database.read() as conn:
            dead = job_claims.orphans(conn, is_alive, at_ms=clock(conn))
        job = retrying(database, claim)
        ending = [(each, Verdict.CRASHED) for each in dead] + ([(job, Verdict.DONE)] if job else [])
        time.sleep(WORK_S)
        for each, verdict in ending:
            try:
                retrying(database, partial(end, job=each, verdict=verdict))
            except ClaimLost:
                continue  # another worker took it over, or was quicker to


def claims(*, seconds: float, urls: Sequence[str]) -> int:
    """Measure two and eight workers on 200 jobs, again and again for so long, in each database; print a line each.

    Returns 1 where a job wasn't done exactly once. Without ``urls`` the database is a SQLite file.
    """
    code = 0
    with TemporaryDirectory() as folder:
        for url in urls or [f"sqlite:///{folder}/jobs.db"]:
            for workers in (2, 8):
                code |= _for_a_while(url, workers, seconds)
    return code


def _for_a_while(url: str, workers: int, seconds: float) -> int:
    began, rounds = time.monotonic(), list[Found]()
    while (left := seconds - (time.monotonic() - began)) > 0:
        rounds.append(measure(url, workers=workers, job_count=200, kills=10**6, kill_for_s=left, seed=len(rounds)))
    wrong = [sentence for one in rounds for sentence in one.wrong]
    kills, tries = sum(one.kills for one in rounds), sum(one.claims for one in rounds)
    print(
        f"{database_url(url).get_backend_name()}: {workers} workers, {len(rounds)} rounds of 200 jobs, {kills} killed, "
        f"{tries} claims, {len(wrong)} wrong"
    )
    for sentence in wrong[:20]:
        print(f"  {sentence}")
    return int(bool(wrong))
