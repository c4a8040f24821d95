"""The jobs that the store files ask for: added, changed and taken out as ``[schedule]`` says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import orjson
from sqlalchemy import Connection, select, update

from storebot.core.jobs import JobStatus
from storebot.core.schedule import next_slot
from storebot.db.dialects import now_ms
from storebot.db.jobs import COLUMNS, FILE, Job, Plan, add_missing, job_of, row_of
from storebot.db.schema import jobs, runs
from storebot.items import RunStatus

_READ = (RunStatus.COMPLETE.value, RunStatus.HELD.value)
_URGENT = 100  # how much more than the file says the first backfill is
_DAY_MS = 86_400_000


def sync(
    conn: Connection, store: str, plans: Sequence[Plan], *, chance: float = 0.0, at_ms: int | None = None
) -> list[str]:
    """Bring the store's jobs to what its file says now; return a sentence for each that changed.

    A changed line takes effect for the next slot. A job that isn't in the file any more is taken out when its
    occurrence has ended. A job that a person added keeps its place; the file's comes when that has ended. A store that
    is to be crawled, and that no backfill has read to its end, gets one at once, and daily until one does; the first
    slot of the others is one interval later. Harmless when two workers do it.
    """
    now = now_ms(conn) if at_ms is None else at_ms
    first = _first_backfill(conn, store, plans)
    wanted = {plan.kind: plan for plan in (*plans, *first)}
    active = {job.kind: job for job in _active(conn, store)}
    said: list[str] = []
    for kind, plan in wanted.items():
        job, at_once = active.get(kind), plan in first
        if job is None:
            last = now if first and not at_once else 0
            add_missing(conn, row_of(plan, now, origin=FILE, chance=chance, last=last, at_once=at_once))
            said.append(f"{store}: {kind} is planned")
        elif job.origin == FILE and _differs(job, plan):
            _change(conn, job, plan, now, chance)
            said.append(f"{store}: {kind} is planned anew")
    for kind, job in active.items():
        if job.origin == FILE and kind not in wanted and job.status is not JobStatus.RUNNING and not job.attempts:
            status = JobStatus.DONE if job.done_at else JobStatus.CANCELLED
            gone: dict[str, Any] = {"status": status.value, "active_key": None, "next_run_at": None}
            as_it_was = (jobs.c.id == job.id) & (
                jobs.c.status == job.status.value
            )  # another worker may have claimed it
            if conn.execute(update(jobs).where(as_it_was).values(gone)).rowcount != 1:
                continue
            said.append(f"{store}: {kind} isn't planned any more")
    return said


def stores_with_plans(conn: Connection) -> list[str]:
    """Return the stores that have an active job from a file, whether or not the file is still there."""
    mine = (jobs.c.origin == FILE) & jobs.c.active_key.is_not(None)
    return list(conn.execute(select(jobs.c.store).where(mine).distinct().order_by(jobs.c.store)).scalars())


def _first_backfill(conn: Connection, store: str, plans: Sequence[Plan]) -> list[Plan]:
    """Return the backfill of a store that none has read: a refresh would read it all, by the rules of a refresh."""
    crawls = [plan for plan in plans if plan.kind in ("refresh", "backfill")]
    read = (runs.c.store == store) & (runs.c.kind == "backfill") & runs.c.status.in_(_READ)
    if not crawls or conn.execute(select(runs.c.id).where(read).limit(1)).first() is not None:
        return []
    like = next((plan for plan in crawls if plan.kind == "backfill"), crawls[0])
    daily = replace(like.schedule, every_ms=_DAY_MS, cron="")
    return [replace(like, kind="backfill", args={}, schedule=daily, priority=like.priority + _URGENT)]


def _active(conn: Connection, store: str) -> list[Job]:
    mine = (jobs.c.store == store) & jobs.c.active_key.is_not(None)
    return [job_of(row) for row in conn.execute(select(*COLUMNS).where(mine))]


def _differs(job: Job, plan: Plan) -> bool:
    names = ("args", "schedule", "priority", "time_limit_s")
    return any(getattr(job, name) != getattr(plan, name) for name in names)


def _change(conn: Connection, job: Job, plan: Plan, now: int, chance: float) -> None:
    values: dict[str, Any] = {
        "args": orjson.dumps(dict(plan.args)).decode(),
        "schedule": plan.schedule.as_text(),
        "priority": plan.priority,
        "time_limit_s": plan.time_limit_s,
    }
    moved = job.schedule != plan.schedule and job.status is not JobStatus.RUNNING and not job.attempts
    if moved and (slot := next_slot(plan.schedule, now, job.slot_at, chance)):
        values |= {"next_run_at": slot.run_at, "slot_at": slot.at}
    conn.execute(update(jobs).where(jobs.c.id == job.id).values(values))
