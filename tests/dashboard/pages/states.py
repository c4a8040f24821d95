"""Stores in every state that the first page knows, in few words."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson
from sqlalchemy import Connection, insert

from storebot.core.breaker import Breaker, State
from storebot.core.schedule import Schedule
from storebot.db import breakers, jobs
from storebot.db.dialects import insert_missing
from storebot.db.jobs import Plan
from storebot.db.schema import blocks, holds, runs, spending, stores, tallies
from storebot.db.schema import jobs as jobs_table
from storebot.items import RunStatus
from tests.stores.writing import LEAST, written

MINUTE, HOUR, DAY = 60_000, 3_600_000, 86_400_000


def ran(
    conn: Connection,
    store: str,
    at_ms: int,
    status: RunStatus = RunStatus.COMPLETE,
    *,
    reason: str = "",
    kind: str = "refresh",
    parser: str = "3-aaaa1111",
    counts: Mapping[str, int] | None = None,
    listings: int = 120,
    lasted_ms: int = 5 * MINUTE,
    **values: Any,
) -> int:
    """Note a run and return its number; one that is under way has no end."""
    insert_missing(conn, stores, [{"name": store}])
    ended = status is not RunStatus.RUNNING
    row = {
        "store": store,
        "kind": kind,
        "status": status.value,
        "reason": reason,
        "started_at": at_ms,
        "finished_at": at_ms + lasted_ms if ended else None,
        "parser_version": parser,
        "counts": orjson.dumps(counts or {"unchanged": 115, "changed": 5}).decode() if ended else "",
        "listings_known": listings if ended else 0,
        "pages_known": listings if ended else 0,
        "change_events": 5,
        "requests": 130,
        "bytes": 4_000_000,
        "measured": orjson.dumps(
            {"listings": listings, "elapsed_s": 300.0, "fill": {"name": 1.0, "price": 0.98, "gtin": 0.4}, "old": 0}
        ).decode() if ended else None,
        **values,
    }  # fmt: skip
    (run_id,) = conn.execute(insert(runs).values(row)).inserted_primary_key or (0,)
    return int(run_id)


def tallied(conn: Connection, store: str, run_id: int, at_ms: int, tier: str, outcome: str, visits: int) -> None:
    """Note visits of a run, added up."""
    sums = {"visits": visits, "requests": visits, "bytes": visits * 30_000, "elapsed_ms": visits * 400}
    key = {"run_id": run_id, "at": at_ms - at_ms % 300_000, "page_type": "product", "tier": tier, "outcome": outcome}
    conn.execute(insert(tallies).values({**key, "store": store, **sums}))


def planned(conn: Connection, store: str, now_ms: int, kind: str = "refresh", every_ms: int = DAY) -> int:
    """Plan a job that was due now, and so comes again later."""
    plan = Plan(store=store, kind=kind, schedule=Schedule(every_ms=every_ms), time_limit_s=3600)
    job_id = jobs.enqueue(conn, plan, at_ms=now_ms)
    conn.execute(jobs_table.update().where(jobs_table.c.id == job_id).values(next_run_at=now_ms + 6 * HOUR))
    return job_id


def held(conn: Connection, store: str, run_id: int, at_ms: int, pages: int) -> None:
    """Hold the changes of some pages."""
    rows = [
        {
            "store": store, "page_id": run_id * 1000 + number, "url_key": f"https://{store}.example/p/{number}",
            "run_id": run_id, "visit_id": number, "kind": "changed", "status": "held", "gate": "price_ratio",
            "reason": "prices fell by the factor 10", "created_at": at_ms, "stale_since": at_ms, "decided_at": 0,
        }
        for number in range(pages)
    ]  # fmt: skip
    conn.execute(insert(holds), rows)


def blocked(conn: Connection, store: str, run_id: int, at_ms: int, count: int, vendor: str = "cloudflare") -> None:
    """Note block pages, a minute apart."""
    rows = [
        {
            "run_id": run_id, "store": store, "page_id": 0, "url": f"https://{store}.example/p/{number}",
            "kind": "status", "value": "403", "vendor": vendor, "tier": "http", "at": at_ms + number * MINUTE,
        }
        for number in range(count)
    ]  # fmt: skip
    conn.execute(insert(blocks), rows)


def opened(conn: Connection, store: str, now_ms: int) -> None:
    """Open a store's breaker for an hour."""
    reason = "20 of the newest 25 visits were blocked"
    breakers.record(conn, store, Breaker(State.OPEN, now_ms - HOUR, now_ms + HOUR, 2, reason))


