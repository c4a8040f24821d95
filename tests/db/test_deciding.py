"""Somebody decides on holds, on each backend."""

from __future__ import annotations

import pytest
from sqlalchemy import update

from storebot.db import deciding, leases
from storebot.db.database import Database
from storebot.db.holders import this_process
from storebot.db.holds import find
from storebot.db.schema import changes, listings, offers, pages
from storebot.db.types import AnyRow
from storebot.exceptions import StoreBusy
from storebot.items import Outcome
from tests.db.gated import GatedWorker, known_store
from tests.db.shop import HOUR, NOW, STORE, Worker, alive, parsed, unparsed
from tests.db.test_gating import product
from tests.db.test_promotion import changed

LATER = NOW + 48 * HOUR


@pytest.fixture
def shop(database: Database) -> GatedWorker:
    """A store whose run has ended, with five holds."""
    known_store(database)
    worker = GatedWorker(database)
    *dearer, gone = changed(worker, 1, 5)
    worker.save(*dearer, unparsed(gone.target, Outcome.MISSING, at=LATER, status=404))
    with database.write() as conn:
        leases.release(conn, STORE, worker.token)
    return worker


def opened(database: Database) -> list[AnyRow]:
    with database.read() as conn:
        return find(conn, store=STORE)


def test_approved_holds_are_published_one_by_one(shop: GatedWorker, database: Database) -> None:
    decisions = list(deciding.approve(database, opened(database), "ada", 60))
    assert [(one.refused, one.rows_written, one.changes) for one in decisions] == [("", 1, 1)] * 4 + [("", 0, 0)]
    assert [row["type"] for row in shop.rows(changes)] == ["changed"] * 4
    assert {row["run_id"] for row in shop.rows(changes)} == {shop.run.run_id}
    assert len(shop.rows(offers)) == 14
    assert [row["status"] for row in shop.rows(listings)].count("missing") == 1
    closed = shop.holds("approved")
    assert ({row["decided_by"] for row in closed}, {row["visit"] for row in closed}) == ({"ada"}, {""})
    assert [row["etag"] for row in shop.rows(pages)].count('"b"') == 4
    with database.write() as conn:
        leases.take(conn, STORE, "next", this_process(), 60, alive)  # it's free again


def test_a_page_whose_record_moved_meanwhile_is_refused_and_nothing_of_it_is_written(
    shop: GatedWorker, database: Database
) -> None:
    rows = opened(database)
    with database.write() as conn:
        conn.execute(update(pages).where(pages.c.id == rows[0].page_id).values(content_hash="moved"))
    first, *others = deciding.approve(database, rows, "ada", 60)
    assert first.refused == "the page's record is another by now: retry it"
    assert [one.refused for one in others] == [""] * 4
    assert [row["id"] for row in shop.holds("waiting")] == [rows[0].id]


def test_a_page_that_a_worker_has_is_refused(shop: GatedWorker, database: Database) -> None:
    rows = opened(database)
    with database.write() as conn:
        conn.execute(update(pages).where(pages.c.id == rows[0].page_id).values(claim_token="x", status="in_progress"))
    (first,) = deciding.approve(database, rows[:1], "ada", 60)
    assert first.refused == "the page is being read right now: retry it"
    (retried,) = deciding.retry(database, rows[:1], "ada", 60)
    assert retried.refused


def test_a_store_that_a_run_works_on_is_left_alone(shop: GatedWorker, database: Database) -> None:
    with database.write() as conn:
        leases.take(conn, STORE, "run", this_process(), 60, alive)
    for verb in (deciding.approve, deciding.reject, deciding.retry):
        with pytest.raises(StoreBusy, match="is being worked by"):
            list(verb(database, opened(database), "ada", 60))
    assert len(shop.holds("waiting")) == 5


def test_rejected_holds_change_nothing_that_is_published(shop: GatedWorker, database: Database) -> None:
    truth = shop.published()
    assert [one.refused for one in deciding.reject(database, opened(database), "ada", 60)] == [""] * 5
    assert shop.published() == truth
    assert len(shop.holds("rejected")) == 5


def test_retried_pages_are_due_at_once_and_their_holds_stay(shop: GatedWorker, database: Database) -> None:
    list(deciding.retry(database, opened(database)[:1], "ada", 60))
    assert [row["next_due_at"] for row in shop.rows(pages)].count(0) == 1
    assert len(shop.holds("waiting")) == 5


def test_what_was_decided_meanwhile_is_not_decided_again(shop: GatedWorker, database: Database) -> None:
    rows = opened(database)
    list(deciding.approve(database, rows[:1], "ada", 60))
    (again,) = deciding.approve(database, rows[:1], "bob", 60)
    assert again.refused == "it was decided meanwhile"
    assert len(shop.rows(changes)) == 1


def test_approved_new_listings_are_new(database: Database) -> None:
    worker = GatedWorker(database, kind="backfill")
    worker.discover(*map(str, range(1, 11)))
    worker.save(*(parsed(target, product(target, 5, name="One", sku="S"), at=LATER) for target in worker.pending()))
    with database.write() as conn:
        leases.release(conn, STORE, worker.token)
    assert len(list(deciding.approve(database, opened(database), "ada", 60))) == 7
    assert len(worker.rows(listings)) == 10
    assert {row["status"] for row in worker.rows(pages)} == {"parsed"}


def test_stores_take_turns(shop: GatedWorker, database: Database) -> None:
    other = Worker(database, token="o", store="other")
    assert other.store == "other"
    with database.read() as conn:
        assert find(conn, store="other") == []
        assert len(find(conn, run_id=shop.run.run_id)) == 5
        assert len(find(conn, limit=2)) == 2
