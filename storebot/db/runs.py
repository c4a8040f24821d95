"""Runs: one row each, whose counts add up to the visits of the run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field

import orjson
from sqlalchemy import Connection, func, insert, select, update

from storebot.core.expect import Measures
from storebot.core.overrides import Override
from storebot.db import leases, tiers
from storebot.db.dialects import now_ms
from storebot.db.planned_runs import PlanNote, read
from storebot.db.schema import runs, visits
from storebot.db.types import AnyRow
from storebot.items import Outcome, PageType, RunStatus

_SAMPLE = 200
_SKIPPED = (Outcome.UNCHANGED, Outcome.NOT_MODIFIED)  # seen, and nothing to rewrite


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """What a run came to."""

    outcomes: Mapping[Outcome, int] = field(default_factory=dict)
    requests: int = 0
    size_bytes: int = 0
    discovered: int = 0
    rows_written: int = 0
    rows_skipped: int = 0
    change_events: int = 0
    pages_known: int = 0  # when it ended: what a script that fetches everything would fetch
    listings_known: int = 0  # and rewrite
    walks_reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run(Totals):
    """One row of the ledger of runs; ``finished_at`` is None while it runs, or after it was killed unnoticed."""

    id: int
    store: str
    kind: str
    status: RunStatus
    reason: str
    started_at: int
    finished_at: int | None
    parser_version: str
    hash_version: int
    overrides: Sequence[Mapping[str, str]] = ()  # what it did against its manners: what, who, why
    tiers: Mapping[str, int] = field(default_factory=dict)  # visits of products by tier
    escalations: int = 0
    plan: PlanNote | None = None  # of a refresh by a plan
    missed: Sequence[str] = ()  # what was expected of it and isn't so, a sentence each


def start(
    conn: Connection,
    store: str,
    kind: str,
    *,
    parser_version: str = "",
    hash_version: int = 0,
    token: str = "",
    overrides: Sequence[Override] = (),
) -> int:
    """Open a run and return its number. With ``token`` the store's lease notes it; raises `LeaseLost` if it's gone."""
    row = {
        "store": store,
        "kind": kind,
        "status": RunStatus.RUNNING.value,
        "started_at": now_ms(conn),
        "parser_version": parser_version,
        "hash_version": hash_version,
        "overrides": orjson.dumps([one._asdict() for one in overrides]).decode() if overrides else None,
    }
    (run_id,) = conn.execute(insert(runs).values(row)).inserted_primary_key or (0,)
    if token:
        leases.note_run(conn, store, token, run_id)
    return int(run_id)


def finish(
    conn: Connection,
    run_id: int,
    status: RunStatus,
    reason: str,
    *,
    outcomes: Mapping[Outcome, int],
    requests: int = 0,
    size_bytes: int = 0,
    discovered: int = 0,
    rows_written: int = 0,
    rows_skipped: int = 0,
    change_events: int = 0,
    pages_known: int = 0,
    listings_known: int = 0,
    walks_reason: str = "",
    measured: Measures | None = None,
    missed: Sequence[str] = (),
    gate: str | None = None,
) -> bool:
    """Close a run; False, with nothing written, if it was closed before (a successor found it dead)."""
    values = {
        "status": status.value,
        "reason": reason,
        "finished_at": now_ms(conn),
        "requests": requests,
        "bytes": size_bytes,
        "counts": orjson.dumps({outcome.value: count for outcome, count in outcomes.items()}).decode(),
        "discovered": discovered,
        "rows_written": rows_written,
        "rows_skipped": rows_skipped,
        "change_events": change_events,
        "pages_known": pages_known,
        "listings_known": listings_known,
        "walks_reason": walks_reason,
        "measured": orjson.dumps(measured.as_dict()).decode() if measured else None,
        "missed": orjson.dumps(missed).decode() if missed else None,
        "gate": gate,
    }
    open_run = (runs.c.id == run_id) & (runs.c.status == RunStatus.RUNNING.value)
    return conn.execute(update(runs).where(open_run).values(values)).rowcount == 1


def first_started(conn: Connection, store: str) -> int:
    """Return when the store's first run in this database began; 0 where there was none."""
    return int(conn.execute(select(func.min(runs.c.started_at)).where(runs.c.store == store)).scalar() or 0)


