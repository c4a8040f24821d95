"""What the worker does with its jobs: by a scripted place where they run, a clock of ours and a real database."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import pytest
from sqlalchemy import update

from storebot.core.jobs import JobStatus, Verdict
from storebot.core.schedule import Schedule
from storebot.db import job_claims, job_orders, job_runs, jobs, schema
from storebot.db.database import Database
from storebot.db.holders import this_process
from storebot.db.job_runs import JobRun
from storebot.db.jobs import Job, Plan
from storebot.exceptions import ConfigurationError, NotLaunched, SaveFailed
from storebot.jobs.launching import Ended
from storebot.jobs.worker import SYNC_S, Worker
from tests.db.backends import sqlite_url

__all__ = ["sqlite_url"]
DAILY = Schedule(every_ms=86_400_000)


@dataclass
class Scripted:
    """An attempt that ends when the test says so."""

    job: Job | None = None
    token: str = ""
    node: str = ""
    holder: str = ""
    log: str = "a.log"
    end: Ended | None = None
    heard: list[str] = field(default_factory=list)

    def ended(self) -> Ended | None:
        return self.end

    def stop(self) -> None:
        self.heard.append("stop")

    def kill(self) -> None:
        self.heard.append("kill")


@dataclass
class Place:
    """A launcher that keeps what it started; ``leftover`` is what it finds of a dead worker's."""

    started: list[Scripted] = field(default_factory=list)
    leftover: Scripted | None = None
    refuses: str = ""
    node: str = ""

    def start(self, job: Job, token: str) -> Scripted:
        if self.refuses:
            raise NotLaunched(self.refuses)
        self.started.append(Scripted(job, token, self.node))
        return self.started[-1]

    def adopt(self, run: JobRun) -> Scripted | None:
        return self.leftover


class Bench:
    """A worker with its place, its clock and its database."""

    def __init__(self, url: str, **options: object) -> None:
        self.database, self.place, self.now, self.planned = Database.open(url), Place(), 0.0, 0
        self.nodes = Place()
        self.unmounted = False
        self.worker = Worker(
            self.database,
            self.place,
            lease_s=300,
            grace_s=60,
            plan=self._plan,
            clock=lambda: self.now,
            chance=lambda: 0.0,
            **{"concurrency": 2, **options},  # type: ignore[arg-type]
        )

    def _plan(self) -> None:
        self.planned += 1
        if self.unmounted:
            raise ConfigurationError("store folder /x: no such folder")

    def add(self, kind: str = "refresh", store: str = "acme", **more: object) -> int:
        plan = replace(Plan(store=store, kind=kind, time_limit_s=3600), **more)  # type: ignore[arg-type]
        with self.database.write() as conn:
            return jobs.enqueue(conn, plan)

    def tick(self, after_s: float = 0) -> None:
        self.now += after_s
        self.worker.tick()

    def job(self, job_id: int) -> Job:
        with self.database.read() as conn:
            (found,) = jobs.find(conn, ids=[job_id])
        return found

    def attempts(self) -> list[JobRun]:
        with self.database.read() as conn:
            return job_runs.history(conn)


@pytest.fixture
def bench(sqlite_url: str) -> Iterator[Bench]:
    made = Bench(sqlite_url)
    yield made
    made.database.dispose()


def test_it_runs_no_more_than_it_has_hands_for(bench: Bench) -> None:
    for store in "abc":
        bench.add(store=store)
    bench.tick()
    assert [one.job.store for one in bench.place.started if one.job] == ["a", "b"]
    bench.place.started[0].end = Ended(0)
    bench.tick()
    assert len(bench.place.started) == 3
    assert bench.job(1).status is JobStatus.DONE


def test_how_it_ended_decides_what_comes_next(bench: Bench) -> None:
    job_id = bench.add(schedule=DAILY)
    bench.tick()
    bench.place.started[0].end = Ended(1, "ValueError: no")
    bench.tick()
    job = bench.job(job_id)
    assert (job.status, job.attempts, job.last_error) == (JobStatus.PENDING, 1, "ValueError: no")
    assert 29_000 < (job.next_run_at or 0) - job.finished_at <= 30_000
    assert bench.worker.tally.verdicts == {Verdict.FAILED: 1}


def test_the_files_are_read_at_the_start_and_every_few_minutes(bench: Bench) -> None:
    bench.tick()
    bench.tick(SYNC_S - 1)
    bench.tick(1)
    assert bench.planned == 2


def test_a_folder_of_stores_that_isn_t_there_ends_it_at_the_start_and_never_later(bench: Bench) -> None:
    bench.unmounted = True
    with pytest.raises(ConfigurationError):
        bench.tick()
    bench.unmounted = False
    bench.tick()
    bench.unmounted = True
    job_id = bench.add()
    bench.tick(SYNC_S)
    assert bench.job(job_id).status is JobStatus.RUNNING


