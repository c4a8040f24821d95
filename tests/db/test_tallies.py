"""Visits added up, on each backend."""

from __future__ import annotations

from typing import Any

from sqlalchemy import func, insert, select

from storebot.db import tallies
from storebot.db.database import Database
from storebot.db.schema import visits
from storebot.db.tallies import SPAN_MS, Span
from storebot.items import Outcome
from tests.db.shop import NOW, STORE, Worker

_AT = NOW - NOW % SPAN_MS


def row(**changed: Any) -> dict[str, Any]:
    usual = {"run_id": 1, "store": STORE, "page_type": "product", "tier": "http", "outcome": "unchanged", "at": _AT}
    return {**usual, "requests": 1, "bytes": 100, "elapsed_ms": 7, **changed}


def test_visits_of_one_span_tier_and_outcome_are_one_row(database: Database) -> None:
    batch = [row(), row(at=_AT + SPAN_MS - 1, requests=2), row(outcome="error"), row(at=_AT + SPAN_MS), row(run_id=2)]
    with database.write() as conn:
        tallies.add(conn, batch)
        tallies.add(conn, [row()])
        found = tallies.of_run(conn, 1)
    assert sorted(found) == [
        Span(_AT, "product", "http", "error", 1, 1, 100, 7),
        Span(_AT, "product", "http", "unchanged", 3, 4, 300, 21),
        Span(_AT + SPAN_MS, "product", "http", "unchanged", 1, 1, 100, 7),
    ]


def test_runs_are_added_up_each_by_itself(database: Database) -> None:
    with database.write() as conn:
        tallies.add(conn, [row(), row(at=_AT + SPAN_MS), row(run_id=2, tier="browser")])
        found = tallies.of_runs(conn, [1, 2, 3])
    assert found == {
        1: [Span(_AT, "product", "http", "unchanged", 2, 2, 200, 14)],
        2: [Span(_AT, "product", "browser", "unchanged", 1, 1, 100, 7)],
        3: [],
    }


def test_a_visit_that_was_held_and_is_published_counts_as_what_it_became(database: Database) -> None:
    rest = {"page_id": 1, "http_status": 200, "reason": "", "rows_written": 0, "changes": 0, "lane": ""}
    with database.write() as conn:
        conn.execute(insert(visits), {**row(outcome="held"), **rest})
        visit_id = conn.execute(select(func.max(visits.c.id))).scalar_one()
        tallies.add(conn, [row(outcome="held"), row(outcome="held")])
        tallies.decide(conn, visit_id, "changed")
        tallies.decide(conn, 10**9, "changed")  # one that is forgotten by now
        found = tallies.of_run(conn, 1)
    assert {span.outcome: (span.visits, span.size_bytes) for span in found} == {"held": (1, 100), "changed": (1, 100)}


def test_what_a_worker_saves_is_added_up_in_the_same_transaction(database: Database) -> None:
    worker = Worker(database)
    worker.known("1", "2", "3")
    with database.read() as conn:
        counted = conn.execute(
            select(visits.c.run_id, visits.c.outcome, func.count()).group_by(visits.c.run_id, visits.c.outcome)
        ).all()
        added = [
            (run_id, span.outcome, span.visits)
            for run_id in {run_id for run_id, _, _ in counted}
            for span in tallies.of_runs(conn, [run_id])[run_id]
        ]
    assert sorted(added) == sorted(tuple(one) for one in counted)
    assert {outcome for _, outcome, _ in counted} == {Outcome.NEW.value}
