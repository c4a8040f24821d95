"""One month of everything by one fake clock: store files, worker, jobs, runs, expectations, alerts and outbox.

October 2026 has both changes of the clock: Sydney's goes forward on the 4th, Berlin's back on the 25th. Only the crawls
and the services that take messages are scripted; all else is real, over a real SQLite file whose clock is ours.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from sqlite3 import Connection as SQLiteConnection
from typing import NamedTuple
from zoneinfo import ZoneInfo

import pytest
from sqlalchemy import Connection, event

from storebot.core.alerts.message import Channel, Message
from storebot.core.expect import missed
from storebot.db import expectations, job_runs, jobs, leases, runs
from storebot.db.database import Database, now_ms
from storebot.db.holders import is_alive, this_process
from storebot.db.job_runs import JobRun
from storebot.db.jobs import Job
from storebot.exceptions import StoreBusy
from storebot.items import RunStatus
from storebot.jobs.launching import Ended
from storebot.jobs.planning import sync_all
from storebot.jobs.worker import Worker
from storebot.notify.alerts_file import AlertsFile
from storebot.notify.recipients import Recipient
from storebot.notify.tending import Tending, tend
from storebot.stores import load_store
from tests.core.alerts.timeline import BERLIN, at
from tests.notify.standing import ANN, BOB, changed
from tests.stores.writing import LEAST, written

SYDNEY = ZoneInfo("Australia/Sydney")
HOUR = 3_600_000
BEGIN, END = at("2026-10-01 00:00"), at("2026-11-01 00:00")
NIGHTLY = 'refresh = "30 2 * * *"\ntimezone = "{}"\n'
STORES = {
    "harbour": LEAST + "[schedule]\n" + NIGHTLY.format("Australia/Sydney") + '[expect]\nmax_run_time = "1h"\n',
    "mill": LEAST + "[schedule]\n" + NIGHTLY.format("Europe/Berlin"),
    "forge": LEAST + "[schedule]\n" + NIGHTLY.format("Europe/Berlin"),
    "barge": LEAST + '[schedule]\nrefresh = "every 24h"\ntime_limit = "48h"\n',
}
ALERTS = {
    "time_zone": "Europe/Berlin",
    "operator": {"quiet": "22:00-07:00"},
    "business": {"quiet": "20:00-08:00", "every": "6h"},
}
FROM_CRON = (at("2026-10-12 02:15"), at("2026-10-12 02:52"))  # a crawl of mill that a person starts
UNREACHABLE = (at("2026-10-06 12:00"), at("2026-10-08 12:00"))  # ann
NO_WORKER = (at("2026-10-27 12:00"), at("2026-10-29 20:00"))  # its machine is down; alerts are tended by a cron
"""What the world does, beside what `Crawl` says of each store."""

MONTH = ""


class Crawl(NamedTuple):
    """What a crawl comes to that begins at some time."""

    takes: timedelta = timedelta(minutes=5)
    status: RunStatus = RunStatus.COMPLETE
    exit_code: int = 0
    reason: str = ""


def crawl_of(store: str, moment: datetime) -> Crawl:
    """Return how a crawl goes, by its begin in Berlin."""
    if store == "barge":
        return Crawl(timedelta(hours=30))  # longer than its interval
    if store == "forge" and 5 <= moment.day <= 8:
        return Crawl(timedelta(seconds=10), RunStatus.FAILED, 1, "each page answers 500")
    if store == "harbour" and moment.day in (15, 16):
        return Crawl(timedelta(minutes=90))  # its [expect] says an hour
    return Crawl()


class World:
    """The clock, which the database goes by, too, and all that happens by it."""

    def __init__(self, folder: Path) -> None:
        self.now, self.said = BEGIN, dict[str, list[tuple[int, str]]]()
        for name, text in STORES.items():
            written(folder / "stores", text, name)
        self.folders = (str(folder / "stores"),)
        self.database = Database.open(f"sqlite:///{folder / 'month.db'}")
        engine = self.database._engine
        engine.dispose()
        event.listen(engine, "connect", self._set_clock)
        self.tending = Tending(
            file=AlertsFile.model_validate(ALERTS),
            recipients={Channel.OPERATOR: (ANN,), Channel.BUSINESS: (BOB,)},
            folders=self.folders,
        )

    def _set_clock(self, connection: SQLiteConnection, _: object) -> None:
        connection.create_function("julianday", 1, lambda _: 2440587.5 + self.now / 86_400_000)

    def send(self, recipient: Recipient, message: Message) -> str:
        if recipient is ANN and UNREACHABLE[0] <= self.now < UNREACHABLE[1]:
            return "HTTP 503"
        self.said.setdefault(recipient.id, []).append((self.now, message.title))
        return ""


@dataclass
class Shops:
    """Where the worker's jobs run: each does to the database what a crawl does."""

    world: World
    underway: list[Crawling] = field(default_factory=list)

    def start(self, job: Job, token: str) -> Crawling:
        begun = Crawling(self.world, job.store, job.kind, token)
        self.underway.append(begun)
        return begun

    def adopt(self, run: JobRun) -> None:
        """Nothing is left of a machine that was down."""

    def next_end(self) -> int:
        return min((one.ends_at for one in self.underway if one.ends_at > self.world.now), default=END)


