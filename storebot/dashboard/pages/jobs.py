"""Jobs: what is to run and when, what became of it, and what a person wants done with it."""

from __future__ import annotations

from typing import Any

from storebot.core.dashboard.calendar import Planned, calendar
from storebot.core.job_kinds import KINDS
from storebot.core.jobs import JobStatus
from storebot.core.pacing import as_duration
from storebot.dashboard import listing
from storebot.dashboard.pages.run import log_of
from storebot.dashboard.view import Ask, Choice, Facts, Listed, NotFound, Sort, View, moment
from storebot.db.board import jobs as board
from storebot.db.job_runs import JobRun
from storebot.db.jobs import Job

LISTED = Listed(
    sorts=(Sort("next", "runs next", (int, int)), Sort("id", "job", (int,), descending=True)),
    choices=(
        Choice("store", "Store"),
        Choice("kind", "Kind", tuple((kind, kind) for kind in KINDS)),
        Choice(
            "status",
            "Status",
            (("active", "that may run"), *((one.value, one.value) for one in JobStatus), ("all", "all")),
        ),
    ),
)
ATTEMPTS = Listed(sorts=(Sort("id", "began", (int,), descending=True),), per_page=30)
# Which deeds a job takes by its status: those that `db.job_orders` wouldn't refuse.
TAKES = {
    JobStatus.PENDING: ("run", "pause", "cancel"),
    JobStatus.RUNNING: ("pause", "cancel"),
    JobStatus.PAUSED: ("resume", "run", "cancel"),
    JobStatus.FAILED: ("retry", "run", "pause", "cancel"),
    JobStatus.DONE: ("retry",),
    JobStatus.CANCELLED: ("retry",),
}


def read(ask: Ask) -> Facts:
    """Return the jobs that fit, and the calendar of the coming days."""
    what = listing.asked(LISTED, ask.query)
    by = what.sort.name
    rows = board.listed(ask.conn, what.choices, what.after, by=by, descending=what.descending, limit=what.limit)

    def place(job: Job) -> tuple[int, ...]:
        return (job.next_run_at if job.next_run_at is not None else board.NEVER, job.id) if by == "next" else (job.id,)

    return {
        "list": listing.shown(LISTED, what, rows, place, lambda job: job_facts(job, ask.now_ms)),
        "calendar": _calendar(board.coming(ask.conn), ask.now_ms),
        "kinds": [*KINDS],
    }


def one(ask: Ask) -> Facts:
    """Return a job and its attempts."""
    job = _found(ask)
    what = listing.asked(ATTEMPTS, ask.query)
    rows = board.history(ask.conn, job.id, what.after, descending=what.descending, limit=what.limit)
    return {
        "job": job_facts(job, ask.now_ms),
        "list": listing.shown(ATTEMPTS, what, rows, lambda row: (row.id,), lambda row: _attempt(row, ask.now_ms)),
    }


def attempt(ask: Ask) -> Facts:
    """Return one attempt with the end of its log."""
    job, number = _found(ask), ask.number("attempt")
    found = board.attempt(ask.conn, job.id, number)
    if found is None:
        raise NotFound(f"{job} has no attempt {number}, or it's forgotten by now")
    return {"job": job_facts(job, ask.now_ms), "attempt": _attempt(found, ask.now_ms), "log": log_of(ask, found)}


def _found(ask: Ask) -> Job:
    number = ask.number("job")
    job = board.one(ask.conn, number)
    if job is None:
        raise NotFound(f"there is no job {number}")
    return job


def job_facts(job: Job, now_ms: int) -> Facts:
    """Return what is shown of a job."""
    running = job.status is JobStatus.RUNNING
    return {
        "id": job.id,
        "store": job.store,
        "kind": job.kind,
        "args": dict(job.args),
        "when": _when(job),
        "origin": job.origin,
        "status": job.status.value,
        "asked": job.asked.value,
        "next_run_at": moment(job.next_run_at),
        "overdue": not running and job.next_run_at is not None and job.next_run_at < now_ms,
        "started_at": moment(job.started_at),
        "finished_at": moment(job.finished_at),
        "done_at": moment(job.done_at),
        "claim_age_s": (now_ms - job.started_at) / 1000 if running else None,
        "claim_left_s": (job.claim_expires_at - now_ms) / 1000 if running else None,
        "holder": job.holder,
        "attempts": job.attempts,
        "max_attempts": job.max_attempts,
        "failures": job.failures,
        "priority": job.priority,
        "last_verdict": job.last_verdict,
        "last_error": job.last_error,
        "created_at": moment(job.created_at),
        "created_by": job.created_by,
        "takes": TAKES[job.status],
    }


def _when(job: Job) -> str:
    schedule = job.schedule
    text = schedule.cron or (f"every {as_duration(schedule.every_ms / 1000)}" if schedule.every_ms else "once")
    zone = f" ({schedule.timezone})" if schedule.cron and schedule.timezone != "UTC" else ""
    return text + zone + (f", not {', '.join(schedule.blackout)}" if schedule.blackout else "")


def _attempt(run: JobRun, now_ms: int) -> Facts:
    return {
        "id": run.id,
        "started_at": moment(run.started_at),
        "finished_at": moment(run.finished_at),
        "took_s": ((run.finished_at or now_ms) - run.started_at) / 1000,
        "verdict": run.verdict,
        "exit_code": run.exit_code,
        "run_id": run.run_id,
        "node": run.node,
        "reason": run.reason,
    }


def _calendar(coming: list[Job], now_ms: int) -> Facts:
    by_id = {job.id: job for job in coming}
    planned = [Planned(job.id, job.schedule, job.next_run_at or now_ms, job.slot_at) for job in coming]
    found = calendar(planned, now_ms)

    def named(job_id: int) -> dict[str, Any]:
        return {"id": job_id, "store": by_id[job_id].store, "kind": by_id[job_id].kind}

    return {
        "days": list(found.days),
        "hours": [
            {"hour": hour, "days": [[named(job_id) for job_id in cell] for cell in days]}
            for hour, days in found.hours.items()
        ],
        "often": [named(job_id) for job_id in found.often],
    }


VIEWS = (
    View("/jobs", "jobs", "jobs.html", read, LISTED),
    View("/jobs/{job:int}", "job", "job.html", one, ATTEMPTS),
    View("/jobs/{job:int}/attempts/{attempt:int}", "attempt", "job_attempt.html", attempt),
)
