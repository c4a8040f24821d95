"""Jobs: one active of each store and kind, one holder of each, and nothing written by who lost his claim."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

import pytest

from storebot.core.jobs import JobStatus, Verdict
from storebot.core.schedule import Schedule
from storebot.db import breakers, job_claims, job_orders, job_plans, job_runs, jobs, runs, standing
from storebot.db.database import Database, now_ms
from storebot.db.holders import Holder, is_alive, this_process
from storebot.db.jobs import FILE, Job, Plan
from storebot.db.retry import retrying
from storebot.exceptions import ClaimLost, ConfigurationError, JobRefused
from storebot.items import RunStatus
from tests.db.shop import alive

T = TypeVar("T")
HOUR_MS = 3_600_000
NOW = 1_800_000_000_000
REFRESH = Plan(store="acme", kind="refresh", time_limit_s=3600)
DAILY = replace(REFRESH, schedule=Schedule(every_ms=24 * HOUR_MS))
ME = this_process()


def do(database: Database, verb: Callable[..., T], *args: Any, **kwargs: Any) -> T:
    with database.write() as conn:
        return verb(conn, *args, **kwargs)


def add(database: Database, plan: Plan, at_ms: int = NOW) -> int:
    return do(database, jobs.enqueue, plan, at_ms=at_ms)


def claim(database: Database, token: str = "first", at_ms: int = NOW, holder: Holder = ME) -> Job | None:
    return do(database, job_claims.claim, token, holder, 60, at_ms=at_ms)


def claimed(database: Database, token: str = "first", at_ms: int = NOW, holder: Holder = ME) -> Job:
    job = claim(database, token, at_ms, holder)
    assert job is not None
    return job


def only(database: Database) -> Job:
    (job,) = do(database, jobs.find)
    return job


def statuses(database: Database) -> dict[str, str]:
    return {job.kind: job.status.value for job in do(database, jobs.find)}


class TestEnqueue:
    def test_no_second_one_is_stacked_on_one_that_waits_or_runs(self, database: Database) -> None:
        """Case Q04."""
        job_id = add(database, REFRESH)
        with pytest.raises(JobRefused, match=rf"job {job_id} \(refresh of acme\).*pending.*jobs run {job_id}"):
            add(database, REFRESH)
        claimed(database)
        with pytest.raises(JobRefused, match="is running") as refused:
            add(database, REFRESH)
        assert refused.value.exit_code == 7

    def test_another_store_or_kind_is_another_job_and_so_is_one_after_its_end(self, database: Database) -> None:
        add(database, REFRESH)
        add(database, replace(REFRESH, store="other"))
        add(database, replace(REFRESH, kind="reparse"))
        do(database, job_claims.finish, claimed(database), Verdict.DONE)
        add(database, REFRESH)
        assert len(do(database, jobs.find)) == 4

    def test_of_many_at_once_one_is_added(self, database: Database) -> None:
        start, results = threading.Barrier(4), []

        def work() -> None:
            start.wait()
            try:
                retrying(database, lambda conn: jobs.enqueue(conn, REFRESH))
                results.append("added")
            except JobRefused:
                results.append("refused")

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(results) == ["added", "refused", "refused", "refused"]

    def test_what_no_job_can_be_is_refused(self, database: Database) -> None:
        with pytest.raises(ConfigurationError):
            add(database, replace(REFRESH, kind="refesh"))


class TestClaim:
    def test_only_what_is_due_the_most_urgent_first_then_the_longest_due(self, database: Database) -> None:
        for store, at, priority in (("later", NOW + 1, 9), ("b", NOW - 1, 0), ("a", NOW, 0), ("urgent", NOW, 5)):
            add(database, replace(REFRESH, store=store, priority=priority), at)
        order = [claimed(database, str(number)).store for number in range(3)]
        assert order == ["urgent", "b", "a"]
        assert claim(database, "more") is None

    def test_one_job_of_a_store_at_a_time_where_it_takes_the_lease(self, database: Database) -> None:
        for kind in ("refresh", "reparse", "coverage"):
            add(database, replace(REFRESH, kind=kind))
        assert [claimed(database, "1").kind, claimed(database, "2").kind] == ["refresh", "coverage"]
        assert claim(database, "3") is None

    def test_who_lost_his_claim_writes_nothing(self, database: Database) -> None:
        """Case Q02: the lease ran out while the work went on."""
        add(database, DAILY)
        late = claimed(database, "late")
        (orphan,) = do(database, job_claims.orphans, alive, at_ms=NOW + 60_001)
        do(database, job_claims.finish, orphan, Verdict.CRASHED, at_ms=NOW + 60_001)
        successor = claimed(database, "successor", NOW + 60_001)
        assert (successor.attempts, successor.crashes) == (1, 1)
        with pytest.raises(ClaimLost, match="another worker's"):
            do(database, job_claims.finish, late, Verdict.DONE)
        assert do(database, job_claims.beat, ["late"], ME, 60) == {}
        assert only(database).claim_token == "successor"

    def test_a_heartbeat_keeps_it_and_brings_what_is_asked(self, database: Database) -> None:
        add(database, DAILY)
        job = claimed(database)
        do(database, job_orders.cancel, job.id)
        assert do(database, job_claims.beat, ["first"], ME, 60, at_ms=NOW + 59_000) == {"first": "cancel"}
        assert do(database, job_claims.orphans, alive, at_ms=NOW + 90_000) == []

    def test_a_worker_that_died_on_this_machine_is_found_before_its_claim_expires(self, database: Database) -> None:
        """Case Q03: after a reboot, too, where its number is another process's."""
        add(database, DAILY)
        claimed(database, holder=replace(ME, started="1"))
        assert [job.kind for job in do(database, job_claims.orphans, is_alive, at_ms=NOW)] == ["refresh"]

    def test_one_that_was_given_up_starts_its_next_slot_with_all_attempts(self, database: Database) -> None:
        add(database, replace(DAILY, max_attempts=1))
        do(database, job_claims.finish, claimed(database), Verdict.FAILED, reason="no", at_ms=NOW)
        job = only(database)
        assert (job.status, job.failures, job.last_error) == (JobStatus.FAILED, 1, "no")
        assert claimed(database, "again", NOW + 24 * HOUR_MS).attempts == 0

    def test_a_blocked_store_waits_for_its_circuit_breaker(self, database: Database) -> None:
        from storebot.core.breaker import Breaker, State

        add(database, DAILY)
        do(database, breakers.record, "acme", Breaker(State.OPEN, NOW, NOW + 9 * HOUR_MS, 1, "blocked"))
        do(database, job_claims.finish, claimed(database), Verdict.BLOCKED, at_ms=NOW)
        assert only(database).next_run_at == NOW + 9 * HOUR_MS

    def test_given_back_no_attempt_was_made(self, database: Database) -> None:
        add(database, DAILY)
        do(database, job_claims.give_back, claimed(database), 60_000, "no node", at_ms=NOW)
        job = only(database)
        assert (job.status, job.next_run_at, job.attempts) == (JobStatus.PENDING, NOW + 60_000, 0)
        assert do(database, job_runs.history) == []

    def test_given_back_again_and_again_it_is_overdue_by_the_time_it_was_due_first(self, database: Database) -> None:
        add(database, DAILY)
        for minute in range(3):
            job = claimed(database, str(minute), NOW + minute * 60_000)
            do(database, job_claims.give_back, job, 60_000, "no node", at_ms=NOW + minute * 60_000)
        later = NOW + 2 * 60_000
        assert do(database, standing.overdue, later, 60_000) == [("refresh of acme", NOW, "no node")]
        assert do(database, standing.overdue, later, 2 * 60_000) == []


