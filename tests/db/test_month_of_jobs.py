"""A month of jobs by a fake clock, with each change of the clock in it: the timeline is exactly the expected one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from sqlalchemy import create_engine

from storebot.core.jobs import verdict_of
from storebot.core.schedule import Schedule
from storebot.db import job_claims, jobs, sqlite
from storebot.db.addresses import database_url
from storebot.db.database import Database
from storebot.db.holders import this_process
from storebot.db.jobs import Job, Plan
from storebot.db.schema import metadata

BERLIN = ZoneInfo("Europe/Berlin")
HOUR_MS = 3_600_000
Ending = Callable[[datetime], tuple[int, timedelta]]  # begin -> exit code and how long it takes


@pytest.fixture
def memory() -> Iterator[Database]:
    """A database in memory, with all tables."""
    engine = create_engine("sqlite://")
    sqlite.set_up(engine, wal=False)
    metadata.create_all(engine)
    yield Database(database_url("sqlite:///memory.db"), engine)
    engine.dispose()


@dataclass
class Clockwork:
    """Workers with ``hands`` hands, a clock that jumps to the next thing that happens, and what each job does."""

    database: Database
    ends: dict[str, Ending]  # store -> how its jobs end
    hands: int = 4

    def run(self, begin: datetime, end: datetime) -> dict[str, list[tuple[str, str, str]]]:
        """Return, by store, when each attempt began by the wall clock, its verdict, and the status after it."""
        now, until = _ms(begin), _ms(end)
        underway: list[tuple[int, int, Job, int]] = []  # end, place, job, exit code
        told: dict[str, list[tuple[str, str, str]]] = {store: [] for store in self.ends}
        place = 0
        while now < until:
            for one in sorted(each for each in underway if each[0] <= now):
                underway.remove(one)
                verdict = verdict_of(one[3])
                with self.database.write() as conn:
                    found = job_claims.finish(conn, one[2], verdict, at_ms=now)
                began = _wall(one[2].started_at)
                told[one[2].store].append((began, verdict.value, found.status.value))
            while len(underway) < self.hands and (job := self._claim(str(place), now)):
                code, takes = self.ends[job.store](datetime.fromtimestamp(now / 1000, BERLIN))
                underway.append((now + takes // timedelta(milliseconds=1), place, job, code))
                place += 1
            now = min([one[0] for one in underway] + self._due(now) + [until])
        return told

    def _claim(self, token: str, now: int) -> Job | None:
        with self.database.write() as conn:
            return job_claims.claim(conn, f"token{token}", this_process(), 300, at_ms=now)

    def _due(self, now: int) -> list[int]:
        with self.database.read() as conn:
            return [at for job in jobs.find(conn) if (at := job.next_run_at) is not None and at > now]


def _ms(moment: datetime) -> int:
    return round(moment.timestamp() * 1000)


def _wall(at: int) -> str:
    return datetime.fromtimestamp(at / 1000, BERLIN).strftime("%d %H:%M:%S%z")


def add(database: Database, at: datetime, plan: Plan) -> None:
    with database.write() as conn:
        jobs.enqueue(conn, plan, at_ms=_ms(at))


@pytest.mark.parametrize(
    ("month", "change_day", "before", "after", "changed"),
    [
        (3, 29, "+0100", "+0200", "29 03:00:00+0200"),  # 02:30 isn't there: right after the gap
        (10, 25, "+0200", "+0100", "25 02:30:00+0200"),  # 02:30 comes twice: at its first
    ],
    ids=["spring", "autumn"],
)
def test_a_month(memory: Database, month: int, change_day: int, before: str, after: str, changed: str) -> None:
    begin = datetime(2026, month, 1, tzinfo=BERLIN)
    end = datetime(2026, month + 1, 1, tzinfo=BERLIN)
    nightly = Schedule(cron="30 2 * * *", timezone="Europe/Berlin")
    base = Plan(store="", kind="refresh", time_limit_s=86_400)
    add(memory, begin, replace(base, store="steady", schedule=nightly))
    add(memory, begin, replace(base, store="slow", schedule=Schedule(every_ms=2 * HOUR_MS)))
    add(memory, begin, replace(base, store="failing", schedule=nightly))
    add(memory, begin, replace(base, store="blocking", schedule=replace(nightly, blackout=("06:00-22:00",))))
    quick, slow = timedelta(minutes=5), timedelta(hours=3)

    def blocks(at: datetime) -> tuple[int, timedelta]:
        return (4, timedelta(0)) if at.day < 3 else (0, quick)

    def fails(at: datetime) -> tuple[int, timedelta]:
        return (1, timedelta(0)) if at.day != 20 else (0, quick)

    ends: dict[str, Ending] = {
        "steady": lambda at: (0, quick),
        "slow": lambda at: (0, slow),  # longer than its interval
        "failing": fails,
        "blocking": blocks,
    }
    told = Clockwork(memory, ends).run(begin, end)

    def night(day: int) -> str:
        return changed if day == change_day else f"{day:02} 02:30:00{before if day < change_day else after}"

    assert told["steady"] == [(night(day), "done", "pending") for day in range(1, 32)]

    fourth_hours = [begin.timestamp() + hours * 3600 for hours in range(0, 24 * 31 + 2, 4)]
    last_end = end.timestamp() - slow.total_seconds()
    assert told["slow"] == [(_wall(round(at * 1000)), "done", "pending") for at in fourth_hours if at < last_end], (
        "the slot that passes while it runs is left out, and nothing overlaps"
    )

    expected = []
    for day in range(1, 32):
        if day == 20:
            expected.append((night(day), "done", "pending"))
            continue
        start = datetime.strptime(f"2026 {month} {night(day)}", "%Y %m %d %H:%M:%S%z")
        for wait_s, status in ((0, "pending"), (30, "pending"), (90, "pending"), (210, "pending"), (450, "failed")):
            expected.append((_wall(_ms(start) + wait_s * 1000), "failed", status))
    assert told["failing"] == expected
    with memory.read() as conn:
        failures = {job.store: job.failures for job in jobs.find(conn)}
    assert failures == {"steady": 0, "slow": 0, "failing": 11, "blocking": 0}

    # 30 min, 1 h later; after 2 h the blackout has begun, so at its end; 4 h later; after 8 h and after 16 h the same.
    assert told["blocking"][:7] == [
        (f"01 02:30:00{before}", "blocked", "pending"),
        (f"01 03:00:00{before}", "blocked", "pending"),
        (f"01 04:00:00{before}", "blocked", "pending"),
        (f"01 22:00:00{before}", "blocked", "pending"),
        (f"02 02:00:00{before}", "blocked", "pending"),
        (f"02 22:00:00{before}", "blocked", "pending"),
        (f"03 22:00:00{before}", "done", "pending"),
    ]
    assert told["blocking"][7:] == [(night(day), "done", "pending") for day in range(4, 32)]
