"""What the dashboard reads of all stores at once, so that two hundred of them take no longer than a person notices."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import orjson
from sqlalchemy import Connection, bindparam, func, select

from storebot.core.breaker import Breaker, State
from storebot.core.dashboard.blame import Past
from storebot.core.dashboard.store_now import Planned
from storebot.core.expect import MEASURED
from storebot.core.job_kinds import KINDS
from storebot.core.jobs import JobStatus
from storebot.db import standing, tallies
from storebot.db.holds import HoldStatus
from storebot.db.jobs import COLUMNS, Job, job_of
from storebot.db.schema import holds, jobs, runs, stores
from storebot.db.types import AnyRow
from storebot.items import RunStatus

RUNS = 12  # of each store, by which it's judged: two hundred stores are read at once

_STATUSES = {status.value: status for status in RunStatus}
_PAST = tuple(
    runs.c[name]
    for name in (
        "id", "kind", "status", "reason", "started_at", "finished_at", "parser_version", "counts", "listings_known",
        "change_events", "missed",
    )
)  # fmt: skip
_NEWEST = select(*_PAST).where(runs.c.store == bindparam("of")).order_by(runs.c.id.desc()).limit(bindparam("most"))
_ENDED = (
    select(*_PAST)
    .where(runs.c.store == bindparam("of"), runs.c.status.in_([status.value for status in MEASURED]))
    .order_by(runs.c.id.desc())
    .limit(1)
)


class Held(NamedTuple):
    """Changes that wait for a person."""

    pages: int = 0
    since: int = 0


class Row(NamedTuple):
    """A store's own row. Times are milliseconds."""

    breaker: Breaker = Breaker()
    run_id: int = 0  # that has the lease now; 0: none
    slow_steps: int = 0
    slow_at: int = 0


def names(conn: Connection) -> list[str]:
    """Return the stores that the database knows of."""
    found = {*standing.known_stores(conn), *conn.execute(select(stores.c.name)).scalars()}
    planned = select(jobs.c.store).where(jobs.c.active_key.is_not(None), jobs.c.store != "").distinct()
    return sorted(found.union(conn.execute(planned).scalars()))


def newest_runs(conn: Connection, store: str, limit: int = RUNS) -> list[Past]:
    """Return a store's newest runs, the newest first."""
    return [_past(row) for row in conn.execute(_NEWEST, {"of": store, "most": limit}).all()]


def last_good(conn: Connection, store: str, newest: Sequence[Past]) -> Past | None:
    """Return the newest run that ended by itself and saw a page; of those that are older than ``newest``, the first
    that ended by itself."""
    found = next((run for run in newest if run.status in MEASURED and run.saw), None)
    if found is not None or len(newest) < RUNS:
        return found
    row = conn.execute(_ENDED, {"of": store}).one_or_none()
    return _past(row) if row else None


def rows(conn: Connection, now_ms: int, only: Collection[str] | None = None) -> dict[str, Row]:
    """Return the rows of the stores, of all or of some."""
    query = select(
        stores.c.name, stores.c.breaker_state, stores.c.breaker_opened_at, stores.c.breaker_until,
        stores.c.breaker_trips, stores.c.breaker_reason, stores.c.lease_token, stores.c.lease_expires_at,
        stores.c.lease_run_id, stores.c.slow_steps, stores.c.slow_at,
    )  # fmt: skip
    found = conn.execute(query if only is None else query.where(stores.c.name.in_(only)))
    return {row.name: _row(row, now_ms) for row in found}


def held(conn: Connection, names: Collection[str]) -> dict[str, Held]:
    """Return what waits for a person, by store; it's read from the index of what is open."""
    query = (
        select(holds.c.store, func.count(), func.min(holds.c.stale_since))
        .where(holds.c.store.in_(names), holds.c.status == HoldStatus.HELD.value)
        .group_by(holds.c.store)
    )
    return {store: Held(int(count), int(since)) for store, count, since in conn.execute(query)}


def active_jobs(conn: Connection, store: str | None = None) -> dict[str, list[Job]]:
    """Return the jobs that may run, by store."""
    query = select(*COLUMNS).where(jobs.c.active_key.is_not(None)).order_by(jobs.c.id)
    found: dict[str, list[Job]] = {}
    for row in conn.execute(query if store is None else query.where(jobs.c.store == store)):
        found.setdefault(row.store, []).append(job_of(row))
    return found


def planned(job: Job) -> Planned:
    """Return what a store's standing goes by of a job."""
    is_crawl = job.kind in KINDS and bool(KINDS[job.kind].spider)
    due = job.next_run_at if job.status is not JobStatus.RUNNING else None
    return Planned(job.id, job.kind, job.status.value, due, job.schedule.every_ms, is_crawl)


def tiers(conn: Connection, run_ids: Sequence[int]) -> dict[int, dict[str, int]]:
    """Return the visits of products by tier, by run; those that took no request have none."""
    found: dict[int, dict[str, int]] = {}
    for run_id, spans in tallies.of_runs(conn, run_ids).items() if run_ids else ():
        counts = found.setdefault(run_id, {})
        for span in spans:
            if span.page_type == "product" and span.requests:
                counts[span.tier] = counts.get(span.tier, 0) + span.visits
    return found


class _Counts(Mapping[str, int]):
    """The outcomes of a run, read when somebody asks: of most of them nobody does."""

    __slots__ = ("_found", "_text")

    def __init__(self, text: str) -> None:
        self._text = text
        self._found: dict[str, int] | None = None

    def _read(self) -> dict[str, int]:
        if self._found is None:
            self._found = orjson.loads(self._text) if self._text else {}
        return self._found

    def __getitem__(self, name: str) -> int:
        return self._read()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._read())

    def __len__(self) -> int:
        return len(self._read())


def _past(row: Sequence[Any]) -> Past:
    """Make a run of a row of `_PAST`; by its places, as there are thousands of them."""
    id_, kind, status, reason, started_at, finished_at, parser, counts, listings, changes, missed = row
    return Past(
        id_,
        kind,
        _STATUSES[status],
        reason,
        started_at,
        finished_at,
        parser,
        _Counts(counts),
        listings,
        changes,
        orjson.loads(missed) if missed else (),
    )


def _row(row: AnyRow, now_ms: int) -> Row:
    breaker = Breaker(
        State(row.breaker_state or State.CLOSED),
        row.breaker_opened_at,
        row.breaker_until,
        row.breaker_trips,
        row.breaker_reason,
    )
    has_lease: Any = row.lease_token and row.lease_expires_at > now_ms
    return Row(breaker, row.lease_run_id if has_lease else 0, row.slow_steps, row.slow_at)