class TestTakeOver:
    """An attempt on a node outlives its worker: the next one has it under the same token."""

    OTHER = replace(ME, host="elsewhere")

    def left(self, database: Database) -> Job:
        add(database, DAILY)
        job = claimed(database)
        do(database, job_claims.leave, ["first"], ME, at_ms=NOW + 1000)
        (orphan,) = do(database, job_claims.orphans, alive, at_ms=NOW + 1000)
        assert orphan.id == job.id
        return orphan

    def test_what_was_left_is_kept_by_the_next_and_by_nobody_else(self, database: Database) -> None:
        orphan = self.left(database)
        taken = do(database, job_claims.take_over, orphan, self.OTHER, 60, at_ms=NOW + 1000)
        assert taken is not None
        assert (taken.claim_token, taken.claim_expires_at, taken.started_at) == ("first", NOW + 61_000, NOW)
        assert do(database, job_claims.take_over, orphan, ME, 60, at_ms=NOW + 1000) is None, "another was faster"
        assert do(database, job_claims.orphans, alive, at_ms=NOW + 60_999) == []
        assert do(database, job_claims.beat, ["first"], ME, 60, at_ms=NOW) == {}
        assert do(database, job_claims.beat, ["first"], self.OTHER, 60, at_ms=NOW) == {"first": ""}
        assert do(database, job_claims.goes_on, "first")

    def test_the_end_is_written_by_who_has_it_now(self, database: Database) -> None:
        """Case Q02: the worker that had it slept, and sees the end as well."""
        orphan = self.left(database)
        taken = do(database, job_claims.take_over, orphan, self.OTHER, 60, at_ms=NOW + 1000)
        assert taken is not None
        with pytest.raises(ClaimLost):
            do(database, job_claims.finish, orphan, Verdict.CRASHED, at_ms=NOW + 2000)
        do(database, job_claims.give_back, orphan, 1000, "no", at_ms=NOW + 2000)
        assert only(database).status is JobStatus.RUNNING
        do(database, job_claims.finish, taken, Verdict.DONE, at_ms=NOW + 3000)
        assert not do(database, job_claims.goes_on, "first")
        assert [(run.token, run.verdict) for run in do(database, job_runs.history)] == [("first", "done")]

    def test_a_worker_that_only_slept_and_kept_it_again_loses_nothing(self, database: Database) -> None:
        add(database, DAILY)
        claimed(database)
        (orphan,) = do(database, job_claims.orphans, alive, at_ms=NOW + 60_000)
        do(database, job_claims.beat, ["first"], ME, 60, at_ms=NOW + 60_001)
        assert do(database, job_claims.take_over, orphan, self.OTHER, 60, at_ms=NOW + 60_002) is None

    def test_of_many_workers_one_takes_it(self, database: Database) -> None:
        orphan = self.left(database)
        start, taken = threading.Barrier(4), list[str]()

        def work(number: int) -> None:
            start.wait(30)
            holder = replace(ME, host=f"machine{number}")
            found = retrying(database, lambda conn: job_claims.take_over(conn, orphan, holder, 60, at_ms=NOW + 1000))
            if found is not None:
                taken.append(found.holder)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert taken == [only(database).holder]


