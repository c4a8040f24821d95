"""What is true of a store's copies: audits alone count, and only those that saw the page."""

from __future__ import annotations

from typing import Any

from sqlalchemy import insert

from storebot.core.planner.lanes import Lane
from storebot.core.planner.truth import Stale
from storebot.db import knowledge, planned_runs, runs, truth
from storebot.db.database import Database, now_ms
from storebot.db.planned_runs import PlanNote
from storebot.db.schema import stores, visits
from storebot.items import Outcome, RunStatus

DAY = 86_400_000
NOTE = PlanNote(share=10.0, requests=9, discovery=2, views=0)


def visited(
    database: Database, *outcomes: Outcome, at: int, lane: str = Lane.AUDIT.value, store: str = "acme", **more: Any
) -> int:
    """Have a refresh by a plan that made these visits."""
    with database.write() as conn:
        run_id = runs.start(conn, store, "refresh")
        planned_runs.note(conn, run_id, NOTE)
        rows = [
            {
                "run_id": run_id,
                "store": store,
                "page_id": number,
                "page_type": "product",
                "outcome": outcome.value,
                "http_status": 200,
                "reason": "",
                "tier": "http",
                "requests": 1,
                "bytes": 100,
                "elapsed_ms": 10,
                "rows_written": 0,
                "changes": 0,
                "at": at,
                "lane": lane,
                **more,
            }
            for number, outcome in enumerate(outcomes, 1)
        ]
        conn.execute(insert(visits), rows)
        runs.finish(conn, run_id, RunStatus.COMPLETE, "", outcomes={}, requests=len(rows) + 2)
    return run_id


def clock(database: Database) -> int:
    with database.read() as conn:
        return now_ms(conn)


def test_changed_held_and_missing_audits_are_stale_and_those_that_saw_nothing_say_nothing(database: Database) -> None:
    now = clock(database)
    seen = (Outcome.CHANGED, Outcome.HELD, Outcome.MISSING, Outcome.UNCHANGED, Outcome.NOT_MODIFIED)
    visited(database, *seen, Outcome.ERROR, Outcome.BLOCKED, Outcome.INVALID, Outcome.SKIPPED, Outcome.MOVED, at=now)
    with database.read() as conn:
        assert truth.stale(conn, "acme") == Stale(looks=5, stale=3, since_ms=now)


def test_other_lanes_and_other_stores_are_no_audits(database: Database) -> None:
    now = clock(database)
    visited(database, Outcome.CHANGED, at=now, lane=Lane.HAZARD.value)
    visited(database, Outcome.CHANGED, at=now, store="books")
    visited(database, Outcome.CHANGED, at=now, page_type="catalogue")
    with database.read() as conn:
        assert truth.stale(conn, "acme") == Stale()
        assert truth.stores(conn) == ["acme", "books"]


def test_last_30_days_stand_beside_all(database: Database) -> None:
    now = clock(database)
    visited(database, Outcome.CHANGED, at=now - 31 * DAY)
    visited(database, Outcome.UNCHANGED, at=now - 29 * DAY)
    with database.read() as conn:
        found = truth.truth(conn, "acme", now)
    assert found.lately == Stale(1, 0, now - 29 * DAY)
    assert found.ever == Stale(2, 1, now - 31 * DAY)
    assert found.is_known


def test_trust_is_what_was_learned(database: Database) -> None:
    with database.write() as conn:
        conn.execute(insert(stores).values(name="acme"))
        memory = knowledge.load(conn, "acme", 5 * DAY)
        memory.validators_asked, memory.validators_lies, memory.learned_since = 7, 1, 3 * DAY
        memory.validators_lie = "/p/1: another record"
        memory.knowledge.card_pairs, memory.knowledge.card_equal = 60, 59
        knowledge.save(conn, "acme", memory, [])
    with database.read() as conn:
        trust = truth.truth(conn, "acme", 5 * DAY).trust
    assert trust.validators == (7, 1, "/p/1: another record")
    assert (trust.card_pairs, trust.card_equal, trust.cards_are_prices, trust.since_ms) == (60, 59, True, 3 * DAY)


def test_store_of_which_nothing_was_learned_is_not_known(database: Database) -> None:
    with database.read() as conn:
        found = truth.truth(conn, "acme", DAY)
    assert not found.is_known
    assert found.trust.validators == (0, 0, "")
