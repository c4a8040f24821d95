"""How things stand with the stores, as alerts and metrics ask for it."""

from __future__ import annotations

from collections.abc import Collection

import orjson
from sqlalchemy import Connection, func, select

from storebot.core.alerts.conditions import End, FailingJob, Late, Receiver
from storebot.core.jobs import MAX_ATTEMPTS
from storebot.core.secrets import shown_url
from storebot.db import deliveries, jobs, subscriptions
from storebot.db.holds import HoldStatus
from storebot.db.schema import holds, runs
from storebot.items import RunStatus

_SHOWN = (
    runs.c.id,
    runs.c.status,
    runs.c.reason,
    runs.c.started_at,
    runs.c.finished_at,
    runs.c.missed,
)


def known_stores(conn: Connection) -> list[str]:
    """Return the stores that ever had a run."""
    return list(conn.execute(select(runs.c.store).distinct().order_by(runs.c.store)).scalars())


def ends(conn: Connection, store: str, kinds: Collection[str], limit: int) -> dict[str, list[End]]:
    """Return how the last runs of a store ended, the newest first, by kind; a kind without any is left out."""
    found = {}
    for kind in kinds:
        ended = (runs.c.store == store) & (runs.c.kind == kind) & runs.c.finished_at.is_not(None)
        rows = conn.execute(select(*_SHOWN).where(ended).order_by(runs.c.id.desc()).limit(limit)).all()
        if rows:
            found[kind] = [
                End(row.id, RunStatus(row.status), row.reason, row.started_at, row.finished_at, _list(row.missed))
                for row in rows
            ]
    return found


def last_start(conn: Connection, store: str) -> int:
    """Return when the store's newest run began; 0 where there was none."""
    return int(conn.execute(select(func.max(runs.c.started_at)).where(runs.c.store == store)).scalar() or 0)


def held(conn: Connection) -> dict[str, tuple[int, int]]:
    """Return the number of pages whose change is held, and since when, by store."""
    waits = holds.c.status == HoldStatus.HELD.value
    query = select(holds.c.store, func.count(), func.min(holds.c.stale_since)).where(waits).group_by(holds.c.store)
    return {store: (int(count), int(since)) for store, count, since in conn.execute(query)}


def failing_jobs(conn: Connection, attempts: int) -> dict[str, list[FailingJob]]:
    """Return the jobs that failed so often in a row, and were given up, by store; "" has those of all stores."""
    found: dict[str, list[FailingJob]] = {}
    for job in jobs.failing(conn, max(1, -(-attempts // MAX_ATTEMPTS))):
        found.setdefault(job.store, []).append(FailingJob(job.kind, job.failures, job.last_error))
    return found


def overdue(conn: Connection, now_ms: int, grace_ms: int) -> list[Late]:
    """Return the jobs that are due for longer than that."""
    return [
        Late(
            f"{job.kind} of {job.store}" if job.store else job.kind,
            job.slot_at if job.given_back else int(job.next_run_at or 0),
            job.last_error if job.given_back else "",
        )
        for job in jobs.overdue(conn, now_ms, grace_ms)
    ]


def receivers(conn: Connection) -> list[Receiver]:
    """Return the subscriptions to changes that ended, or have messages that weren't taken."""
    standings, lacking = deliveries.standings(conn), deliveries.lacking(conn)
    found = []
    for one in subscriptions.find(conn):
        standing = standings.get(one.id, deliveries.Standing())
        if one.ended or standing.dead or standing.waiting:
            since, error = (standing.waiting.created_at, standing.waiting.last_error) if standing.waiting else (0, "")
            after = lacking.get(one.id, 0)
            found.append(Receiver(one.id, shown_url(one.url), one.ended, standing.dead, since, error, after))
    return found


def _list(text: str | None) -> list[str]:
    return list(orjson.loads(text)) if text else []
