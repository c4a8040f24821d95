"""What is read of all stores at once, on each backend."""

from __future__ import annotations

from pathlib import Path

from storebot.core.breaker import State
from storebot.db.board import standings as board
from storebot.db.database import Database, now_ms
from storebot.db.schema import jobs as jobs_table
from storebot.items import RunStatus
from tests.dashboard.pages.states import HOUR, every_state, held, opened, planned, ran, tallied


def test_names_are_those_with_runs_rows_or_jobs(database: Database) -> None:
    with database.write() as conn:
        now = now_ms(conn)
        ran(conn, "ran", now)
        opened(conn, "shut", now)
        planned(conn, "planned", now)
        assert board.names(conn) == ["planned", "ran", "shut"]


def test_newest_runs_come_first_and_only_so_many(database: Database) -> None:
    with database.write() as conn:
        now = now_ms(conn)
        ids = [ran(conn, "acme", now - hours * HOUR) for hours in (3, 2, 1)]
        ran(conn, "other", now)
        assert [run.id for run in board.newest_runs(conn, "acme", 2)] == [ids[2], ids[1]]
        newest = board.newest_runs(conn, "acme")[0]
        assert (newest.status, newest.counts, newest.listings) == (
            RunStatus.COMPLETE,
            {"unchanged": 115, "changed": 5},
            120,
        )


def test_the_last_good_run_is_found_behind_many_that_were_not(database: Database) -> None:
    with database.write() as conn:
        now = now_ms(conn)
        good = ran(conn, "acme", now - 99 * HOUR)
        for number in range(board.RUNS):
            ran(conn, "acme", now - HOUR + number, RunStatus.BLOCKED, counts={"blocked": 9})
        newest = board.newest_runs(conn, "acme")
        assert good not in [run.id for run in newest]
        found = board.last_good(conn, "acme", newest)
        assert found is not None
        assert found.id == good
        assert board.last_good(conn, "nobody", []) is None


def test_rows_tell_breaker_and_a_lease_that_is_still_held(database: Database, tmp_path: Path) -> None:
    with database.write() as conn:
        now = now_ms(conn)
        every_state(conn, tmp_path, now)
        found = board.rows(conn, now)
        assert found["blocked"].breaker.state is State.OPEN
        assert found["running"].run_id > 0
        assert board.rows(conn, now + HOUR)["running"].run_id == 0  # its lease has expired by then
        assert board.rows(conn, now, ["fine"]).keys() == {"fine"}


def test_held_pages_are_counted_by_store(database: Database) -> None:
    with database.write() as conn:
        now = now_ms(conn)
        held(conn, "acme", 1, now - HOUR, 3)
        held(conn, "other", 2, now, 1)
        assert board.held(conn, ["acme", "quiet"]) == {"acme": (3, now - HOUR)}


def test_jobs_that_may_run_are_told_by_store(database: Database) -> None:
    with database.write() as conn:
        now = now_ms(conn)
        job_id = planned(conn, "acme", now)
        over = planned(conn, "acme", now, kind="prune")
        conn.execute(jobs_table.update().where(jobs_table.c.id == over).values(active_key=None, status="done"))
        (job,) = board.active_jobs(conn)["acme"]
        assert board.planned(job) == (job_id, "refresh", "pending", now + 6 * HOUR, 24 * HOUR, True)
        assert board.active_jobs(conn, "other") == {}


def test_tiers_are_added_up_by_run(database: Database) -> None:
    with database.write() as conn:
        now = now_ms(conn)
        tallied(conn, "acme", 1, now - HOUR, "http", "unchanged", 70)
        tallied(conn, "acme", 1, now, "http", "changed", 5)
        tallied(conn, "acme", 1, now, "browser", "unchanged", 25)
        assert board.tiers(conn, [1, 2]) == {1: {"http": 75, "browser": 25}, 2: {}}
        assert board.tiers(conn, []) == {}