def has_lease(conn: Connection, store: str, run_id: int, now_ms: int) -> None:
    """Have a run hold its store."""
    values = {"lease_token": "t", "lease_expires_at": now_ms + MINUTE, "lease_run_id": run_id}
    conn.execute(stores.update().where(stores.c.name == store).values(values))


def every_state(conn: Connection, folder: Path, now: int) -> None:
    """Make a store for each state, named after it."""
    for name in (
        "fine", "running", "blocked", "held", "stale", "failed-ours", "failed-shop", "partial", "never", "budget",
        "paused", "moved", "fresh",
    ):  # fmt: skip
        budget = "[budget.month]\nrequests = 100\n" if name == "budget" else ""
        written(folder, LEAST + budget, name)
    written(folder, "base_url = 'nonsense\n", "broken")
    for name in ("fine", "running", "blocked", "held", "failed-ours", "failed-shop", "partial", "moved", "broken",
                 "gone", "paused", "budget"):  # fmt: skip
        for hours in (50, 26, 20, 14, 8):
            ran(conn, name, now - hours * HOUR)
        planned(conn, name, now)
    ran(conn, "fine", now - 2 * HOUR)
    has_lease(conn, "running", ran(conn, "running", now - 4 * MINUTE, RunStatus.RUNNING), now)
    run = ran(conn, "blocked", now - HOUR, RunStatus.BLOCKED, reason="80 blocked", counts={"blocked": 80})
    blocked(conn, "blocked", run, now - HOUR, 30)
    tallied(conn, "blocked", run, now - HOUR, "http", "blocked", 80)
    opened(conn, "blocked", now)
    reason = "the changes of 7 pages are held, not published: prices fell"
    run = ran(conn, "held", now - HOUR, RunStatus.HELD, reason=reason, counts={"held": 7, "unchanged": 100})
    held(conn, "held", run, now - HOUR, 7)
    for days in (9, 8, 7, 6):
        ran(conn, "stale", now - days * DAY)
    planned(conn, "stale", now)
    for hours in (3, 2, 1):
        reason = "12 exceptions in storebot itself, see the log; 12 invalid"
        ran(conn, "failed-ours", now - hours * HOUR, RunStatus.FAILED, reason=reason, parser="3-bbbb2222",
            counts={"invalid": 120})  # fmt: skip
    reason = "domain moved: 118 of 120 pages redirect to parked.example; is base_url still the shop's?"
    ran(conn, "failed-shop", now - HOUR, RunStatus.FAILED, reason=reason, counts={"moved": 118})
    ran(conn, "partial", now - HOUR, RunStatus.PARTIAL, reason="9 error", counts={"error": 9, "unchanged": 111})
    old, new = (ran(conn, "moved", now - hours * HOUR, counts={"unchanged": 120}) for hours in (4, 3))
    tallied(conn, "moved", old, now - 4 * HOUR, "http", "unchanged", 120)
    tallied(conn, "moved", new, now - 3 * HOUR, "browser", "unchanged", 120)
    ran(conn, "moved", now - HOUR, RunStatus.INTERRUPTED, reason="stopped by a signal; the next run resumes",
        counts={"unchanged": 0})  # fmt: skip
    spent = {"store": "budget", "day": now // DAY, "tier": "http", "page_type": "product", "currency": ""}
    sums = {name: 100 for name in ("visits", "requests", "bytes", "elapsed_ms")}
    conn.execute(insert(spending).values({**spent, **sums, "browser_ms": 0, "billed": 0, "cost_micro": 0}))
    for file in folder.glob("*/store.toml"):
        os.utime(file, (now / 1000 - 30 * 86_400,) * 2)
    for job in jobs.find(conn, store="paused"):
        conn.execute(jobs_table.update().where(jobs_table.c.id == job.id).values(status="paused"))
