"""Who runs a job: claims under a token that expires by the database's clock, and what is written at their end."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import Any

from sqlalchemy import ColumnElement, Connection, and_, or_, select, update

from storebot.core.job_kinds import KINDS
from storebot.core.jobs import JobStatus, Next, Verdict, settle
from storebot.db import breakers, job_runs
from storebot.db.dialects import family, now_ms
from storebot.db.holders import Holder
from storebot.db.jobs import COLUMNS, WAITING, Job, job_of
from storebot.db.schema import jobs
from storebot.exceptions import ClaimLost

_RUNNING = jobs.c.status == JobStatus.RUNNING.value
_EXCLUSIVE = [name for name, kind in KINDS.items() if kind.exclusive]
_ORDER = (jobs.c.priority.desc(), jobs.c.next_run_at, jobs.c.id)


def claim(
    conn: Connection,
    token: str,
    holder: Holder,
    ttl_s: float,
    *,
    kinds: Collection[str] | None = None,
    at_ms: int | None = None,
) -> Job | None:
    """Claim the job that is due and comes first, for ``ttl_s``; None where none is due.

    Of two workers one gets it: SQLite claims under its write lock, the servers skip rows that another one has locked.
    A store that a job of an exclusive kind works on is left to it; that one slips through is harmless, because the
    store's lease refuses it. A job that was given up starts its next occurrence with all its attempts.
    """
    now = now_ms(conn) if at_ms is None else at_ms
    free = and_(jobs.c.status.in_(WAITING), jobs.c.next_run_at <= now, *_not_busy(conn))
    if kinds is not None:
        free = and_(free, jobs.c.kind.in_(list(kinds)))
    first = select(*COLUMNS).where(free).order_by(*_ORDER).limit(1)
    if family(conn) != "sqlite":
        first = first.with_for_update(skip_locked=True)
    row = conn.execute(first).one_or_none()
    if row is None:
        return None
    taken: dict[str, Any] = {
        "status": JobStatus.RUNNING.value,
        "claim_token": token,
        "claim_expires_at": now + _ms(ttl_s),
        "holder": str(holder),
        "asked": "",
        "started_at": now,
    }
    if row.status == JobStatus.FAILED.value:
        taken |= {"attempts": 0, "crashes": 0}
    conn.execute(update(jobs).where(jobs.c.id == row.id).values(taken))
    job = job_of(conn.execute(select(*COLUMNS).where(jobs.c.id == row.id)).one())
    job_runs.begin(conn, job, token, now)
    return job


def beat(
    conn: Connection, tokens: Iterable[str], holder: Holder, ttl_s: float, *, at_ms: int | None = None
) -> dict[str, str]:
    """Keep claims for ``ttl_s`` from now; return what is asked of each. One that isn't in it was lost."""
    held = and_(_RUNNING, jobs.c.claim_token.in_(list(tokens)), jobs.c.holder == str(holder))
    now = now_ms(conn) if at_ms is None else at_ms
    conn.execute(update(jobs).where(held).values(claim_expires_at=now + _ms(ttl_s)))
    return {row.claim_token: row.asked for row in conn.execute(select(jobs.c.claim_token, jobs.c.asked).where(held))}


def leave(conn: Connection, tokens: Iterable[str], holder: Holder, *, at_ms: int | None = None) -> None:
    """Let claims expire now, whose attempts go on without their worker: the next one takes them over."""
    held = and_(_RUNNING, jobs.c.claim_token.in_(list(tokens)), jobs.c.holder == str(holder))
    conn.execute(update(jobs).where(held).values(claim_expires_at=now_ms(conn) if at_ms is None else at_ms))


def take_over(conn: Connection, job: Job, holder: Holder, ttl_s: float, *, at_ms: int | None = None) -> Job | None:
    """Take over one of `orphans` whose attempt goes on, under its token; None where another worker was faster.

    From then on the worker that had it neither keeps it nor writes how it ended.
    """
    as_it_was = and_(
        _held_as(job), jobs.c.claim_expires_at == job.claim_expires_at
    )  # a worker that slept may keep it again
    now = now_ms(conn) if at_ms is None else at_ms
    values = {"holder": str(holder), "claim_expires_at": now + _ms(ttl_s)}
    if conn.execute(update(jobs).where(as_it_was).values(values)).rowcount != 1:
        return None
    return job_of(conn.execute(select(*COLUMNS).where(jobs.c.id == job.id)).one())


