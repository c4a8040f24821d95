"""What a person does with jobs: run now, pause, resume, cancel, retry. A job that can't be changed so is refused."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, and_, select, update

from storebot.core.jobs import Asked, JobStatus
from storebot.core.schedule import next_slot
from storebot.db.dialects import now_ms
from storebot.db.jobs import COLUMNS, FILE, Job, active_key, job_of
from storebot.db.schema import jobs
from storebot.exceptions import ConfigurationError, JobRefused

_P = JobStatus


def run_now(conn: Connection, job_id: int, *, at_ms: int | None = None) -> str:
    """Have a job be due at once, whatever its schedule or a blackout says; return what was done."""
    job = _locked(conn, job_id)
    _expect(job, "run", _P.PENDING, _P.PAUSED, _P.FAILED)
    _revive(conn, job, {"next_run_at": _now(conn, at_ms)})
    return "due now"


def retry(conn: Connection, job_id: int, *, at_ms: int | None = None) -> str:
    """Have a job that was given up be due at once, with all its attempts."""
    job = _locked(conn, job_id)
    _expect(job, "retry", _P.FAILED, _P.CANCELLED, _P.DONE)
    _revive(conn, job, {"next_run_at": _now(conn, at_ms)})
    return "due now"


def pause(conn: Connection, job_id: int, *, at_ms: int | None = None) -> str:
    """Keep a job from running until it's resumed; one that runs may end first."""
    job = _locked(conn, job_id)
    _expect(job, "pause", _P.PENDING, _P.FAILED, _P.RUNNING)
    if job.status is _P.RUNNING:
        _update(conn, job, {"asked": Asked.PAUSE.value})
        return "paused when it ends"
    if job.next_run_at is None:
        raise JobRefused(f"{job} has failed and won't run by itself: there is nothing to pause")
    _update(conn, job, {"status": _P.PAUSED.value})
    return "paused"


def resume(conn: Connection, job_id: int, *, at_ms: int | None = None) -> str:
    """Let a paused job run again: at its next slot, or at once if it runs once."""
    job = _locked(conn, job_id)
    if job.status is _P.RUNNING and job.asked is Asked.PAUSE:
        _update(conn, job, {"asked": Asked.NOTHING.value})
        return "goes on"
    _expect(job, "resume", _P.PAUSED)
    now = _now(conn, at_ms)
    slot = next_slot(job.schedule, now, job.slot_at)
    times = {"next_run_at": slot.run_at, "slot_at": slot.at} if slot else {"next_run_at": now}
    _update(conn, job, {"status": _P.PENDING.value, **times})
    return "resumed"


def cancel(conn: Connection, job_id: int, *, at_ms: int | None = None) -> str:
    """End a job. One that runs is stopped gracefully; with a schedule it comes again at its next slot."""
    job = _locked(conn, job_id)
    _expect(job, "cancel", _P.PENDING, _P.PAUSED, _P.FAILED, _P.RUNNING)
    if job.status is _P.RUNNING:
        _update(conn, job, {"asked": Asked.CANCEL.value})
        return "being stopped"
    if job.origin == FILE and job.schedule.repeats:
        raise JobRefused(
            f"{job} comes from [schedule] of the store file and would come back: take its line out there, "
            f"or: scrapy jobs pause {job.id}"
        )
    _update(conn, job, {"status": _P.CANCELLED.value, "active_key": None, "next_run_at": None})
    return "cancelled"


ORDERS = {"run": run_now, "retry": retry, "pause": pause, "resume": resume, "cancel": cancel}


def _locked(conn: Connection, job_id: int) -> Job:
    row = conn.execute(select(*COLUMNS).where(jobs.c.id == job_id).with_for_update()).one_or_none()
    if row is None:
        raise ConfigurationError(f"there is no job {job_id}: scrapy jobs list")
    return job_of(row)


def _expect(job: Job, verb: str, *statuses: JobStatus) -> None:
    if job.status not in statuses:
        raise JobRefused(f"{job} is {job.status.value}: only a job that is {_either(statuses)} takes `{verb}`")


def _either(statuses: tuple[JobStatus, ...]) -> str:
    return " or ".join(status.value for status in statuses)


def _revive(conn: Connection, job: Job, times: dict[str, Any]) -> None:
    """Make a job pending, with all its attempts; refused where another took its place meanwhile."""
    other = and_(jobs.c.active_key == active_key(job), jobs.c.id != job.id)
    if (found := conn.execute(select(jobs.c.id).where(other)).scalar()) is not None:
        raise JobRefused(f"{job} can't come back, because job {found} of its store and kind is active")
    fresh = {"attempts": 0, "crashes": 0, "blocked": 0, "active_key": active_key(job)}
    _update(conn, job, {"status": JobStatus.PENDING.value, **fresh, **times})


def _update(conn: Connection, job: Job, values: dict[str, Any]) -> None:
    conn.execute(update(jobs).where(jobs.c.id == job.id).values(values))


def _now(conn: Connection, at_ms: int | None) -> int:
    return now_ms(conn) if at_ms is None else at_ms