def test_a_job_that_takes_too_long_is_stopped_then_killed_and_tried_again(bench: Bench) -> None:
    job_id = bench.add(time_limit_s=100)
    bench.tick()
    (attempt,) = bench.place.started
    bench.tick(100)
    assert attempt.heard == []
    bench.tick(1)
    bench.tick(59)
    assert attempt.heard == ["stop"]
    bench.tick(1)
    assert attempt.heard == ["stop", "kill"]
    attempt.end = Ended(-9)
    bench.tick()
    job = bench.job(job_id)
    assert (job.last_verdict, job.attempts, job.crashes) == ("timed_out", 1, 0)
    assert "time limit of 100 s" in job.last_error


def test_cancelled_it_is_stopped_gracefully(bench: Bench) -> None:
    job_id = bench.add()
    bench.tick()
    with bench.database.write() as conn:
        job_orders.cancel(conn, job_id)
    bench.tick(5)
    assert bench.place.started[0].heard == ["stop"]
    bench.place.started[0].end = Ended(143)
    bench.tick()
    assert (bench.job(job_id).status, bench.job(job_id).last_error) == (JobStatus.CANCELLED, "cancelled by a person")


def test_told_to_stop_it_passes_that_on_claims_nothing_and_leaves_the_job_due(bench: Bench) -> None:
    job_id = bench.add()
    bench.tick()
    bench.add(store="other")
    bench.worker.stop()
    bench.tick()
    assert bench.place.started[0].heard == ["stop"]
    bench.worker.stop()
    assert bench.place.started[0].heard == ["stop", "kill"]
    bench.place.started[0].end = Ended(-9)
    bench.tick()
    job = bench.job(job_id)
    assert bench.worker.idle
    assert (job.status, job.attempts, job.next_run_at) == (JobStatus.PENDING, 0, job.finished_at)
    assert len(bench.place.started) == 1


def test_a_claim_that_was_lost_stops_the_process_and_nothing_is_written(bench: Bench) -> None:
    """Case Q02: this machine slept."""
    job_id = bench.add()
    bench.tick()
    with bench.database.write() as conn:
        job_claims.finish(conn, bench.job(job_id), Verdict.CRASHED)
        other = job_claims.claim(conn, "other", this_process(), 300)
    assert other is not None
    bench.tick(5)
    assert bench.place.started[0].heard == ["stop"]
    bench.place.started[0].end = Ended(0)
    bench.tick()
    assert bench.worker.idle
    assert bench.job(job_id).claim_token == "other"


class TestDeadWorker:
    """Case Q03. What a worker leaves that died: its claim, and perhaps its process."""

    def die(self, bench: Bench) -> int:
        job_id = bench.add(schedule=DAILY)
        token, dead = secrets.token_hex(8), replace(this_process(), started="1")
        with bench.database.write() as conn:
            assert job_claims.claim(conn, token, dead, 300) is not None
        return job_id

    def test_its_job_is_taken_over_at_once(self, bench: Bench) -> None:
        job_id = self.die(bench)
        bench.tick()
        assert len(bench.place.started) == 1
        assert (bench.job(job_id).attempts, bench.job(job_id).crashes) == (1, 1)
        assert [one.verdict for one in bench.attempts()] == ["", "crashed"]

    def test_its_process_is_stopped_before(self, bench: Bench) -> None:
        job_id = self.die(bench)
        bench.place.leftover = Scripted()
        bench.tick()
        assert (bench.place.leftover.heard, bench.place.started) == (["stop"], [])
        bench.place.leftover.end = Ended(None)
        bench.tick()
        assert len(bench.place.started) == 1
        assert bench.job(job_id).status is JobStatus.RUNNING

    def test_what_the_process_noted_of_its_end_counts(self, bench: Bench) -> None:
        job_id = self.die(bench)
        with bench.database.write() as conn:
            assert job_runs.note_end(conn, bench.job(job_id).claim_token, 0, run_id=4)
        bench.tick()
        assert bench.place.started == []
        assert (bench.job(job_id).last_verdict, bench.job(job_id).attempts) == ("done", 0)


def test_where_no_process_can_be_had_it_waits_and_no_attempt_was_made(bench: Bench) -> None:
    job_id = bench.add()
    bench.place.refuses = "no Scrapyd node took it"
    bench.tick()
    job = bench.job(job_id)
    assert (job.status, job.attempts, job.last_error) == (JobStatus.PENDING, 0, "no Scrapyd node took it")
    assert bench.attempts() == []
    assert bench.worker.tally.not_launched == 1


