"""Visits are forgotten with their run, when that is old enough and nothing of it may yet be published."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import func, insert, select

from storebot.db import retention
from storebot.db.database import Database
from storebot.db.holds import HoldStatus
from storebot.db.schema import blocks, holds, runs, visits
from tests.db.shop import NOW, STORE

DAY = 86_400_000


def ran(database: Database, ended_at: int | None, count: int = 3, store: str = STORE) -> int:
    """Have a run with so many visits; return its number."""
    row = {"store": store, "kind": "refresh", "status": "complete", "started_at": NOW - 200 * DAY}
    visit: dict[str, Any] = {
        "store": store, "page_id": 1, "page_type": "product", "outcome": "unchanged", "http_status": 200, "reason": "",
        "tier": "http", "requests": 1, "bytes": 1, "elapsed_ms": 1, "rows_written": 0, "changes": 0, "at": NOW,
    }  # fmt: skip
    with database.write() as conn:
        (run_id,) = conn.execute(insert(runs).values(**row, finished_at=ended_at)).inserted_primary_key or (0,)
        if count:
            conn.execute(insert(visits), [{**visit, "run_id": run_id}] * count)
    return int(run_id)


def held(database: Database, run_id: int, visit_id: int, status: HoldStatus) -> None:
    row = {
        "store": STORE, "page_id": 1, "url_key": "k", "run_id": run_id, "visit_id": visit_id, "kind": "changed",
        "status": status.value,
    }  # fmt: skip
    with database.write() as conn:
        conn.execute(insert(holds).values(row))


def left(database: Database) -> dict[int, int]:
    """Return how many visits each run has."""
    with database.read() as conn:
        rows = conn.execute(select(visits.c.run_id, func.count()).group_by(visits.c.run_id))
        return {run_id: count for run_id, count in rows}


def first_visit(database: Database, run_id: int) -> int:
    with database.read() as conn:
        return int(conn.execute(select(func.min(visits.c.id)).where(visits.c.run_id == run_id)).scalar_one())


class TestOnEachBackend:
    def test_only_visits_of_runs_that_ended_before_are_forgotten(self, database: Database) -> None:
        old, young = ran(database, NOW - 91 * DAY), ran(database, NOW - 89 * DAY)
        running, other = ran(database, None), ran(database, NOW - 91 * DAY, store="other")
        with database.read() as conn:
            assert retention.forgettable(conn, STORE, NOW - 90 * DAY) == 3
        assert retention.forget(database, STORE, NOW - 90 * DAY) == 3
        assert left(database) == {young: 3, running: 3, other: 3}
        assert retention.forget(database, None, NOW - 90 * DAY) == 3
        assert old not in left(database)
        assert retention.forget(database, None, NOW - 90 * DAY) == 0

    def test_runs_and_block_pages_stay(self, database: Database) -> None:
        run_id = ran(database, NOW - 91 * DAY)
        block = {"kind": "status", "value": "403", "vendor": "generic", "tier": "http", "at": NOW, "url": "u"}
        with database.write() as conn:
            conn.execute(insert(blocks).values(run_id=run_id, store=STORE, page_id=1, **block))
        retention.forget(database, STORE, NOW)
        with database.read() as conn:
            assert conn.execute(select(runs.c.id)).scalars().all() == [run_id]
            assert conn.execute(select(func.count()).select_from(blocks)).scalar_one() == 1

    @pytest.mark.parametrize("status", [HoldStatus.WAITING, HoldStatus.HELD])
    def test_a_run_stays_whole_while_a_hold_of_its_visits_is_open(self, database: Database, status: HoldStatus) -> None:
        """Publishing it counts its run anew, by the visits of that."""
        saw, judged, free = (ran(database, NOW - 91 * DAY) for _ in range(3))
        held(database, judged, first_visit(database, saw), status)
        held(database, free, first_visit(database, free), HoldStatus.REJECTED)
        assert retention.forget(database, STORE, NOW) == 3
        assert left(database) == {saw: 3, judged: 3}

    def test_at_most_so_many_go_at_once_and_the_next_call_goes_on(
        self, database: Database, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(retention, "_CHUNK", 2)
        first, second = ran(database, NOW - 91 * DAY, 5), ran(database, NOW - 91 * DAY, 5)
        assert retention.forget(database, STORE, NOW, most=3) == 4
        assert left(database) == {first: 1, second: 5}
        assert retention.forget(database, STORE, NOW) == 6
        assert left(database) == {}
