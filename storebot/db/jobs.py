"""Jobs: one row for each thing that is to run, now or by a schedule. Who runs it: `job_claims`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields

import orjson
from sqlalchemy import Connection, func, insert, select
from sqlalchemy.exc import IntegrityError

from storebot.core.job_kinds import KINDS, check_job
from storebot.core.jobs import MAX_ATTEMPTS, Asked, JobStatus, State
from storebot.core.schedule import Schedule, allowed, next_slot
from storebot.db.dialects import insert_missing, now_ms
from storebot.db.schema import jobs
from storebot.db.types import AnyRow
from storebot.exceptions import JobRefused

FILE, PERSON = "file", "person"
_ONCE = Schedule()
WAITING = (JobStatus.PENDING.value, JobStatus.FAILED.value)  # with a next_run_at: to be claimed then


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What somebody wants to run: a line of ``[schedule]``, or `scrapy jobs add`."""

    store: str  # "": all stores
    kind: str
    args: Mapping[str, str] = field(default_factory=dict)
    schedule: Schedule = _ONCE
    priority: int = 0  # the highest first
    time_limit_s: int
    max_attempts: int = MAX_ATTEMPTS


@dataclass(frozen=True, slots=True, kw_only=True)
class Job(Plan):
    """One row of `jobs`; its columns are explained in the schema. Times are milliseconds."""

    id: int
    origin: str
    status: JobStatus
    next_run_at: int | None
    slot_at: int
    attempts: int
    crashes: int
    blocked: int
    failures: int
    claim_token: str
    claim_expires_at: int
    holder: str
    asked: Asked
    started_at: int
    finished_at: int
    done_at: int
    last_verdict: str
    last_error: str
    created_at: int
    created_by: str

    @property
    def state(self) -> State:
        """What `core.jobs.settle` decides by."""
        return State(
            schedule=self.schedule,
            goes_on=self.kind in KINDS and KINDS[self.kind].goes_on,
            slot_at=self.slot_at,
            attempts=self.attempts,
            max_attempts=self.max_attempts,
            crashes=self.crashes,
            blocked=self.blocked,
            failures=self.failures,
            asked=self.asked,
        )

    @property
    def given_back(self) -> bool:
        """Whether, when it was due, no process or node could be had for it; `last_error` says why."""
        return self.status is not JobStatus.RUNNING and self.started_at > self.finished_at

    def __str__(self) -> str:
        return f"job {self.id} ({self.kind}{' of ' + self.store if self.store else ''})"


COLUMNS = tuple(jobs.c[each.name] for each in fields(Job))


def enqueue(
    conn: Connection, plan: Plan, *, origin: str = PERSON, by: str = "", chance: float = 0.0, at_ms: int | None = None
) -> int:
    """Add a job, to run at its first slot or at once; return its number.

    Raises `JobRefused`, naming the other, where one of the same store and kind is active: none is ever stacked on it.
    ConfigurationError for what no job can be. ``at_ms`` is the database's clock without it.
    """
    check_job(plan.kind, plan.store, plan.args)
    row = row_of(plan, now_ms(conn) if at_ms is None else at_ms, origin=origin, by=by, chance=chance)
    try:
        with conn.begin_nested():
            (job_id,) = conn.execute(insert(jobs).values(row)).inserted_primary_key or (0,)
            return int(job_id)
    except IntegrityError as error:
        found = _active(conn, plan)
        if found is None:  # it ended just now, or another key of the row is at fault
            raise
        raise JobRefused(_refusal(found)) from error


def add_missing(conn: Connection, row: Mapping[str, object]) -> None:
    """Add a row of `row_of`, unless one of its store and kind is active."""
    insert_missing(conn, jobs, [row])