class TestHistory:
    def test_each_attempt_has_a_row_with_what_its_own_process_noted(self, database: Database) -> None:
        add(database, DAILY)
        job = claimed(database)
        do(database, job_runs.note_start, "first", node="http://node:6800", log="a.log")
        assert do(database, job_runs.note_end, "first", 3, run_id=7, reason="2 error")
        do(database, job_claims.finish, job, Verdict.PARTIAL, at_ms=NOW + 5)
        (run,) = do(database, job_runs.history, job_id=job.id)
        assert (run.exit_code, run.run_id, run.reason, run.verdict) == (3, 7, "2 error", "partial")
        assert (run.node, run.log, run.finished_at) == ("http://node:6800", "a.log", NOW + 5)
        assert not do(database, job_runs.note_end, "first", 0), "it is closed"

    def test_old_ones_are_forgotten(self, database: Database) -> None:
        add(database, DAILY)
        do(database, job_claims.finish, claimed(database), Verdict.DONE, at_ms=NOW)
        assert do(database, job_runs.prune, NOW + 31 * 24 * HOUR_MS, 30) == 1

    def test_what_is_late_and_what_keeps_failing_is_found(self, database: Database) -> None:
        add(database, replace(DAILY, max_attempts=1))
        assert [job.kind for job in do(database, jobs.overdue, NOW + HOUR_MS, HOUR_MS - 1)] == ["refresh"]
        assert do(database, jobs.overdue, NOW + HOUR_MS, HOUR_MS) == []
        do(database, job_claims.finish, claimed(database), Verdict.FAILED, at_ms=NOW)
        assert [job.failures for job in do(database, jobs.failing)] == [1]
        assert do(database, jobs.failing, 2) == []
        assert do(database, jobs.counts) == {("refresh", "failed"): 1}


