"""Looking at how things stand: the facts that alerts go by, from the database, the store files and the disks."""

from __future__ import annotations

import shutil
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from storebot.core.alerts.conditions import Disk, Facts, FailingJob, StoreFacts, Waiting
from storebot.core.alerts.finding import Kind
from storebot.core.breaker import Breaker
from storebot.core.budget import Use
from storebot.core.month import Month
from storebot.db import breakers, outbox, spending, standing
from storebot.db.types import Connection
from storebot.exceptions import ConfigurationError, UnknownStore
from storebot.stores import load_store
from storebot.stores.model import Store

KINDS = ("backfill", "refresh")
_ENDS = 20  # runs of a kind that are looked back at
OVERDUE_MS = 15 * 60_000
_OF_FILE = (Kind.BUDGET, Kind.SILENT, Kind.UNEXPECTED)  # what can't be told without the store's file


class Look(NamedTuple):
    """The facts, and what of them couldn't be seen."""

    facts: Facts
    unobserved: Collection[tuple[Kind, str]]


def look(conn: Connection, folders: Sequence[str], disks: Mapping[str, Path], failures: int, now_ms: int) -> Look:
    """Look at all stores that ever ran and still have a file."""
    stores, broken = _files(standing.known_stores(conn), folders)
    shut, held, jobs = breakers.not_closed(conn), standing.held(conn), standing.failing_jobs(conn, failures)
    backlogs = outbox.backlogs(conn)
    facts = Facts(
        stores=[
            _of_store(conn, store, shut.get(name, Breaker()), held.get(name, (0, 0)), jobs.get(name, ()), now_ms)
            for name, store in stores.items()
        ],
        broken=broken,
        overdue=standing.overdue(conn, now_ms, OVERDUE_MS),
        waiting=[Waiting(one.recipient[:12], one.service, one.messages, one.since, one.error) for one in backlogs],
        receivers=standing.receivers(conn),
        disks=[Disk(what, str(path), shutil.disk_usage(path).free) for what, path in disks.items() if path.exists()],
    )
    return Look(facts, {(kind, store) for store in broken for kind in _OF_FILE})


def _files(names: Sequence[str], folders: Sequence[str]) -> tuple[dict[str, Store], dict[str, str]]:
    """Return the stores, and why the others can't be read; one whose file is gone isn't anybody's business any more."""
    stores, broken = {}, {}
    for name in names:
        try:
            stores[name] = load_store(name, folders)
        except UnknownStore:
            continue
        except ConfigurationError as error:
            broken[name] = " ".join(str(error).split())[:500]
    return stores, broken


def _of_store(
    conn: Connection, store: Store, breaker: Breaker, held: tuple[int, int], jobs: Sequence[FailingJob], now_ms: int
) -> StoreFacts:
    return StoreFacts(
        name=store.name,
        ends=standing.ends(conn, store.name, KINDS, _ENDS),
        last_start=standing.last_start(conn, store.name),
        held=held[0],
        held_since=held[1],
        breaker=breaker,
        jobs=jobs,
        budget=used_up(conn, store, now_ms),
        max_age_ms=store.expect.max_age_ms,
        learned=store.expect.learned,
    )


def used_up(conn: Connection, store: Store, now_ms: int) -> str:
    """Return which limit of the month a store has used up, as a part of a sentence; "" for none."""
    limits = store.budget.month.limits
    if not limits.any:
        return ""
    month, currency = Month.at(now_ms), store.costs.currency if store.costs else ""
    spent = spending.spent_on(conn, store.name, month.days, currency)
    return Use(limits, month.name, currency, spent).used_up