class TestNode:
    """What runs on a Scrapyd node outlives its worker, and the next one follows it. Real ones: tests/crawls."""

    NODE = "http://node:6800"

    def begin(self, url: str) -> tuple[Bench, Scripted]:
        """Return a worker, which thinks itself on a machine of its own, and its attempt on a node."""
        bench = self.another(url)
        bench.add()
        bench.tick()
        (attempt,) = bench.nodes.started
        return bench, attempt

    def another(self, url: str, leftover: Scripted | None = None) -> Bench:
        nodes = Place(node=self.NODE, leftover=leftover)
        bench = Bench(url, remote=nodes)
        bench.nodes = nodes
        bench.worker._holder = replace(this_process(), host=secrets.token_hex(8))
        return bench

    def expire(self, bench: Bench) -> None:
        with bench.database.write() as conn:
            conn.execute(update(schema.jobs).values(claim_expires_at=1))

    def test_told_to_stop_the_worker_leaves_it_and_the_next_one_follows_it_to_its_end(self, sqlite_url: str) -> None:
        first, attempt = self.begin(sqlite_url)
        first.worker.stop()
        first.tick()
        assert first.worker.idle
        assert attempt.heard == []
        second = self.another(sqlite_url, leftover=attempt)
        second.tick()
        assert (second.job(1).holder, second.job(1).claim_token) == (str(second.worker._holder), attempt.token)
        attempt.end = Ended(0)
        second.tick()
        assert second.job(1).status is JobStatus.DONE
        assert (second.nodes.started, attempt.heard) == ([], [])
        assert [run.verdict for run in second.attempts()] == ["done"]
        assert second.worker.tally.verdicts == {Verdict.DONE: 1}

    def test_one_that_slept_lets_it_go_to_who_follows_it_now(self, sqlite_url: str) -> None:
        """Case Q02: it neither stops the crawl nor says how it ended."""
        first, attempt = self.begin(sqlite_url)
        self.expire(first)
        second = self.another(sqlite_url, leftover=attempt)
        second.tick()
        first.tick(5)
        assert first.worker.idle
        assert attempt.heard == []
        attempt.end = Ended(0)
        second.tick()
        assert first.worker.tally.verdicts == {}
        assert [run.verdict for run in second.attempts()] == ["done"]

    def test_one_that_slept_and_sees_its_end_first_writes_nothing(self, sqlite_url: str) -> None:
        first, attempt = self.begin(sqlite_url)
        self.expire(first)
        second = self.another(sqlite_url, leftover=attempt)
        second.tick()
        attempt.end = Ended(0)
        first.tick(1)  # its heartbeat isn't due yet
        assert second.job(1).status is JobStatus.RUNNING
        second.tick()
        assert second.job(1).status is JobStatus.DONE

    def test_whose_claim_is_over_and_whose_job_ended_otherwise_is_stopped(self, sqlite_url: str) -> None:
        first, attempt = self.begin(sqlite_url)
        with first.database.write() as conn:
            job_claims.finish(conn, first.job(1), Verdict.CRASHED)
        first.tick(5)
        assert attempt.heard == ["stop"]

    def test_its_time_limit_counts_from_its_begin_and_a_cancel_meanwhile_is_heard(self, sqlite_url: str) -> None:
        first, attempt = self.begin(sqlite_url)
        first.worker.stop()
        with first.database.write() as conn:
            conn.execute(update(schema.jobs).values(started_at=schema.jobs.c.started_at - 3_590_000))
        second = self.another(sqlite_url, leftover=attempt)
        second.tick()
        assert attempt.heard == []
        second.tick(30)
        assert attempt.heard == ["stop"]
        attempt.heard.clear()

        second.worker.stop()
        with second.database.write() as conn:
            conn.execute(update(schema.jobs).values(started_at=schema.jobs.c.started_at + 3_590_000))
            job_orders.cancel(conn, 1)
        third = self.another(sqlite_url, leftover=attempt)
        third.tick()
        third.tick(5)
        assert attempt.heard == ["stop"]

    def test_while_the_database_is_away_it_goes_on_and_is_followed_again_after(
        self, sqlite_url: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        bench, attempt = self.begin(sqlite_url)
        bench.nodes.leftover = attempt

        def away(*_: object, **__: object) -> None:
            raise SaveFailed("the database is away")

        with monkeypatch.context() as patched:
            patched.setattr(job_claims, "orphans", away)
            bench.tick(301)
        assert bench.worker.idle
        self.expire(bench)
        bench.tick()
        attempt.end = Ended(0)
        bench.tick()
        assert (bench.job(1).status, attempt.heard) == (JobStatus.DONE, [])


def test_crawls_go_to_the_nodes_and_the_rest_stays_here(sqlite_url: str) -> None:
    nodes = Place()
    bench = Bench(sqlite_url, remote=nodes)
    bench.add()
    bench.add("stage")
    bench.tick()
    assert [one.job.kind for one in nodes.started if one.job] == ["refresh"]
    assert [one.job.kind for one in bench.place.started if one.job] == ["stage"]
    bench.database.dispose()


def test_while_the_database_is_away_jobs_go_on_until_their_claim_may_be_another_s(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.add()
    bench.tick()

    def away(*_: object, **__: object) -> None:
        raise SaveFailed("the database is away")

    monkeypatch.setattr(job_claims, "orphans", away)
    bench.tick(299)
    assert bench.place.started[0].heard == []
    bench.tick(2)
    assert bench.place.started[0].heard == ["stop"]