def row_of(
    plan: Plan, now: int, *, origin: str, by: str = "", chance: float = 0.0, last: int = 0, at_once: bool = False
) -> dict[str, object]:
    """Return the row of a new job, which is due at its first slot; ``at_once``, or without a slot, outside a blackout.

    ``last`` is when it counts as done, so that the first slot of ``every`` comes later.
    """
    slot = None if at_once else next_slot(plan.schedule, now, last, chance)
    return {
        "store": plan.store,
        "kind": plan.kind,
        "args": orjson.dumps(dict(plan.args)).decode(),
        "schedule": plan.schedule.as_text(),
        "origin": origin,
        "status": JobStatus.PENDING.value,
        "active_key": active_key(plan),
        "priority": plan.priority,
        "next_run_at": slot.run_at if slot else allowed(plan.schedule, now),
        "slot_at": slot.at if slot else now,
        "max_attempts": plan.max_attempts,
        "time_limit_s": plan.time_limit_s,
        "created_at": now,
        "created_by": by,
    }


def active_key(plan: Plan) -> str:
    """Return what no two active jobs have in common."""
    return f"{plan.store}|{plan.kind}"


def find(
    conn: Connection, *, store: str | None = None, statuses: Iterable[JobStatus] = (), ids: Sequence[int] = ()
) -> list[Job]:
    """Return jobs in the order in which they run: those that have a time first. Without a filter all of them."""
    query = select(*COLUMNS)
    if store is not None:
        query = query.where(jobs.c.store == store)
    if wanted := [status.value for status in statuses]:
        query = query.where(jobs.c.status.in_(wanted))
    if ids:
        query = query.where(jobs.c.id.in_(ids))
    last = func.coalesce(jobs.c.next_run_at, 2**62)
    return [job_of(row) for row in conn.execute(query.order_by(last, jobs.c.priority.desc(), jobs.c.id))]


def failing(conn: Connection, at_least: int = 1) -> list[Job]:
    """Return the jobs whose last so many occurrences were all given up; not those that a person took out."""
    live = jobs.c.status.not_in([JobStatus.CANCELLED.value, JobStatus.PAUSED.value])
    query = select(*COLUMNS).where(jobs.c.failures >= at_least, live).order_by(jobs.c.id)
    return [job_of(row) for row in conn.execute(query)]


def overdue(conn: Connection, now: int, grace_ms: int) -> list[Job]:
    """Return the jobs that should have begun longer ago than ``grace_ms``.

    No worker runs, or all of them are busy, or no place takes them: those were given back, and are tried each minute.
    """
    given_back = (jobs.c.started_at > jobs.c.finished_at) & (jobs.c.slot_at < now - grace_ms)
    late = jobs.c.status.in_(WAITING) & ((jobs.c.next_run_at < now - grace_ms) | given_back)
    return [job_of(row) for row in conn.execute(select(*COLUMNS).where(late).order_by(jobs.c.next_run_at))]


def counts(conn: Connection) -> dict[tuple[str, str], int]:
    """Count the jobs by kind and status."""
    query = select(jobs.c.kind, jobs.c.status, func.count()).group_by(jobs.c.kind, jobs.c.status)
    return {(kind, status): int(count) for kind, status, count in conn.execute(query)}


def job_of(row: AnyRow) -> Job:
    """Return a row of `COLUMNS` as a job."""
    said = dict(row._mapping)
    return Job(
        **{
            **said,
            "args": orjson.loads(said["args"] or "{}"),
            "schedule": Schedule.read(said["schedule"]),
            "status": JobStatus(said["status"]),
            "asked": Asked(said["asked"]),
        }
    )


def _refusal(found: Job) -> str:
    if found.status is JobStatus.RUNNING:
        return f"{found} is running: no second one is stacked on it"
    hint = "resume" if found.status is JobStatus.PAUSED else "run"
    return f"{found} does that already and is {found.status.value}: scrapy jobs {hint} {found.id}"


def _active(conn: Connection, plan: Plan) -> Job | None:
    query = select(*COLUMNS).where(jobs.c.active_key == active_key(plan))
    row = conn.execute(query).one_or_none()
    return job_of(row) if row else None
