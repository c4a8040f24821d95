"""How all stores stand now: facts from the database and the store files, judged as alerts judge them."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from storebot.core.alerts.conditions import Disk, End, Facts, FailingJob, StoreFacts, Waiting, findings
from storebot.core.alerts.finding import Finding
from storebot.core.dashboard.blame import Past
from storebot.core.dashboard.standing import standing
from storebot.core.dashboard.store_now import Standing, StoreNow
from storebot.core.jobs import JobStatus
from storebot.core.schedule import next_slot
from storebot.dashboard import store_files
from storebot.dashboard.site import Site
from storebot.dashboard.store_files import Read
from storebot.db import outbox
from storebot.db import standing as standing_rows
from storebot.db.board import standings as board
from storebot.db.jobs import Job
from storebot.db.types import Connection
from storebot.items import RunStatus
from storebot.notify.looking import KINDS, OVERDUE_MS, used_up

_ENDS = 20  # of a kind, as alerts look back


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """One store: what is known of it, and what follows."""

    now: StoreNow
    said: Standing
    file: Read
    row: board.Row
    jobs: Sequence[Job] = ()


class Looked(NamedTuple):
    """All stores, and what is wrong and of no store."""

    stores: dict[str, Seen]
    general: list[Finding]


class _Shared(NamedTuple):
    """What is read once for all stores."""

    rows: Mapping[str, board.Row]
    held: Mapping[str, board.Held]
    jobs: Mapping[str, Sequence[Job]]
    failing: Mapping[str, Sequence[FailingJob]]


def look(conn: Connection, site: Site, now_ms: int, only: str | None = None) -> Looked:
    """Look at all stores, or at ``only`` one; then nothing is said in general."""
    names = [only] if only is not None else sorted({*board.names(conn), *store_files.own_stores(site.folders)})
    shared = _Shared(
        board.rows(conn, now_ms, names if only is not None else None),
        board.held(conn, names),
        board.active_jobs(conn, only),
        standing_rows.failing_jobs(conn, site.limits.failures),
    )
    facts = {name: _facts(conn, site, name, shared, now_ms) for name in names}
    general = Facts() if only is not None else _general(conn, site, now_ms)
    found = findings(
        Facts(
            stores=[_for_alerts(store, file, shared) for store, file in facts.values() if file.store is not None],
            overdue=general.overdue,
            waiting=general.waiting,
            receivers=general.receivers,
            disks=general.disks,
        ),
        site.limits,
        now_ms,
    )
    return Looked(
        {name: _seen(store, file, found, shared, now_ms) for name, (store, file) in facts.items()},
        [one for one in found if not one.store],
    )


def _facts(conn: Connection, site: Site, name: str, shared: _Shared, now_ms: int) -> tuple[StoreNow, Read]:
    file, row = store_files.read(name, site.folders), shared.rows.get(name, board.Row())
    held, jobs = shared.held.get(name, board.Held()), shared.jobs.get(name, ())
    runs = board.newest_runs(conn, name)
    alive = next((run.id for run in runs if run.status is RunStatus.RUNNING and run.id == row.run_id), 0)
    store = StoreNow(
        name=name,
        file_error="" if file.store is not None or file.gone else file.error,
        file_gone=file.gone,
        runs=runs,
        good=board.last_good(conn, name, runs),
        running=alive,
        breaker=row.breaker,
        held=held.pages,
        held_since=held.since,
        jobs=[board.planned(job) for job in jobs],
        interval_ms=_interval_ms(jobs, now_ms),
        budget=used_up(conn, file.store, now_ms) if file.store is not None else "",
    )
    return store, file


def _interval_ms(jobs: Sequence[Job], now_ms: int) -> int:
    """Return how long it is from one planned crawl to the next; 0 where none is planned."""
    found = []
    for job in jobs:
        if board.planned(job).is_crawl and job.schedule.repeats and job.status is not JobStatus.PAUSED:
            first = next_slot(job.schedule, now_ms, now_ms)
            second = next_slot(job.schedule, first.at, first.at) if first else None
            found += [second.at - first.at] if first and second else []
    return min(found, default=0)


def _for_alerts(store: StoreNow, file: Read, shared: _Shared) -> StoreFacts:
    assert file.store is not None
    ends = {kind: _ends(store.runs, kind) for kind in KINDS}
    return StoreFacts(
        name=store.name,
        ends={kind: found for kind, found in ends.items() if found},
        last_start=max((run.started_at for run in store.runs), default=0),
        held=store.held,
        held_since=store.held_since,
        breaker=store.breaker,
        jobs=shared.failing.get(store.name, ()),
        budget=store.budget,
        max_age_ms=file.store.expect.max_age_ms,
        learned=file.store.expect.learned,
    )


def _ends(runs: Sequence[Past], kind: str) -> list[End]:
    return [
        End(run.id, run.status, run.reason, run.started_at, run.finished_at, run.missed)
        for run in runs
        if run.kind == kind and run.finished_at is not None
    ][:_ENDS]


def _general(conn: Connection, site: Site, now_ms: int) -> Facts:
    return Facts(
        overdue=standing_rows.overdue(conn, now_ms, OVERDUE_MS),
        waiting=[
            Waiting(one.recipient[:12], one.service, one.messages, one.since, one.error)
            for one in outbox.backlogs(conn)
        ],
        receivers=standing_rows.receivers(conn),
        disks=disks(site),
    )


def disks(site: Site) -> list[Disk]:
    """Return how much is free where storebot writes."""
    there = ((what, path) for what, path in site.disks.items() if path.exists())
    return [Disk(what, str(path), shutil.disk_usage(path).free) for what, path in there]


def _seen(store: StoreNow, file: Read, found: Sequence[Finding], shared: _Shared, now_ms: int) -> Seen:
    judged = replace(store, findings=[one for one in found if one.store == store.name])
    return Seen(
        now=judged,
        said=standing(judged, now_ms),
        file=file,
        row=shared.rows.get(store.name, board.Row()),
        jobs=shared.jobs.get(store.name, ()),
    )