class Crawling:
    """A crawl under way: it has the store's lease and a row of its own, or neither."""

    holder = node = log = ""

    def __init__(self, world: World, store: str, kind: str, token: str) -> None:
        self.world, self.store, self.kind, self.token = world, store, kind, token
        self.ends_at, self.run_id = world.now, 0
        self.crawl = crawl_of(store, datetime.fromtimestamp(world.now / 1000, BERLIN))
        try:
            with world.database.write() as conn:
                leases.take(conn, store, token, this_process(), 7 * 24 * 3600, is_alive)
                self.run_id = runs.start(conn, store, kind, token=token)
        except StoreBusy:
            return
        self.ends_at += self.crawl.takes // timedelta(milliseconds=1)

    def ended(self) -> Ended | None:
        if not self.run_id:
            return Ended(7, "another run holds the store")
        if self.world.now < self.ends_at:
            return None
        with self.world.database.write() as conn:
            self._close(conn)
            leases.release(conn, self.store, self.token)
        return Ended(self.crawl.exit_code, self.crawl.reason)

    def _close(self, conn: Connection) -> None:
        """End the run as `Session` does: measured, and marked with what it misses of its store's [expect]."""
        expect = load_store(self.store, self.world.folders).expect.of(self.kind)
        now = now_ms(conn)
        measured = expectations.measure(conn, self.store, now_ms=now, started_ms=self.ends_at - self._took)
        misses = missed(expect, measured, expectations.past(conn, self.store, self.kind, self.run_id))
        ok = self.crawl.status is RunStatus.COMPLETE
        marks = {"measured": measured, "missed": misses} if ok else {}
        runs.finish(conn, self.run_id, self.crawl.status, self.crawl.reason, outcomes={}, **marks)
        if self.store == "mill" and datetime.fromtimestamp(now / 1000, BERLIN).day == 10:
            changed(conn, now, "price_minor", 1000, 800, store="mill")

    @property
    def _took(self) -> int:
        return self.crawl.takes // timedelta(milliseconds=1)

    def stop(self) -> None:
        """Its machine is down before anybody could tell it."""

    kill = stop


def timeline(world: World, attempts: list[JobRun]) -> str:
    """Return the month as text: what each store's jobs did, by its own wall clock, then who was told what when."""
    lines = []
    for store in STORES:
        zone = SYDNEY if store == "harbour" else BERLIN
        mine = [(local(run.started_at, zone), f"{run.kind} {run.verdict}") for run in attempts if run.store == store]
        lines += ["", f"{store}, {zone.key}", *told(mine)]
    for who, said in sorted(world.said.items()):
        lines += ["", f"{who}, {BERLIN.key}", *told((local(moment, BERLIN), title) for moment, title in said)]
    return "\n".join(lines)


def local(moment: int, zone: ZoneInfo) -> datetime:
    return datetime.fromtimestamp(moment / 1000, zone)


def test_the_month_is_exactly_this(tmp_path: Path) -> None:
    world = World(tmp_path)
    try:
        found = timeline(world, simulate(world))
    finally:
        world.database.dispose()
    assert found == MONTH


def simulate(world: World) -> list[JobRun]:
    """Let the month pass; return the attempts of jobs. Alerts are tended each hour."""
    shops = Shops(world)
    worker, cron = new_worker(world, shops), None
    while world.now < END:
        if world.now == NO_WORKER[0]:
            worker, shops = None, Shops(world)  # and with the machine all that runs on it
        if world.now == NO_WORKER[1]:
            worker = new_worker(world, shops)
        if world.now == FROM_CRON[0]:
            cron = Crawling(world, "mill", "refresh", "cron")
            cron.ends_at = FROM_CRON[1]
        if cron is not None and cron.ended():
            cron = None
        if worker is not None:
            worker.tick()
        if world.now % HOUR == 0:
            tend(world.database, world.tending, send=world.send)
        world.now = min(following(world, shops, cron))
    with world.database.read() as conn:
        return job_runs.history(conn, limit=10_000)[::-1]


def new_worker(world: World, shops: Shops) -> Worker:
    worker = Worker(
        world.database,
        shops,
        concurrency=4,
        lease_s=300,
        grace_s=60,
        plan=lambda: sync_all(world.database, world.folders, lambda: 0.0),
        clock=lambda: world.now / 1000,
        chance=lambda: 0.0,
    )
    worker._holder = replace(this_process(), host=f"booted at {world.now}")  # another boot's isn't known to be dead
    return worker


def following(world: World, shops: Shops, cron: Crawling | None) -> Iterator[int]:
    """Yield the next moments at which something may happen."""
    yield from (END, (world.now // HOUR + 1) * HOUR, shops.next_end())
    yield from (moment for moment in (*NO_WORKER, *FROM_CRON) if moment > world.now)
    with world.database.read() as conn:
        waiting = [job.next_run_at for job in jobs.find(conn) if job.next_run_at is not None]
    yield from (moment for moment in waiting if moment > world.now)


def told(lines: Iterable[tuple[datetime, str]]) -> Iterator[str]:
    """Yield a line for each thing that happened; days on which the same happens at the same time are one line."""
    days: list[tuple[int, int, str]] = []  # from, until, the rest
    for moment, what in lines:
        rest = f"{moment:%H:%M:%S} {moment:%z} {what}"
        if days and days[-1][2] == rest and days[-1][1] == moment.day - 1:
            days[-1] = (days[-1][0], moment.day, rest)
        else:
            days.append((moment.day, moment.day, rest))
    for first, last, rest in days:
        yield f"{first:02}    {rest}" if first == last else f"{first:02}-{last:02} {rest}"
