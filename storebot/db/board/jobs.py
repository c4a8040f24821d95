"""Jobs as they are looked at: those that may run in the order in which they will, and the attempts of one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, Select, func, select

from storebot.core.dashboard.paging import Cursor
from storebot.core.jobs import JobStatus
from storebot.db import job_runs
from storebot.db.job_runs import JobRun
from storebot.db.jobs import COLUMNS, Job, job_of
from storebot.db.paging import go_on
from storebot.db.schema import job_runs as attempts
from storebot.db.schema import jobs

NEVER = 2**62
"""Stands for the next time of a job that has none, in the order of times."""
ACTIVE = (JobStatus.RUNNING.value, JobStatus.PENDING.value, JobStatus.PAUSED.value, JobStatus.FAILED.value)
_CALENDAR = 500  # jobs of which slots are shown


def listed(
    conn: Connection, choices: Mapping[str, str], after: Cursor | None, *, by: str, descending: bool, limit: int
) -> list[Job]:
    """Return jobs, one more than ``limit``; ``choices``: store, kind, status ("active" are those that may run).

    ``by``: "next", when they run next, or "id". The table has a row for each thing to run, not for each time.
    """
    query: Select[Any] = select(*COLUMNS)
    if store := choices.get("store"):
        query = query.where(jobs.c.store == store)
    if kind := choices.get("kind"):
        query = query.where(jobs.c.kind == kind)
    status = choices.get("status", "active")
    if status == "active":
        query = query.where(jobs.c.status.in_(ACTIVE))
    elif status != "all":
        query = query.where(jobs.c.status == status)
    order = [func.coalesce(jobs.c.next_run_at, NEVER), jobs.c.id] if by == "next" else [jobs.c.id]
    return [job_of(row) for row in conn.execute(go_on(query, order, after, descending=descending, limit=limit))]


def one(conn: Connection, job_id: int) -> Job | None:
    """Return a job."""
    row = conn.execute(select(*COLUMNS).where(jobs.c.id == job_id)).one_or_none()
    return job_of(row) if row else None


def coming(conn: Connection) -> list[Job]:
    """Return the jobs that run by themselves, those that come first; so many that a calendar has room for them."""
    waiting = (JobStatus.PENDING.value, JobStatus.FAILED.value, JobStatus.RUNNING.value)
    query = select(*COLUMNS).where(jobs.c.status.in_(waiting), jobs.c.next_run_at.is_not(None))
    rows = conn.execute(query.order_by(jobs.c.next_run_at, jobs.c.id).limit(_CALENDAR))
    return [job_of(row) for row in rows]


def history(conn: Connection, job_id: int, after: Cursor | None, *, descending: bool, limit: int) -> list[JobRun]:
    """Return the attempts of a job, one more than ``limit``."""
    query = select(*job_runs.COLUMNS).where(attempts.c.job_id == job_id)
    found = conn.execute(go_on(query, [attempts.c.id], after, descending=descending, limit=limit))
    return [JobRun(**row._mapping) for row in found]


def attempt(conn: Connection, job_id: int, attempt_id: int) -> JobRun | None:
    """Return one attempt of a job."""
    mine = (attempts.c.id == attempt_id) & (attempts.c.job_id == job_id)
    row = conn.execute(select(*job_runs.COLUMNS).where(mine)).one_or_none()
    return JobRun(**row._mapping) if row else None
