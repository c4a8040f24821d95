"""What becomes of a job when an attempt at it ends: by its exit code, and by what was asked of it meanwhile.

The table of docs/operating.md is `VERDICTS`. Times are milliseconds since the epoch, UTC.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from storebot.core.schedule import Schedule, allowed, next_slot
from storebot.exceptions import ExitCode

BACK_OFF_MS = 30_000
LONGEST_BACK_OFF_MS = 300_000
BLOCKED_MS = 30 * 60_000
LONGEST_BLOCKED_MS = 24 * 3_600_000
OVERLAP_MS = 300_000
PARTIAL_MS = 3_600_000  # as STOREBOT_ERROR_BACKOFF_S: pages that failed aren't due before
BUDGET_MS = 24 * 3_600_000
MAX_ATTEMPTS = 5


class JobStatus(StrEnum):
    """What a job is. ``done`` and ``cancelled`` are final; ``failed`` is, unless a schedule has another slot."""

    PENDING = "pending"
    RUNNING = "running"
    PAUSED = "paused"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


class Asked(StrEnum):
    """What a person wants of a job that runs."""

    NOTHING = ""
    CANCEL = "cancel"
    PAUSE = "pause"


class Verdict(StrEnum):
    """How an attempt ended."""

    DONE = "done"
    PARTIAL = "partial"
    HELD = "held"
    BUDGET = "budget"
    BLOCKED = "blocked"
    OVERLAP = "overlap"
    STOPPED = "stopped"
    FAILED = "failed"
    MISUSED = "misused"
    CRASHED = "crashed"
    TIMED_OUT = "timed_out"


VERDICTS: dict[int, Verdict] = {
    ExitCode.COMPLETE: Verdict.DONE,
    ExitCode.INTERNAL_ERROR: Verdict.FAILED,
    ExitCode.USAGE: Verdict.MISUSED,
    ExitCode.PARTIAL: Verdict.PARTIAL,
    ExitCode.BLOCKED: Verdict.BLOCKED,
    ExitCode.HELD: Verdict.HELD,
    ExitCode.BUDGET: Verdict.BUDGET,
    ExitCode.BUSY: Verdict.OVERLAP,
    ExitCode.DATABASE: Verdict.FAILED,
    ExitCode.SIGINT: Verdict.STOPPED,
    ExitCode.SIGTERM: Verdict.STOPPED,
}


class State(NamedTuple):
    """What decides of a job beside its verdict. Counts are those before the attempt ended."""

    schedule: Schedule = Schedule()
    goes_on: bool = False  # a partial attempt is worth another before the next slot: core.job_kinds
    slot_at: int = 0
    attempts: int = 0
    max_attempts: int = MAX_ATTEMPTS
    crashes: int = 0
    blocked: int = 0
    failures: int = 0
    asked: Asked = Asked.NOTHING


class Next(NamedTuple):
    """What a job is from then on; ``run_at`` is None for one that won't run by itself."""

    status: JobStatus
    run_at: int | None
    slot_at: int
    attempts: int = 0
    crashes: int = 0
    blocked: int = 0
    failures: int = 0


def verdict_of(exit_code: int | None, *, timed_out: bool = False) -> Verdict:
    """Return how an attempt ended; None, or a code below nought, is a process that was killed."""
    if timed_out:
        return Verdict.TIMED_OUT
    if exit_code is None or exit_code < 0:
        return Verdict.CRASHED
    return VERDICTS.get(exit_code, Verdict.FAILED)


def back_off_ms(attempts: int) -> int:
    """Return how long a job waits after so many failed attempts (1 or more): 30 s, doubled each time, 300 s at most."""
    return min(BACK_OFF_MS << min(attempts - 1, 16), LONGEST_BACK_OFF_MS)


def settle(
    job: State, verdict: Verdict, now: int, *, chance: float = 0.0, shutting_down: bool = False, not_before: int = 0
) -> Next:
    """Return what becomes of a job whose attempt ended at ``now``.

    ``shutting_down``: its worker stopped it to end itself. ``not_before``: until then the shop's circuit breaker is
    open. ``chance`` (0 to 1) draws the jitter of the next slot.
    """
    if job.asked is Asked.CANCEL and verdict is not Verdict.DONE:
        return _ended(job, now, chance, over=JobStatus.CANCELLED)
    found = _settled(job, verdict, now, chance, shutting_down, not_before)
    if job.asked is Asked.PAUSE and found.status in (JobStatus.PENDING, JobStatus.FAILED) and found.run_at is not None:
        return found._replace(status=JobStatus.PAUSED)
    return found


def _settled(job: State, verdict: Verdict, now: int, chance: float, shutting_down: bool, not_before: int) -> Next:
    match verdict:
        case Verdict.DONE | Verdict.HELD:
            return _ended(job, now, chance)
        case Verdict.PARTIAL:
            if job.goes_on and job.attempts + 1 < job.max_attempts:
                return _again(job, now + PARTIAL_MS, attempts=job.attempts + 1)
            return _ended(job, now, chance)
        case Verdict.BUDGET:
            slot = next_slot(job.schedule, now, job.slot_at, chance)
            return Next(JobStatus.PENDING, slot.run_at, slot.at) if slot else _again(job, now + BUDGET_MS)
        case Verdict.OVERLAP:
            return _again(job, now + OVERLAP_MS)
        case Verdict.STOPPED:
            return _again(job, now if shutting_down else now + BACK_OFF_MS)
        case Verdict.BLOCKED:
            wait = min(BLOCKED_MS << min(job.blocked, 16), LONGEST_BLOCKED_MS)
            return _again(job, max(now + wait, not_before), blocked=job.blocked + 1)
        case Verdict.MISUSED:
            return _given_up(job, now, chance)
    crashes = job.crashes + 1 if verdict is Verdict.CRASHED else 0
    if job.attempts + 1 >= job.max_attempts:
        return _given_up(job, now, chance)
    # A first crash says something of the machine (a reboot, a deployment), sooner than of the job.
    wait = 0 if crashes == 1 else back_off_ms(job.attempts + 1)
    return _again(job, now + wait, attempts=job.attempts + 1, crashes=crashes)


def _again(job: State, at: int, **counts: int) -> Next:
    """The same occurrence once more, outside the blackout; what isn't in ``counts`` stays."""
    kept = {"attempts": job.attempts, "crashes": job.crashes, "blocked": job.blocked, "failures": job.failures}
    return Next(JobStatus.PENDING, allowed(job.schedule, at), job.slot_at, **{**kept, **counts})


def _ended(job: State, now: int, chance: float, over: JobStatus = JobStatus.DONE) -> Next:
    slot = next_slot(job.schedule, now, job.slot_at, chance)
    return Next(JobStatus.PENDING, slot.run_at, slot.at) if slot else Next(over, None, job.slot_at)


def _given_up(job: State, now: int, chance: float) -> Next:
    """Failed; a schedule tries again at its next slot, because a night without network must not end a plan."""
    slot = next_slot(job.schedule, now, job.slot_at, chance)
    failures, attempts = job.failures + 1, min(job.attempts + 1, job.max_attempts)
    if slot is None:
        return Next(JobStatus.FAILED, None, job.slot_at, attempts=attempts, failures=failures)
    return Next(JobStatus.FAILED, slot.run_at, slot.at, attempts=attempts, failures=failures)
