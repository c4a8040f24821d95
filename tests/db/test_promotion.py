"""What waited is published exactly once, as its visit would have been, whoever died in between."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import update

from storebot.core.gate_limits import Declared
from storebot.db import promotion, runs
from storebot.db.database import Database
from storebot.db.schema import changes, holds, listings, metadata, offers, pages, visits
from storebot.db.schema import runs as runs_table
from storebot.items import Outcome, RunStatus
from tests.db.gated import NAMES, GatedWorker, known_store
from tests.db.shop import HOUR, NOW, Worker, parsed, unparsed
from tests.db.test_gating import due, product

LATER = NOW + 48 * HOUR


def changed(shop: Worker, first: int, last: int) -> list[Any]:
    """Return the visits of some products, each five per cent dearer."""
    targets = {int(one.url_key.rpartition("/")[2]): one for one in shop.due()}
    return [
        parsed(targets[number], product(targets[number], round((1000 + number) * 1.05)), at=LATER + number, etag='"b"')
        for number in range(first, last + 1)
    ]


def test_what_waited_is_published_as_if_it_never_had(database: Database) -> None:
    known_store(database)
    shop = GatedWorker(database)
    shop.save(*changed(shop, 1, 3))
    published = shop.promote()
    assert [(one.record, one.outcome, one.instead_of) for one in published] == [
        (None, Outcome.CHANGED, Outcome.HELD)
    ] * 3
    waited = _all_rows(shop)
    assert shop.rows(holds) == []
    assert shop.gate.open_pages == set()
    _emptied(database)
    known_store(database)
    at_once = Worker(database)
    at_once.save(*changed(at_once, 1, 3))
    assert waited == _all_rows(at_once)


def _all_rows(shop: Worker) -> list[list[dict[str, Any]]]:
    """Return all that a run writes, without numbers that a database gives and what they're part of."""
    numbers = {"id", "seq", "run_id", "page_id", "claim_expires_at"}
    tables = (listings, offers, pages, visits, changes)
    return [
        [{name: value for name, value in row.items() if name not in numbers} for row in shop.rows(table)]
        for table in tables
    ]


def _emptied(database: Database) -> None:
    with database.write() as conn:
        for table in reversed(metadata.sorted_tables):
            conn.execute(table.delete())


def test_it_goes_in_bounded_transactions(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(promotion, "_CHUNK", 2)
    known_store(database)
    shop = GatedWorker(database)
    shop.save(*changed(shop, 1, 5))
    assert [len(some) for some in promotion.promote(database, shop.run, shop.gate)] == [2, 2, 1]
    assert len(shop.rows(changes)) == 5


def test_a_run_that_dies_between_two_of_them_loses_and_doubles_nothing(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(promotion, "_CHUNK", 2)
    known_store(database)
    shop = GatedWorker(database)
    shop.save(*changed(shop, 1, 5))
    next(promotion.promote(database, shop.run, shop.gate))  # and killed
    assert (len(shop.rows(changes)), len(shop.holds("waiting"))) == (2, 3)
    following = _successor(database, shop)
    assert following.gate.waiting
    assert [one for one in following.finish() if one.outcome is not Outcome.CHANGED] == []
    assert (len(following.rows(changes)), following.rows(holds)) == (5, [])
    assert len({row["id"] for row in following.rows(changes)}) == 5
    assert {row["run_id"] for row in following.rows(changes)} == {shop.run.run_id}
    dead = following.rows(runs_table)[1]
    assert (dead["status"], dead["change_events"], dead["rows_written"]) == ("interrupted", 5, 5)


def _successor(database: Database, dead: Worker, **options: Any) -> GatedWorker:
    """Start a run as a session does after a process died: what it had is given back."""
    with database.write() as conn:
        assert runs.mark_interrupted(conn, dead.store)
        conn.execute(update(pages).values(claim_token="", status="parsed"))
    return GatedWorker(database, **options)


def test_what_a_dead_run_left_is_judged_with_what_its_successor_sees(database: Database) -> None:
    names = [str(number) for number in range(1, 41)]
    known_store(database, names)
    shop = GatedWorker(database)
    targets = due(shop)
    truth = shop.published()
    shop.save(*(parsed(one, product(one, 1500), at=LATER) for one in targets[:15]))
    following = _successor(database, shop)
    assert following.gate.tally.changed == 15
    left = [one for one in due(following) if int(one.url_key.rpartition("/")[2]) > 15]
    following.save(*(parsed(one, product(one, 1500), at=LATER) for one in left[:15]))
    following.save(*(unparsed(one, Outcome.NOT_MODIFIED, at=LATER) for one in left[15:]))
    assert following.finish() == []
    (reason,) = {row["reason"] for row in following.holds("held")}
    assert reason == "30 of 40 known pages changed (75%); the limit is 50%"
    assert following.published()[:3] == truth[:3]


def test_a_page_that_is_read_anew_is_not_published_as_it_was_seen_before(database: Database) -> None:
    known_store(database)
    shop = GatedWorker(database)
    shop.save(*changed(shop, 1, 1))
    following = _successor(database, shop)
    targets = due(following)
    following.save(parsed(targets[0], product(targets[0], 1200), at=LATER + HOUR))
    assert [one.outcome for one in following.finish()] == [Outcome.CHANGED]
    assert [row["price_minor"] for row in following.rows(offers)][-1] == 1200
    assert len(following.rows(changes)) == 1


def test_what_waits_for_a_page_that_is_claimed_again_is_left_to_its_visit(database: Database) -> None:
    known_store(database)
    shop = GatedWorker(database)
    shop.save(*changed(shop, 1, 2))
    claimed = shop.holds()[0]["page_id"]
    with database.write() as conn:
        conn.execute(update(pages).where(pages.c.id == claimed).values(claim_token="x"))
    assert len(shop.promote()) == 1
    assert [row["page_id"] for row in shop.holds("waiting")] == [claimed]


def test_what_another_version_wrote_is_dropped_and_read_again(database: Database) -> None:
    known_store(database)
    shop = GatedWorker(database)
    shop.save(*changed(shop, 1, 1))
    with database.write() as conn:
        conn.execute(update(holds).values(visit='{"visit": {"nonsense": 1}, "target": {}, "run": {}}'))
    truth = shop.published()
    shop.finish()
    assert shop.published() == truth
    assert "another version of storebot wrote it" in shop.holds("superseded")[0]["why"]


def test_limits_come_from_the_good_runs_of_the_store(database: Database) -> None:
    known_store(database)
    shop = GatedWorker(database)
    with database.write() as conn:
        for share in (20, 24, 22):
            run_id = runs.start(conn, shop.store, "refresh")
            counts = {Outcome.CHANGED: share, Outcome.NOT_MODIFIED: 100 - share, Outcome.MISSING: 0}
            runs.finish(conn, run_id, RunStatus.COMPLETE, "", outcomes=counts)
        held = runs.start(conn, shop.store, "refresh")
        runs.finish(conn, held, RunStatus.HELD, "", outcomes={Outcome.HELD: 90, Outcome.CHANGED: 90})
        gate = promotion.open_gate(conn, replace(shop.run, run_id=held + 1), Declared(), 0)
    assert gate.limits.changed == pytest.approx(0.66)
    assert gate.limits.pages == len(NAMES)
