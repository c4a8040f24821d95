"""Pages that failed are due now, on each backend."""

from __future__ import annotations

from storebot.db.database import Database
from storebot.db.requeueing import requeue
from storebot.db.schema import pages
from storebot.items import Outcome
from tests.db.shop import HOUR, NOW, STORE, Worker, unparsed

LATER = NOW + 1000 * HOUR


def failed(database: Database) -> Worker:
    """Have six pages: two blocked, two with an error, one that was read, one that is claimed after an error."""
    worker = Worker(database, error_backoff_ms=5000 * HOUR)
    worker.known("1", "2", "3", "4", "5", "6")
    targets = worker.due()
    for target, outcome in zip(targets, ["blocked", "blocked", "error", "error", "", "error"], strict=True):
        if outcome:
            worker.save(unparsed(target, Outcome(outcome), LATER))
    return worker


def due(worker: Worker) -> list[int]:
    return [row["id"] for row in worker.rows(pages) if row["next_due_at"] == 0]


def test_pages_of_one_kind_are_due_and_the_others_wait(database: Database) -> None:
    worker = failed(database)
    ids = [row["id"] for row in worker.rows(pages)]
    assert requeue(database, STORE, [Outcome.BLOCKED], dry_run=True) == 2
    assert due(worker) == []
    assert requeue(database, STORE, [Outcome.BLOCKED]) == 2
    assert due(worker) == ids[:2]
    assert requeue(database, STORE, [Outcome.BLOCKED]) == 0  # twice is harmless
    assert requeue(database, "another", [Outcome.ERROR]) == 0
    assert requeue(database, STORE, [Outcome.ERROR, Outcome.BLOCKED]) == 3
    assert due(worker) == [*ids[:4], ids[5]]


def test_a_page_that_a_run_has_claimed_is_left_to_it(database: Database) -> None:
    worker = failed(database)
    requeue(database, STORE, [Outcome.ERROR])
    claimed = worker.due(before=LATER, limit=10, token="another run")
    assert claimed
    before = worker.rows(pages)
    assert requeue(database, STORE, [Outcome.ERROR]) == 0
    assert worker.rows(pages) == before
