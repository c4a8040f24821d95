"""A database with a store in every state, for whoever looks at pages: made by real crawls where these are quick."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from sqlalchemy import insert, update

from storebot.core.alerts.alerting import Alert
from storebot.core.alerts.finding import Kind
from storebot.core.breaker import Breaker, State
from storebot.core.expect import Measures
from storebot.core.jobs import Verdict
from storebot.core.page import Page
from storebot.core.schedule import Schedule
from storebot.core.webhooks.answers import Answer
from storebot.core.webhooks.subscription import Subscription
from storebot.dashboard.site import Site
from storebot.db import alerts, breakers, deliveries, job_orders, job_runs, jobs, leases, runs, subscriptions
from storebot.db.database import Database
from storebot.db.dialects import now_ms
from storebot.db.schema import blocks
from storebot.db.schema import runs as runs_table
from storebot.demo.running import DemoProcess
from storebot.failed_pages import FailedPages
from storebot.items import BlockSignal, Outcome, RunStatus
from tests.crawls.scrapy_process import ROOT, crawl
from tests.dashboard.hostile import NASTY
from tests.db.gated import GatedWorker
from tests.db.shop import HOUR, Worker, listing, parsed, unparsed

FINE, BLOCKED, HELD, STALE, FAILED, RUNNING, EMPTY = (
    "demo",
    "blocked-shop",
    "held-shop",
    "stale-shop",
    "failed-shop",
    "running-shop",
    "empty-shop",
)
STATES = (FINE, BLOCKED, HELD, STALE, FAILED, RUNNING, EMPTY)
HOSTILE = "hostile-shop"
_FILE = """
base_url = "https://{name}.example"
product_url = "/p/"
[refresh]
interval = "24h"
"""


def seed(folder: Path) -> Site:
    """Fill a database in a folder, and return what a dashboard over it knows."""
    stores = folder / "stores"
    for name in (*STATES[1:], HOSTILE):
        (stores / name).mkdir(parents=True)
        (stores / name / "store.toml").write_text(_FILE.format(name=name), encoding="utf-8")
    path = folder / "store.db"
    _fine(path, folder)
    database = Database.open(f"sqlite:///{path}")
    for make in (_blocked, _held, _stale, _failed, _running, _hostile, _jobs, _told):
        make(database)
    kept = FailedPages(folder / "failed_pages", FAILED, 5)
    body = f"<html><head><title>Mug</title></head><body><h1>{NASTY[0]}</h1></body></html>".encode()
    page = Page(url="https://failed-shop.example/p/1", status=200, headers={"Content-Type": "text/html"}, body=body)
    kept.keep(page, "name: no selector found anything", int(time.time() * 1000) - HOUR - 120_000)
    return Site(
        database=database,
        folders=(str(stores),),
        archive=path.with_suffix(".pages"),
        failed_pages=folder / "failed_pages",
        exports=folder / "exports",
        logs=folder / "logs",
        disks={"database": folder},
        local_user="operator",
    )


def _fine(path: Path, folder: Path) -> None:
    env = {"STOREBOT_FAILED_PAGES": str(folder / "failed_pages")}
    with DemoProcess(products=40) as shop:
        for phase, changed in (("backfill", 0), ("refresh", 9), ("refresh", 3)):
            if changed:
                shop.advance(changed=changed, vanished=1, appeared=1)
            done = crawl(phase, FINE, database=path, base_url=shop.url, env=env)
            assert done.exit_code in (0, 3), done.stderr
    own = {"STOREBOT_DATABASE_URL": f"sqlite:///{path}", "STOREBOT_ARCHIVE": str(path.with_suffix(".pages"))}
    _scrapy(own, "stage", "enrich", "--store", FINE)
    _scrapy(own, "stage", "score", "--store", FINE)
    _scrapy(own, "export", "--store", FINE, "--format", "csv", "--out", str(folder / "exports"))


def _scrapy(env: Mapping[str, str], *words: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "scrapy", *words],
        cwd=ROOT,
        env={**os.environ, **env, "STOREBOT_PROGRESS": "off"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def _ended(worker: Worker, status: RunStatus, reason: str, outcomes: Mapping[Outcome, int], hours_ago: float) -> None:
    """End a run, some time ago."""
    run_id, now = worker.run.run_id, worker.clock()
    ended = now - int(hours_ago * HOUR)
    with worker.database.write() as conn:
        runs.finish(
            conn,
            run_id,
            status,
            reason,
            outcomes=outcomes,
            requests=sum(outcomes.values()),
            pages_known=sum(outcomes.values()),
            listings_known=sum(outcomes.values()),
            measured=Measures(listings=sum(outcomes.values()), fill={"name": 1.0, "price": 0.98}),
        )
        leases.release(conn, worker.store, worker.token)
        times = {"started_at": ended - 600_000, "finished_at": ended}
        conn.execute(update(runs_table).where(runs_table.c.id == run_id).values(times))


def _shop(database: Database, name: str, pages: int = 12, hours_ago: float = 50) -> Worker:
    """Have a store that was backfilled some time ago."""
    worker = Worker(database, token=f"first {name}", store=name, kind="backfill")
    worker.discover(*map(str, range(pages)))
    at = worker.clock() - int(hours_ago * HOUR)
    for number, target in enumerate(worker.pending(limit=1000)):
        worker.save(parsed(target, listing(f"Mug {number}", 1000 + number, sku=f"M-{number}"), at=at))
    _ended(worker, RunStatus.COMPLETE, "", {Outcome.NEW: pages}, hours_ago)
    return worker


def _blocked(database: Database) -> None:
    _shop(database, BLOCKED)
    worker = Worker(database, token="b", store=BLOCKED)
    signal = BlockSignal("body", "cf-chl-", "cloudflare", "http")
    targets = worker.due()
    at = worker.clock() - HOUR
    worker.save(*(unparsed(one, Outcome.BLOCKED, at, status=403, blocks=(signal,)) for one in targets))
    _ended(worker, RunStatus.BLOCKED, "12 of 12 pages were blocked (cloudflare)", {Outcome.BLOCKED: len(targets)}, 1)
    with database.write() as conn:
        until = worker.clock() + HOUR
        breakers.record(conn, BLOCKED, Breaker(State.OPEN, at, until, 2, "12 of 12 visits were blocked"))


def _held(database: Database) -> None:
    _shop(database, HELD)
    worker = GatedWorker(database, sample=1, token="h", store=HELD)
    targets = worker.due()
    at = worker.clock() - 2 * HOUR
    worker.save(
        *(
            parsed(one, listing(f"Mug {number}", 100 * (1000 + number), sku=f"M-{number}"), at=at)
            for number, one in enumerate(targets)
        )
    )
    worker.finish()  # the gate holds them all
    assert len(worker.holds("held")) == len(targets)
    _ended(worker, RunStatus.HELD, worker.holds()[0]["reason"], {Outcome.HELD: len(targets)}, 2)


def _stale(database: Database) -> None:
    _shop(database, STALE, hours_ago=24 * 20)
    for day in range(19, 11, -1):
        worker = Worker(database, token=f"s{day}", store=STALE)
        _ended(worker, RunStatus.COMPLETE, "", {Outcome.NOT_MODIFIED: 12}, 24 * day)


def _failed(database: Database) -> None:
    _shop(database, FAILED)
    for number in range(3):
        worker = Worker(database, token=f"f{number}", store=FAILED)
        at = worker.clock() - (3 - number) * HOUR
        targets = worker.due(before=at + 10_000 * HOUR)
        worker.save(*(unparsed(one, Outcome.ERROR, at, reason="TimeoutError: no answer in 30 s") for one in targets))
        reason = "12 of 12 pages failed: TimeoutError: no answer in 30 s"
        _ended(worker, RunStatus.FAILED, reason, {Outcome.ERROR: len(targets)}, 3 - number)


def _running(database: Database) -> None:
    _shop(database, RUNNING)
    worker = Worker(database, token="r", store=RUNNING)
    targets = worker.due(limit=5)
    worker.save(*(parsed(one, listing(), at=worker.clock()) for one in targets))


def _hostile(database: Database) -> None:
    """Have a shop that writes markup into every field."""
    worker = Worker(database, token="x", store=HOSTILE, kind="backfill")
    worker.discover(*map(str, range(len(NASTY))))
    for number, target in enumerate(worker.pending(limit=1000)):
        text = NASTY[number]
        one = listing(
            text,
            1000 + number,
            brand=text,
            sku=text[:500],
            seller=text,
            description=text,
            condition=text,
            main_image=text,
            images=(text,),
            canonical_url=text,
            options={text[:200]: text},
            category_path=(text,),
            field_source={"name": text},
        )
        worker.save(parsed(replace(target, url=target.url), one, at=worker.clock(), requested_url=text))
    _ended(worker, RunStatus.FAILED, NASTY[0], {Outcome.NEW: len(NASTY)}, 1)
    second = Worker(database, token="x2", store=HOSTILE)
    at = second.clock()
    second.save(*(unparsed(one, Outcome.ERROR, at, reason=NASTY[0] * 3) for one in second.due(limit=3)))
    _ended(second, RunStatus.FAILED, NASTY[0], {Outcome.ERROR: 3}, 0.5)
    row = {"run_id": second.run.run_id, "store": HOSTILE, "page_id": 1, "kind": "body", "vendor": NASTY[0][:60]}
    with database.write() as conn:
        conn.execute(insert(blocks), {**row, "url": "javascript:alert(1)", "value": NASTY[0], "tier": "http", "at": at})


def _jobs(database: Database) -> None:
    with database.write() as conn:
        for store in STATES:
            jobs.enqueue(
                conn,
                jobs.Plan(store=store, kind="refresh", schedule=Schedule(every_ms=24 * HOUR), time_limit_s=86_400),
                by="seed",
            )
        (tried,) = jobs.find(conn, store=FAILED)
        job_runs.begin(conn, tried, "token of the attempt", now_ms(conn) - HOUR)
        job_runs.end(conn, "token of the attempt", Verdict.FAILED, now_ms(conn), exit_code=1, reason=NASTY[0])
        paused = jobs.enqueue(
            conn,
            jobs.Plan(store=STALE, kind="export", schedule=Schedule(every_ms=24 * HOUR), time_limit_s=86_400),
            by="seed",
        )
        job_orders.pause(conn, paused)


def _daily(store: str, kind: str) -> jobs.Plan:
    return jobs.Plan(store=store, kind=kind, schedule=Schedule(every_ms=24 * HOUR), time_limit_s=86_400)


def _told(database: Database) -> None:
    worker = Worker(database, token="t", store="told-shop")
    now = worker.clock()
    _ended(worker, RunStatus.COMPLETE, "", {Outcome.NOT_MODIFIED: 1}, 1)
    with database.write() as conn:
        text, advice = "it is left alone, because 12 of 12 visits were blocked.", "docs/operating.md, Exit 4: blocked"
        alert = Alert(
            key=f"{Kind.BREAKER.value} {BLOCKED}",
            kind=Kind.BREAKER,
            store=BLOCKED,
            text=text,
            advice=advice,
            since=now - HOUR,
            told_at=now - HOUR,
        )
        alerts.save(conn, {}, {alert.key: alert})
        receiver = Subscription(0, "https://receiver.example/hook", "HOOK_SECRET")
        receiver = receiver._replace(id=subscriptions.add(conn, receiver, by="seed", after=0))
        batch = deliveries.next_batch(conn, receiver)
        assert batch is not None
        deliveries.put(conn, receiver, batch, now)
        waiting = deliveries.waiting(conn, receiver.id)
        assert waiting is not None
        deliveries.failed(conn, waiting, Answer(status=500), now, 0.0)
