"""What the page about storebot itself reads of the database: its size, who works, what failed last."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from sqlalchemy import Connection, func, select, text

from storebot.core.jobs import JobStatus, Verdict
from storebot.db import migrate
from storebot.db.addresses import shown
from storebot.db.database import Database
from storebot.db.dialects import family
from storebot.db.job_runs import JobRun, history
from storebot.db.jobs import COLUMNS, Job, job_of
from storebot.db.schema import job_runs, jobs, outbox, runs
from storebot.items import RunStatus

_LOOKED = 200  # of the newest attempts and runs, that are searched for one that failed
_FAILED = (Verdict.FAILED.value, Verdict.MISUSED.value, Verdict.CRASHED.value, Verdict.TIMED_OUT.value)
_SIZE = {
    "sqlite": text("SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()"),
    "mysql": text(
        "SELECT SUM(data_length + index_length) FROM information_schema.tables WHERE table_schema = DATABASE()"
    ),
    "postgresql": text("SELECT pg_database_size(current_database())"),
}
_VERSION = {"sqlite": text("SELECT sqlite_version()"), "mysql": text("SELECT VERSION()")}
_VERSION["postgresql"] = text("SHOW server_version")


class Standing(NamedTuple):
    """The database. ``log_bytes``: of SQLite's write-ahead log, None where there is none."""

    name: str
    kind: str
    version: str
    revision: str | None
    size_bytes: int
    log_bytes: int | None


class FailedRun(NamedTuple):
    """The newest run that failed."""

    id: int
    store: str
    kind: str
    reason: str
    started_at: int


def standing(conn: Connection, database: Database) -> Standing:
    """Return how the database stands."""
    dialect = family(conn)
    log = Path(f"{database.url.database}-wal") if dialect == "sqlite" else None
    return Standing(
        name=shown(database.url),
        kind=conn.dialect.name,
        version=str(conn.execute(_VERSION[dialect]).scalar_one()),
        revision=migrate.revision_of(conn),
        size_bytes=int(conn.execute(_SIZE[dialect]).scalar() or 0),
        log_bytes=_size_of(log),
    )


def running_jobs(conn: Connection) -> list[Job]:
    """Return the jobs that a worker has claimed, the longest first."""
    query = select(*COLUMNS).where(jobs.c.status == JobStatus.RUNNING.value).order_by(jobs.c.started_at, jobs.c.id)
    return [job_of(row) for row in conn.execute(query)]


def last_attempt(conn: Connection) -> int:
    """Return when a worker last began a job; 0: never."""
    newest = select(job_runs.c.started_at).order_by(job_runs.c.id.desc()).limit(1)
    return int(conn.execute(newest).scalar() or 0)


def last_failure(conn: Connection) -> JobRun | None:
    """Return the newest attempt at a job that failed, among the newest of all."""
    return next((one for one in history(conn, limit=_LOOKED) if one.verdict in _FAILED), None)


def last_failed_run(conn: Connection) -> FailedRun | None:
    """Return the newest run that failed, among the newest of all."""
    newest = select(runs).order_by(runs.c.id.desc()).limit(_LOOKED).subquery()
    columns = (newest.c.id, newest.c.store, newest.c.kind, newest.c.reason, newest.c.started_at)
    query = select(*columns).where(newest.c.status == RunStatus.FAILED.value).order_by(newest.c.id.desc()).limit(1)
    row = conn.execute(query).one_or_none()
    return FailedRun(*row) if row else None


def oldest_waiting(conn: Connection) -> int:
    """Return since when the message waits that waits longest; 0: none does."""
    query = select(func.min(outbox.c.created_at)).where(outbox.c.status == "waiting")
    return int(conn.execute(query).scalar() or 0)


def _size_of(path: Path | None) -> int | None:
    try:
        return path.stat().st_size if path else None
    except OSError:  # nothing has written since it was closed last
        return 0