def last_latency_ms(conn: Connection, store: str) -> int:
    """Return how long an answer took, of some visits of the store's last run; 0 where nothing is known."""
    last_run = select(func.max(runs.c.id)).where(runs.c.store == store).scalar_subquery()
    some = (
        select(visits.c.elapsed_ms, visits.c.requests)
        .where(visits.c.run_id == last_run, visits.c.requests > 0, visits.c.elapsed_ms > 0)
        .limit(_SAMPLE)
        .subquery()
    )
    total = select(func.coalesce(func.sum(some.c.elapsed_ms), 0), func.coalesce(func.sum(some.c.requests), 0))
    elapsed_ms, requests = conn.execute(total).one()
    return int(elapsed_ms) // int(requests) if requests else 0


def mark_interrupted(conn: Connection, store: str) -> list[int]:
    """Close the runs that dead processes left open, with what their visits add up to; return their numbers.

    Call it under the store's lease and before `start`: then none of them can be alive.
    """
    left = select(runs.c.id).where(runs.c.store == store, runs.c.status == RunStatus.RUNNING.value)
    dead = list(conn.execute(left.order_by(runs.c.id)).scalars())
    for run_id in dead:
        found = asdict(totals(conn, run_id))
        finish(conn, run_id, RunStatus.INTERRUPTED, "its process ended without closing it", **found)
    return dead


def recount(conn: Connection, run_id: int) -> None:
    """Have a closed run's counts say what its visits add up to: some of them were decided later."""
    found = totals(conn, run_id)
    values = {
        "counts": orjson.dumps({outcome.value: count for outcome, count in found.outcomes.items()}).decode(),
        "rows_written": found.rows_written,
        "rows_skipped": found.rows_skipped,
        "change_events": found.change_events,
    }
    conn.execute(update(runs).where(runs.c.id == run_id).values(values))


def tally(conn: Connection, run_id: int, page_type: PageType = PageType.PRODUCT) -> dict[Outcome, int]:
    """Count the run's visits by outcome."""
    mine = (visits.c.run_id == run_id) & (visits.c.page_type == page_type.value)
    rows = conn.execute(select(visits.c.outcome, func.count()).where(mine).group_by(visits.c.outcome))
    return {Outcome(outcome): count for outcome, count in rows}


def totals(conn: Connection, run_id: int) -> Totals:
    """Add up the run's visits. What wasn't a visit (sitemaps, catalogue pages that were read) isn't in it."""
    counts = tally(conn, run_id)
    sums = [
        func.coalesce(func.sum(column), 0)
        for column in (visits.c.requests, visits.c.bytes, visits.c.rows_written, visits.c.changes)
    ]
    requests, size_bytes, rows_written, changed = conn.execute(select(*sums).where(visits.c.run_id == run_id)).one()
    return Totals(
        outcomes=counts,
        requests=int(requests),
        size_bytes=int(size_bytes),
        rows_written=int(rows_written),
        rows_skipped=sum(counts.get(outcome, 0) for outcome in _SKIPPED),
        change_events=int(changed),
    )


def last(conn: Connection, store: str | None = None, limit: int = 20) -> list[Run]:
    """Return the newest runs first, of one store or of all."""
    query = select(runs).order_by(runs.c.id.desc()).limit(limit)
    rows = conn.execute(query if store is None else query.where(runs.c.store == store)).all()
    used = tiers.used(conn, [row.id for row in rows])
    return [run_of(row, used.get(row.id)) for row in rows]


def run_of(row: AnyRow, used: tiers.Used | None = None) -> Run:
    """Return a whole row of `runs` as a run; without ``used`` it says nothing of tiers."""
    used = used or tiers.Used()
    counts: dict[str, int] = orjson.loads(row.counts or "{}")
    return Run(
        id=row.id,
        store=row.store,
        kind=row.kind,
        status=RunStatus(row.status),
        reason=row.reason,
        started_at=row.started_at,
        finished_at=row.finished_at,
        parser_version=row.parser_version,
        hash_version=row.hash_version,
        outcomes={Outcome(outcome): count for outcome, count in counts.items()},
        requests=row.requests,
        size_bytes=row.bytes,
        discovered=row.discovered,
        rows_written=row.rows_written,
        rows_skipped=row.rows_skipped,
        change_events=row.change_events,
        pages_known=row.pages_known,
        listings_known=row.listings_known,
        walks_reason=row.walks_reason,
        overrides=orjson.loads(row.overrides or "[]"),
        tiers=used.tiers,
        escalations=used.escalations,
        plan=read(row.plan),
        missed=orjson.loads(row.missed or "[]"),
    )
