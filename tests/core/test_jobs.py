"""What becomes of a job when an attempt ends."""

from __future__ import annotations

import pytest

from storebot.core.jobs import (
    VERDICTS,
    Asked,
    JobStatus,
    Next,
    State,
    Verdict,
    back_off_ms,
    settle,
    verdict_of,
)
from storebot.core.schedule import Schedule
from storebot.exceptions import ExitCode

NOW = 1_000_000_000
HOUR_MS = 3_600_000
DAILY = Schedule(every_ms=24 * HOUR_MS)
SLOT = NOW - HOUR_MS  # of the present occurrence
TOMORROW = SLOT + 24 * HOUR_MS
ONCE, REPEATED = State(slot_at=SLOT), State(schedule=DAILY, slot_at=SLOT)


class TestVerdict:
    def test_every_exit_code_has_one(self) -> None:
        assert set(VERDICTS) == {int(code) for code in ExitCode}

    @pytest.mark.parametrize(
        ("code", "verdict"),
        [
            (0, Verdict.DONE),
            (7, Verdict.OVERLAP),
            (143, Verdict.STOPPED),
            (-9, Verdict.CRASHED),
            (None, Verdict.CRASHED),
        ],
    )
    def test_it_follows_from_the_exit_code(self, code: int | None, verdict: Verdict) -> None:
        assert verdict_of(code) is verdict

    def test_a_code_that_nobody_documented_is_a_failure(self) -> None:
        assert verdict_of(77) is Verdict.FAILED

    def test_a_job_that_was_stopped_for_its_time_is_that_whatever_it_says(self) -> None:
        assert verdict_of(143, timed_out=True) is Verdict.TIMED_OUT


