"""The attempts of jobs: one row each, which the worker opens and closes, and the job's own process adds to."""

from __future__ import annotations

from dataclasses import dataclass, fields

from sqlalchemy import Connection, and_, delete, insert, select, update

from storebot.core.jobs import Verdict
from storebot.db.jobs import Job
from storebot.db.schema import job_runs
from storebot.db.types import AnyRow

_DAY_MS = 86_400_000


@dataclass(frozen=True, slots=True, kw_only=True)
class JobRun:
    """One attempt; ``finished_at`` is None while it runs, ``exit_code`` where none is known."""

    id: int
    job_id: int
    store: str
    kind: str
    token: str
    holder: str
    node: str
    log: str
    run_id: int
    started_at: int
    finished_at: int | None
    exit_code: int | None
    verdict: str
    reason: str


COLUMNS = tuple(job_runs.c[each.name] for each in fields(JobRun))


def begin(conn: Connection, job: Job, token: str, now: int) -> None:
    """Open the row of an attempt, in the transaction that claims its job."""
    row = {"job_id": job.id, "store": job.store, "kind": job.kind, "token": token, "started_at": now}
    conn.execute(insert(job_runs).values(row))


def note_start(conn: Connection, token: str, *, holder: str = "", node: str = "", log: str = "") -> None:
    """Say where an attempt runs, so that whoever finds its worker dead can stop it."""
    conn.execute(update(job_runs).where(job_runs.c.token == token).values(holder=holder, node=node, log=log))


def note_end(conn: Connection, token: str, exit_code: int, *, run_id: int = 0, reason: str = "") -> bool:
    """Say how an attempt ended, in its own process: its worker may be dead, or on another machine.

    False, with nothing written, where the attempt was closed before, or there is none.
    """
    mine = and_(job_runs.c.token == token, job_runs.c.finished_at.is_(None))
    values = {"exit_code": exit_code, "run_id": run_id, "reason": reason}
    return conn.execute(update(job_runs).where(mine).values(values)).rowcount == 1


def end(conn: Connection, token: str, verdict: Verdict, now: int, *, exit_code: int | None, reason: str) -> None:
    """Close an attempt. What its own process said of it stays where the worker knows nothing."""
    values: dict[str, object] = {"finished_at": now, "verdict": verdict.value}
    if exit_code is not None:
        values["exit_code"] = exit_code
    if reason:
        values["reason"] = reason
    conn.execute(update(job_runs).where(job_runs.c.token == token).values(values))


def forget(conn: Connection, token: str) -> None:
    """Drop an attempt that was never made."""
    conn.execute(delete(job_runs).where(job_runs.c.token == token))


def of_token(conn: Connection, token: str) -> JobRun | None:
    """Return one attempt."""
    row = conn.execute(select(*COLUMNS).where(job_runs.c.token == token)).one_or_none()
    return _run(row) if row else None


def history(
    conn: Connection, *, job_id: int | None = None, store: str | None = None, since_ms: int = 0, limit: int = 50
) -> list[JobRun]:
    """Return attempts, the newest first."""
    query = select(*COLUMNS).where(job_runs.c.started_at >= since_ms)
    if job_id is not None:
        query = query.where(job_runs.c.job_id == job_id)
    if store is not None:
        query = query.where(job_runs.c.store == store)
    return [_run(row) for row in conn.execute(query.order_by(job_runs.c.id.desc()).limit(limit))]


def prune(conn: Connection, now: int, keep_days: int) -> int:
    """Forget the attempts that ended so many days ago; return how many."""
    old = job_runs.c.finished_at < now - keep_days * _DAY_MS
    return conn.execute(delete(job_runs).where(old)).rowcount


def _run(row: AnyRow) -> JobRun:
    return JobRun(**row._mapping)
