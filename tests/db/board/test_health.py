"""What is read of storebot itself, on each backend."""

from __future__ import annotations

from sqlalchemy import insert, update

from storebot.db.board import health as board
from storebot.db.database import Database, now_ms
from storebot.db.schema import REVISION, job_runs, outbox
from storebot.db.schema import jobs as jobs_table
from storebot.items import RunStatus
from tests.dashboard.pages.states import HOUR, planned, ran


def test_the_database_tells_its_size_and_versions(database: Database) -> None:
    with database.read() as conn:
        found = board.standing(conn, database)
    assert found.revision == REVISION
    assert found.size_bytes > 0
    assert found.version[0].isdigit()
    assert (found.log_bytes is None) == (database.url.get_backend_name() != "sqlite")


def test_running_jobs_are_those_that_are_claimed(database: Database) -> None:
    with database.write() as conn:
        now = now_ms(conn)
        planned(conn, "acme", now)
        claimed = planned(conn, "other", now)
        conn.execute(update(jobs_table).where(jobs_table.c.id == claimed).values(status="running", started_at=now))
        assert [job.id for job in board.running_jobs(conn)] == [claimed]


def test_what_failed_last_is_found_behind_what_went_well(database: Database) -> None:
    with database.write() as conn:
        now = now_ms(conn)
        assert (board.last_attempt(conn), board.last_failure(conn), board.last_failed_run(conn)) == (0, None, None)
        for number, verdict in enumerate(("failed", "crashed", "done")):
            row = {"job_id": 1, "store": "acme", "kind": "refresh", "token": str(number), "verdict": verdict}
            conn.execute(insert(job_runs).values({**row, "started_at": now + number}))
        found = board.last_failure(conn)
        assert found is not None
        assert found.verdict == "crashed"
        assert board.last_attempt(conn) == now + 2
        failed = ran(conn, "acme", now - HOUR, RunStatus.FAILED, reason="it broke")
        ran(conn, "acme", now)
        assert board.last_failed_run(conn) == (failed, "acme", "refresh", "it broke", now - HOUR)


def test_the_message_that_waits_longest_is_told(database: Database) -> None:
    with database.write() as conn:
        assert board.oldest_waiting(conn) == 0
        row = {"channel": "operator", "recipient": "r", "alert_key": "k", "next_try_at": 0}
        rows = [
            {**row, "status": status, "created_at": at} for status, at in (("sent", 1), ("waiting", 7), ("waiting", 9))
        ]
        conn.execute(insert(outbox), rows)
        assert board.oldest_waiting(conn) == 7