class TestOrders:
    def test_paused_it_rests_and_resumed_it_comes_at_its_next_slot(self, database: Database) -> None:
        job_id = add(database, DAILY)
        assert do(database, job_orders.pause, job_id) == "paused"
        assert claim(database) is None
        do(database, job_orders.resume, job_id, at_ms=NOW + 25 * HOUR_MS)
        assert only(database).next_run_at == NOW + 48 * HOUR_MS

    def test_run_makes_it_due_at_once(self, database: Database) -> None:
        job_id = add(database, DAILY, NOW + HOUR_MS)
        do(database, job_orders.run_now, job_id, at_ms=NOW)
        assert claimed(database).id == job_id
        with pytest.raises(JobRefused, match="is running: only a job that is pending or paused or failed"):
            do(database, job_orders.run_now, job_id)

    def test_a_failed_one_can_be_tried_again_unless_another_took_its_place(self, database: Database) -> None:
        job_id = add(database, replace(REFRESH, max_attempts=1))
        do(database, job_claims.finish, claimed(database), Verdict.FAILED, at_ms=NOW)
        other = add(database, REFRESH)
        with pytest.raises(JobRefused, match=f"because job {other} of its store and kind is active"):
            do(database, job_orders.retry, job_id)
        do(database, job_orders.cancel, other)
        do(database, job_orders.retry, job_id, at_ms=NOW)
        assert claimed(database, "again").id == job_id

    def test_one_of_a_store_file_can_t_be_cancelled_for_good(self, database: Database) -> None:
        do(database, job_plans.sync, "acme", [DAILY], at_ms=NOW)
        (job,) = [job for job in do(database, jobs.find) if job.kind == "refresh"]
        with pytest.raises(JobRefused, match=rf"\[schedule\].*scrapy jobs pause {job.id}"):
            do(database, job_orders.cancel, job.id)

    def test_a_job_that_isn_t_there(self, database: Database) -> None:
        with pytest.raises(ConfigurationError, match="no job 99"):
            do(database, job_orders.run_now, 99)


class TestPlans:
    def read(self, database: Database) -> None:
        """Have the store been read by a backfill."""
        run_id = do(database, runs.start, "acme", "backfill")
        do(database, runs.finish, run_id, RunStatus.COMPLETE, "", outcomes={})

    def test_a_store_that_was_never_read_gets_a_backfill_first(self, database: Database) -> None:
        do(database, job_plans.sync, "acme", [DAILY, replace(DAILY, kind="stage")], at_ms=NOW)
        assert claimed(database).kind == "backfill"
        assert claim(database, "second") is None, "the others come one interval later"
        assert claimed(database, "third", NOW + 24 * HOUR_MS).kind == "stage", "and a refresh not beside the backfill"

    def test_the_first_backfill_ends_with_the_first_that_is_complete(self, database: Database) -> None:
        do(database, job_plans.sync, "acme", [DAILY], at_ms=NOW)
        do(database, job_claims.finish, claimed(database), Verdict.DONE, at_ms=NOW)
        self.read(database)
        do(database, job_plans.sync, "acme", [DAILY], at_ms=NOW)
        assert statuses(database) == {"refresh": "pending", "backfill": "done"}

    def test_it_follows_the_file_and_is_harmless_when_done_again(self, database: Database) -> None:
        self.read(database)
        assert do(database, job_plans.sync, "acme", [DAILY], at_ms=NOW) == ["acme: refresh is planned"]
        assert do(database, job_plans.sync, "acme", [DAILY], at_ms=NOW) == []
        hourly = replace(DAILY, schedule=Schedule(every_ms=HOUR_MS))
        do(database, job_plans.sync, "acme", [hourly], at_ms=NOW + 1)
        job = only(database)
        assert (job.schedule, job.next_run_at, job.origin) == (hourly.schedule, NOW + HOUR_MS, FILE)
        do(database, job_plans.sync, "acme", [])
        assert only(database).status is JobStatus.CANCELLED
        do(database, job_plans.sync, "acme", [DAILY])
        assert [job.status.value for job in do(database, jobs.find)] == ["pending", "cancelled"]

    def test_a_paused_job_stays_paused_and_a_person_s_job_keeps_its_place(self, database: Database) -> None:
        self.read(database)
        do(database, job_plans.sync, "acme", [DAILY], at_ms=NOW)
        do(database, job_orders.pause, only(database).id)
        do(database, job_plans.sync, "acme", [replace(DAILY, priority=3)])
        assert (only(database).status, only(database).priority) == (JobStatus.PAUSED, 3)
        add(database, replace(REFRESH, kind="reparse"))
        weekly = replace(DAILY, kind="reparse", schedule=Schedule(every_ms=168 * HOUR_MS))
        do(database, job_plans.sync, "acme", [DAILY, weekly])
        assert {job.kind: job.origin for job in do(database, jobs.find)} == {"refresh": "file", "reparse": "person"}

    def test_stores_that_have_jobs_from_a_file_are_known(self, database: Database) -> None:
        do(database, job_plans.sync, "acme", [DAILY])
        assert do(database, job_plans.stores_with_plans) == ["acme"]


def test_times_are_the_database_s_in_utc_whatever_the_zone(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """Case I04: a worker in Tokyo doesn't take a job early."""
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    do(database, jobs.enqueue, DAILY)
    do(database, job_claims.claim, "first", ME, 60)
    with database.read() as conn:
        assert 0 < only(database).claim_expires_at - now_ms(conn) <= 60_000
