"""What an operator does with a store as a whole: reset its breaker, pause and resume its jobs, run it now."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from storebot.core.jobs import JobStatus
from storebot.dashboard import store_files
from storebot.dashboard.view import Deed, Order, Told
from storebot.db import breakers, job_orders, jobs
from storebot.db.jobs import Job, Plan
from storebot.db.retry import retrying
from storebot.db.types import STORE_LENGTH, Connection
from storebot.exceptions import JobRefused

_KINDS = ("refresh", "backfill", "coverage")
_REVIVED = (JobStatus.PENDING, JobStatus.PAUSED, JobStatus.FAILED)


def _told(subject: str, *, needs_why: bool = False) -> Callable[[Order], Told]:
    def tell(order: Order) -> Told:
        why = order.one("why")
        if needs_why and not why:
            raise ValueError("why: say why, for who reads the audit; nothing was done")
        kind = _kind(order) if "{kind}" in subject else ""
        return Told(_store(order), subject.format(kind=kind), why)

    return tell


def _store(order: Order) -> str:
    name = order.path["store"]
    if len(name) > STORE_LENGTH:
        raise ValueError(f"there is no store of such a name: {name[:40]}")
    return name


def _kind(order: Order) -> str:
    kind = order.one("kind", "refresh")
    if kind not in _KINDS:
        raise ValueError(f"kind: expected one of {', '.join(_KINDS)}")
    return kind


def _reset(order: Order) -> str:
    store, why = _store(order), order.one("why")
    retrying(order.site.database, lambda conn: breakers.reset(conn, store, order.visitor.name, why))
    return "the next run asks the shop at once, with one request; its answer decides whether it goes on"


def _pause(order: Order) -> str:
    return _each(order, job_orders.pause, (JobStatus.PENDING, JobStatus.FAILED, JobStatus.RUNNING))


def _resume(order: Order) -> str:
    return _each(order, job_orders.resume, (JobStatus.PAUSED, JobStatus.RUNNING))


def _each(order: Order, verb: Callable[..., str], of: tuple[JobStatus, ...]) -> str:
    """Do it with each of the store's jobs that takes it; refused where none did."""
    store = _store(order)
    with order.site.database.explaining(), order.site.database.read() as conn:
        found = [job for job in jobs.find(conn, store=store, statuses=of) if job.schedule.repeats or _is_due(job)]
    if not found:
        raise JobRefused(
            f"{store} has no job that could be: who runs it without the worker (a cron) has to do it there"
        )
    done, refused = [], []
    for job in found:
        try:
            done.append(f"{job}: {retrying(order.site.database, partial(verb, job_id=job.id))}")
        except JobRefused as error:
            refused.append(str(error))
    if not done:
        raise JobRefused("; ".join(refused))
    return "; ".join((*done, *refused))


def _is_due(job: Job) -> bool:
    return job.status in (JobStatus.RUNNING, JobStatus.PAUSED) or job.next_run_at is not None


def _run(order: Order) -> str:
    store, kind = _store(order), _kind(order)
    file = store_files.read(store, order.site.folders)
    if file.store is None:
        raise JobRefused(f"{store} can't run: {file.error}")
    plan = Plan(store=store, kind=kind, time_limit_s=file.store.schedule.time_limit_s)

    def begin(conn: Connection) -> str:
        active = next((job for job in jobs.find(conn, store=store, statuses=_REVIVED) if job.kind == kind), None)
        if active is not None:
            return f"{active}: {job_orders.run_now(conn, active.id)}"
        return f"job {jobs.enqueue(conn, plan, by=order.visitor.name)} ({kind}) is added and due now"

    return f"{retrying(order.site.database, begin)}; a worker takes it within seconds (none? scrapy worker)"


DEEDS = (
    Deed("/stores/{store}/breaker", "reset_breaker", _told("its circuit breaker", needs_why=True), _reset),
    Deed("/stores/{store}/pause", "pause_store", _told("its jobs"), _pause),
    Deed("/stores/{store}/resume", "resume_store", _told("its jobs"), _resume),
    Deed("/stores/{store}/run", "run_store", _told("a {kind}"), _run),
)
