"""The ledger of runs."""

from __future__ import annotations

from storebot.db import runs
from storebot.db.database import Database
from storebot.items import Outcome, RunStatus
from tests.db.shop import STORE, VERSIONS, Worker


class TestRuns:
    def test_a_run_is_open_then_closed_with_what_it_came_to(self, database: Database) -> None:
        with database.write() as conn:
            run_id = runs.start(conn, STORE, "backfill", **VERSIONS)
            (run,) = runs.last(conn)
            assert (run.status, run.finished_at, run.outcomes) == (RunStatus.RUNNING, None, {})
            closed = runs.finish(
                conn,
                run_id,
                RunStatus.PARTIAL,
                "why",
                outcomes={Outcome.NEW: 3},
                requests=5,
                size_bytes=7,
                rows_written=3,
            )
            (run,) = runs.last(conn)
        assert closed
        assert (run.id, run.kind, run.status, run.reason) == (run_id, "backfill", RunStatus.PARTIAL, "why")
        assert (run.outcomes, run.requests, run.size_bytes, run.rows_written) == ({Outcome.NEW: 3}, 5, 7, 3)
        assert run.finished_at is not None
        assert run.finished_at >= run.started_at

    def test_a_run_is_closed_once(self, database: Database) -> None:
        """One that was taken for dead doesn't overwrite what its successor wrote."""
        with database.write() as conn:
            run_id = runs.start(conn, STORE, "refresh")
            assert runs.mark_interrupted(conn, STORE) == [run_id]
            assert not runs.finish(conn, run_id, RunStatus.COMPLETE, "", outcomes={})
            assert runs.last(conn)[0].status is RunStatus.INTERRUPTED

    def test_an_interrupted_run_has_the_counts_of_its_visits(self, database: Database) -> None:
        """M07: a partial run is never taken for a complete one."""
        worker = Worker(database)
        worker.known("1", "2", size_bytes=100)
        with database.write() as conn:
            runs.start(conn, "other", "refresh")
            runs.mark_interrupted(conn, STORE)
            other, run = runs.last(conn)
        assert (run.status, run.outcomes, run.size_bytes) == (RunStatus.INTERRUPTED, {Outcome.NEW: 2}, 200)
        assert "ended without closing it" in run.reason
        assert other.status is RunStatus.RUNNING

    def test_the_newest_come_first_of_one_store_or_all(self, database: Database) -> None:
        with database.write() as conn:
            ids = [runs.start(conn, store, "refresh") for store in ("a", "b", "a")]
            assert [run.id for run in runs.last(conn)] == ids[::-1]
            assert [run.id for run in runs.last(conn, "a", limit=1)] == [ids[2]]
            assert runs.last(conn, "c") == []