class TestBackOff:
    def test_it_doubles_from_30_s_up_to_300_s(self) -> None:
        assert [back_off_ms(tries) // 1000 for tries in (1, 2, 3, 4, 5, 500)] == [30, 60, 120, 240, 300, 300]

    def test_after_five_attempts_it_has_failed(self) -> None:
        state, waits = ONCE, []
        for _ in range(4):
            found = settle(state, Verdict.FAILED, NOW)
            assert (found.status, found.run_at is None) == (JobStatus.PENDING, False)
            waits.append(((found.run_at or 0) - NOW) // 1000)
            state = state._replace(attempts=found.attempts)
        assert waits == [30, 60, 120, 240]
        assert settle(state, Verdict.FAILED, NOW) == Next(JobStatus.FAILED, None, SLOT, attempts=5, failures=1)

    def test_with_a_schedule_it_runs_again_at_its_next_slot_and_counts_the_failures_in_a_row(self) -> None:
        state = REPEATED._replace(attempts=4, failures=2)
        found = settle(state, Verdict.FAILED, NOW)
        assert found == Next(JobStatus.FAILED, TOMORROW, TOMORROW, attempts=5, failures=3)

    def test_one_that_ends_well_forgets_them(self) -> None:
        state = REPEATED._replace(attempts=4, failures=2, crashes=1, blocked=3)
        assert settle(state, Verdict.DONE, NOW) == Next(JobStatus.PENDING, TOMORROW, TOMORROW)

    def test_a_first_crash_is_tried_again_at_once_a_second_backs_off(self) -> None:
        first = settle(ONCE, Verdict.CRASHED, NOW)
        assert (first.run_at, first.attempts, first.crashes) == (NOW, 1, 1)
        second = settle(ONCE._replace(attempts=1, crashes=1), Verdict.CRASHED, NOW)
        assert (second.run_at, second.crashes) == (NOW + 60_000, 2)

    def test_wrong_use_is_not_tried_again(self) -> None:
        assert settle(ONCE, Verdict.MISUSED, NOW).status is JobStatus.FAILED
        assert settle(REPEATED, Verdict.MISUSED, NOW).run_at == TOMORROW, "the file may be mended by then"


class TestNoFailure:
    @pytest.mark.parametrize("verdict", [Verdict.OVERLAP, Verdict.STOPPED, Verdict.BLOCKED, Verdict.BUDGET])
    def test_it_takes_no_attempt(self, verdict: Verdict) -> None:
        found = settle(REPEATED._replace(attempts=2), verdict, NOW)
        assert (found.status, found.failures) == (JobStatus.PENDING, 0)
        assert found.attempts in (0, 2)

    def test_an_overlap_waits_five_minutes(self) -> None:
        assert settle(ONCE, Verdict.OVERLAP, NOW).run_at == NOW + 300_000

    def test_a_budget_resumes_at_the_next_slot_or_a_day_later(self) -> None:
        assert settle(REPEATED, Verdict.BUDGET, NOW).run_at == TOMORROW
        assert settle(ONCE, Verdict.BUDGET, NOW).run_at == NOW + 24 * HOUR_MS

    def test_a_store_that_blocks_is_left_alone_longer_each_time_and_the_job_is_never_given_up(self) -> None:
        """Case Q06: a network that is down looks the same, and must not use up a job's attempts."""
        state, waits = ONCE, []
        for _ in range(9):
            found = settle(state, Verdict.BLOCKED, NOW)
            assert found.status is JobStatus.PENDING
            waits.append(((found.run_at or 0) - NOW) / HOUR_MS)
            state = state._replace(blocked=found.blocked)
        assert waits == [0.5, 1, 2, 4, 8, 16, 24, 24, 24]

    def test_not_before_its_circuit_breaker_lets_it(self) -> None:
        assert settle(ONCE, Verdict.BLOCKED, NOW, not_before=NOW + 5 * HOUR_MS).run_at == NOW + 5 * HOUR_MS

    def test_stopped_by_its_worker_it_is_due_at_once_by_somebody_else_after_a_while(self) -> None:
        assert settle(REPEATED, Verdict.STOPPED, NOW, shutting_down=True).run_at == NOW
        assert settle(REPEATED, Verdict.STOPPED, NOW).run_at == NOW + 30_000

    @pytest.mark.parametrize("verdict", [Verdict.PARTIAL, Verdict.HELD])
    def test_partial_and_held_are_ends(self, verdict: Verdict) -> None:
        assert settle(ONCE, verdict, NOW).status is JobStatus.DONE
        assert settle(REPEATED, verdict, NOW).run_at == TOMORROW

    def test_a_partial_backfill_goes_on_after_an_hour_five_times(self) -> None:
        state = REPEATED._replace(goes_on=True)
        assert settle(state, Verdict.PARTIAL, NOW).run_at == NOW + HOUR_MS
        assert settle(state._replace(attempts=4), Verdict.PARTIAL, NOW).run_at == TOMORROW


class TestAsked:
    def test_cancelled_it_is_over_or_comes_again_at_its_slot(self) -> None:
        assert settle(ONCE._replace(asked=Asked.CANCEL), Verdict.STOPPED, NOW).status is JobStatus.CANCELLED
        again = settle(REPEATED._replace(asked=Asked.CANCEL), Verdict.STOPPED, NOW)
        assert (again.status, again.run_at) == (JobStatus.PENDING, TOMORROW)

    def test_cancelled_too_late_it_is_done(self) -> None:
        assert settle(ONCE._replace(asked=Asked.CANCEL), Verdict.DONE, NOW).status is JobStatus.DONE

    def test_paused_while_it_ran_it_rests_afterwards(self) -> None:
        found = settle(REPEATED._replace(asked=Asked.PAUSE), Verdict.DONE, NOW)
        assert (found.status, found.run_at) == (JobStatus.PAUSED, TOMORROW)


def test_a_retry_waits_for_the_end_of_the_blackout() -> None:
    night = Schedule(every_ms=24 * HOUR_MS, blackout=("00:00-23:00",))
    at = settle(State(schedule=night, slot_at=SLOT), Verdict.FAILED, NOW).run_at
    assert at is not None
    assert (at // 60_000) % (24 * 60) == 23 * 60
