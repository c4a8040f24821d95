"""One run: its row, the one before it, its visits and blocks, and the attempt of a job that it was."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import orjson
from sqlalchemy import Connection, and_, func, or_, select

from storebot.core.dashboard.paging import Cursor
from storebot.db import job_runs
from storebot.db.board.scanning import MOST, Scanned, by_number
from storebot.db.job_runs import JobRun
from storebot.db.runs import Run, run_of
from storebot.db.schema import blocks, pages, runs, visits
from storebot.db.schema import job_runs as attempts
from storebot.items import NOT_OBSERVED, RunStatus

_CHOICES = ("outcome", "tier", "page_type")
_ATTEMPTS = 5000  # that are looked through for a run's own
_FAILED = 500  # visits that errors are told by
_SEEN = ("id", "page_id", "page_type", "outcome", "http_status", "reason", "tier", "requests", "bytes", "elapsed_ms")
_VISIT = tuple(visits.c[name] for name in (*_SEEN, "rows_written", "changes", "at", "steps", "lane"))


class GateReading(NamedTuple):
    """One line of a run's gate, as `db.gating.gate_note` keeps it."""

    gate: str
    pages: int
    of: int
    value: float
    limit: float
    state: str


class GateNote(NamedTuple):
    """How a run's gate stood when it ended."""

    seen: int
    new: int
    sample: int
    planned: str
    gates: Sequence[GateReading]


class Failed(NamedTuple):
    """Visits of a run that didn't observe their page: some of them, and of how many visits."""

    rows: list[Any]  # outcome, reason, tier, page_id
    looked_at: int
    whole: bool  # whether these are all visits of the run


def one(conn: Connection, run_id: int) -> Run | None:
    """Return a run, without what its visits say of tiers: the tallies have that."""
    row = conn.execute(select(runs).where(runs.c.id == run_id)).one_or_none()
    return run_of(row) if row else None


def before(conn: Connection, run: Run) -> Run | None:
    """Return the store's last run of the same kind before a run; None where there was none."""
    same = and_(runs.c.store == run.store, runs.c.kind == run.kind, runs.c.id < run.id)
    row = conn.execute(select(runs).where(same).order_by(runs.c.id.desc()).limit(1)).one_or_none()
    return run_of(row) if row else None


def gate(conn: Connection, run_id: int) -> GateNote | None:
    """Return how a run's gate stood; None where that isn't known."""
    text = conn.execute(select(runs.c.gate).where(runs.c.id == run_id)).scalar()
    if not text:
        return None
    found = orjson.loads(text)
    gates = [GateReading(**each) for each in found.pop("gates")]
    return GateNote(**found, gates=gates)


def visits_of(
    conn: Connection,
    run_id: int,
    choices: Mapping[str, str],
    after: Cursor | None,
    *,
    descending: bool,
    limit: int,
    most: int = MOST,
) -> Scanned:
    """Return a run's visits that fit, by number; ``choices``: outcome, tier, page_type."""
    wanted = [visits.c[name] == choices[name] for name in _CHOICES if name in choices]
    return by_number(
        conn,
        select(*_VISIT).where(*wanted),
        visits.c.id,
        [visits.c.run_id == run_id],
        after=int(after[0]) if after else None,
        descending=descending,
        limit=limit,
        most=most,
    )


def addresses(conn: Connection, page_ids: Sequence[int]) -> dict[int, str]:
    """Return the addresses of pages by their number."""
    query = select(pages.c.id, pages.c.url).where(pages.c.id.in_(sorted(set(page_ids))))
    return {row.id: row.url for row in conn.execute(query)} if page_ids else {}


def failed(conn: Connection, run_id: int, *, most: int = MOST) -> Failed:
    """Return the newest visits of a run that didn't observe their page, of as many visits as may be looked at."""
    mine = visits.c.run_id == run_id
    some = select(visits.c.id).where(mine).order_by(visits.c.id.desc()).limit(most).subquery()
    least, seen = conn.execute(select(func.min(some.c.id), func.count()).select_from(some)).one()
    if least is None:
        return Failed([], 0, True)
    unobserved = visits.c.outcome.in_([outcome.value for outcome in NOT_OBSERVED])
    query = (
        select(visits.c.outcome, visits.c.reason, visits.c.tier, visits.c.page_id)
        .where(mine, visits.c.id >= least, unobserved)
        .order_by(visits.c.id.desc())
        .limit(_FAILED + 1)
    )
    rows = list(conn.execute(query))
    return Failed(rows[:_FAILED], int(seen), seen < most and len(rows) <= _FAILED)


def blocked_by(conn: Connection, run_id: int, *, most: int = MOST) -> list[tuple[str, str, int]]:
    """Return who blocked a run, by vendor and tier with the number of signs, of as many as may be looked at."""
    some = select(blocks.c.vendor, blocks.c.tier).where(blocks.c.run_id == run_id).limit(most).subquery()
    query = select(some.c.vendor, some.c.tier, func.count().label("signs")).group_by(some.c.vendor, some.c.tier)
    rows = conn.execute(query.order_by(func.count().desc(), some.c.vendor, some.c.tier))
    return [(row.vendor, row.tier, int(row.signs)) for row in rows]


def attempt(conn: Connection, run: Run) -> JobRun | None:
    """Return the attempt of a job that a run was, or is; None where a person started it, or it's forgotten.

    A run's own number is noted when it ends; until then it's the one of its store and kind that is under way.
    """
    newest = int(conn.execute(select(func.max(attempts.c.id))).scalar() or 0)
    is_it = attempts.c.run_id == run.id
    if run.status is RunStatus.RUNNING:
        here = and_(attempts.c.finished_at.is_(None), attempts.c.started_at <= run.started_at)
        is_it = or_(is_it, here)
    query = (
        select(attempts.c.token)
        .where(attempts.c.id > newest - _ATTEMPTS, attempts.c.store == run.store, attempts.c.kind == run.kind, is_it)
        .order_by(attempts.c.id.desc())
        .limit(1)
    )
    token = conn.execute(query).scalar()
    return job_runs.of_token(conn, token) if token else None
