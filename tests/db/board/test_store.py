"""What the page of one store reads, on each backend."""

from __future__ import annotations

from typing import Any

from sqlalchemy import insert, update

from storebot.db import coverage
from storebot.db.board import store as board
from storebot.db.database import Database, now_ms
from storebot.db.schema import runs, spending
from storebot.items import RunStatus
from tests.dashboard.pages.states import DAY, HOUR, ran, tallied


def test_last_runs_come_the_oldest_first_with_what_was_measured(database: Database) -> None:
    with database.write() as conn:
        now = now_ms(conn)
        ids = [ran(conn, "acme", now - hours * HOUR) for hours in (3, 2, 1)]
        under_way = ran(conn, "acme", now, RunStatus.RUNNING)
        found = board.last_runs(conn, "acme", 3)
        assert [run.id for run in found] == [ids[1], ids[2], under_way]
        assert found[0].fill == {"name": 1.0, "price": 0.98, "gtin": 0.4}
        assert (found[2].fill, found[2].counts, found[2].finished_at) == ({}, {}, None)


def test_the_list_of_runs_goes_on_where_it_ended(database: Database) -> None:
    with database.write() as conn:
        now = now_ms(conn)
        ids = [ran(conn, "acme", now + number) for number in range(5)]
        ran(conn, "other", now)
        first = board.runs_listed(conn, "acme", {}, None, descending=True, limit=2)
        assert [run.id for run in first] == [ids[4], ids[3], ids[2]]  # one more: it says that there are more
        rest = board.runs_listed(conn, "acme", {}, (ids[3],), descending=True, limit=2)
        assert [run.id for run in rest] == [ids[2], ids[1], ids[0]]
        assert board.runs_listed(conn, "acme", {"status": "failed"}, None, descending=True, limit=2) == []


def test_latency_is_of_one_answer(database: Database) -> None:
    with database.write() as conn:
        tallied(conn, "acme", 1, now_ms(conn), "http", "unchanged", 10)
        found = board.took(conn, [1, 2])
        assert (found[1].tiers, found[1].latency_ms) == ({"http": 10}, 400.0)
        assert (found[2].tiers, found[2].latency_ms) == ({}, None)


def test_spending_is_told_by_day_and_tier(database: Database) -> None:
    def spent(day: int, tier: str, page_type: str) -> dict[str, Any]:
        sums = {"visits": 1, "requests": 2, "bytes": 3, "elapsed_ms": 4, "browser_ms": 5, "billed": 6, "cost_micro": 7}
        return {"store": "acme", "day": day, "tier": tier, "page_type": page_type, "currency": "", **sums}

    with database.write() as conn:
        now = now_ms(conn)
        today = now // DAY
        rows = [
            spent(today, "http", "product"),
            spent(today, "http", "sitemap"),
            spent(today - 1, "browser", "product"),
        ]
        conn.execute(insert(spending), [*rows, spent(today - 31, "http", "product")])
        found = board.spent_by_day(conn, "acme", now)
        assert [(row["day"] - today, row["tier"], row["requests"], row["size_bytes"]) for row in found] == [
            (-1, "browser", 2, 3),
            (0, "http", 4, 6),
        ]


def test_a_small_store_is_counted_at_once_and_a_large_one_was_before(database: Database) -> None:
    with database.write() as conn:
        now = now_ms(conn)
        ran(conn, "acme", now)
        found = board.covered(conn, "acme")
        assert found is not None
        assert found.at >= now
        assert found.found["store"] == "acme"
        run_id = ran(conn, "acme", now)
        conn.execute(update(runs).where(runs.c.id == run_id).values(pages_known=board.COUNTED_AT_ONCE + 1))
        assert board.covered(conn, "acme") is None
        coverage.keep(conn, coverage.coverage(conn, "acme"))
        kept = board.covered(conn, "acme")
        assert kept is not None
        assert kept.found == coverage.coverage(conn, "acme").as_json()
        ran(conn, "acme", now, RunStatus.RUNNING)  # knows of no pages yet
        assert board.covered(conn, "acme") == kept


def test_of_a_store_that_was_never_run_nothing_is_known(database: Database) -> None:
    with database.write() as conn:
        assert board.last_runs(conn, "nobody") == []
        assert board.trusted(conn, "nobody", now_ms(conn)).since_ms == 0
        assert coverage.kept(conn, "nobody") is None