def goes_on(conn: Connection, token: str) -> bool:
    """Whether an attempt is somebody's: under its token the job runs, or waits to be taken over."""
    return conn.execute(select(jobs.c.id).where(_RUNNING, jobs.c.claim_token == token)).first() is not None


def finish(
    conn: Connection,
    job: Job,
    verdict: Verdict,
    *,
    exit_code: int | None = None,
    reason: str = "",
    chance: float = 0.0,
    shutting_down: bool = False,
    at_ms: int | None = None,
) -> Next:
    """End an attempt: the job's next time, its back-off or its end, and the row of the attempt, in one go.

    Raises `ClaimLost` where the claim is another worker's by now; nothing is written then.
    """
    ours = _held_as(job)
    row = conn.execute(select(*COLUMNS).where(ours).with_for_update()).one_or_none()
    if row is None or not job.claim_token:
        raise ClaimLost(f"{job} is another worker's by now: what this one says of its end isn't written")
    now = now_ms(conn) if at_ms is None else at_ms
    not_before = breakers.load(conn, job.store).until if verdict is Verdict.BLOCKED else 0
    found = settle(job_of(row).state, verdict, now, chance=chance, shutting_down=shutting_down, not_before=not_before)
    over = found.run_at is None
    values: dict[str, Any] = {
        "status": found.status.value,
        "next_run_at": found.run_at,
        "slot_at": found.slot_at,
        "attempts": found.attempts,
        "crashes": found.crashes,
        "blocked": found.blocked,
        "failures": found.failures,
        "claim_token": "",
        "claim_expires_at": 0,
        "holder": "",
        "asked": "",
        "finished_at": now,
        "last_verdict": verdict.value,
        "last_error": "" if verdict is Verdict.DONE else reason,
    }
    if over:
        values["active_key"] = None
    if verdict in (Verdict.DONE, Verdict.PARTIAL, Verdict.HELD):
        values["done_at"] = now
    conn.execute(update(jobs).where(ours).values(values))
    job_runs.end(conn, job.claim_token, verdict, now, exit_code=exit_code, reason=reason)
    return found


def give_back(conn: Connection, job: Job, wait_ms: int, why: str, *, at_ms: int | None = None) -> None:
    """Undo a claim whose job never began: it's due again after ``wait_ms``, and no attempt was made."""
    now = now_ms(conn) if at_ms is None else at_ms
    free = {"claim_token": "", "claim_expires_at": 0, "holder": "", "asked": "", "last_error": why}
    values = {"status": JobStatus.PENDING.value, "next_run_at": now + wait_ms, **free}
    if conn.execute(update(jobs).where(_held_as(job)).values(values)).rowcount == 1:
        job_runs.forget(conn, job.claim_token)


def orphans(conn: Connection, alive: Callable[[Holder], bool], *, at_ms: int | None = None) -> list[Job]:
    """Return the jobs whose worker is dead: its claim expired, or ``alive`` is sure of its death."""
    now = now_ms(conn) if at_ms is None else at_ms
    found = [job_of(row) for row in conn.execute(select(*COLUMNS).where(_RUNNING).order_by(jobs.c.id))]
    return [job for job in found if job.claim_expires_at <= now or not _may_live(job, alive)]


def _held_as(job: Job) -> ColumnElement[bool]:
    """The row of a job, while it runs under the claim, and with the worker, that ``job`` was read with."""
    return and_(_RUNNING, jobs.c.id == job.id, jobs.c.claim_token == job.claim_token, jobs.c.holder == job.holder)


def _may_live(job: Job, alive: Callable[[Holder], bool]) -> bool:
    holder = Holder.read(job.holder)
    return holder is None or alive(holder)


def _not_busy(conn: Connection) -> tuple[Any, ...]:
    """Leave out the exclusive kinds of stores that such a job works on."""
    mine = select(jobs.c.store).where(_RUNNING, jobs.c.kind.in_(_EXCLUSIVE), jobs.c.store != "")
    busy = list(conn.execute(mine).scalars())
    return (or_(jobs.c.kind.not_in(_EXCLUSIVE), jobs.c.store.not_in(busy)),) if busy else ()


def _ms(seconds: float) -> int:
    return round(seconds * 1000)
