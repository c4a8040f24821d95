"""Holds: the list, one of them, what a decision would do, and deciding."""

from __future__ import annotations

import pytest
from starlette.testclient import TestClient

from storebot.db import audit, leases
from storebot.db.database import Database
from storebot.db.holders import this_process
from storebot.db.schema import listings
from tests.dashboard.asking import post
from tests.db.gated import NAMES, GatedWorker, known_store
from tests.db.shop import HOUR, NOW, STORE, alive, listing, parsed


@pytest.fixture
def shop(local_database: Database) -> GatedWorker:
    """A store whose prices are a hundred times what they were: all held."""
    known_store(local_database)
    worker = GatedWorker(local_database, sample=1)
    for place, target in enumerate(worker.due(), 1):
        worker.save(parsed(target, listing(f"Mug {place}", 100 * (1000 + place), sku=f"M-{place}"), at=NOW + HOUR))
    worker.finish()
    assert len(worker.holds("held")) == len(NAMES)
    with local_database.write() as conn:
        leases.release(conn, STORE, worker.token)
    return worker


def ids(shop: GatedWorker) -> list[int]:
    return [row["id"] for row in shop.holds()]


def prices(shop: GatedWorker) -> list[int]:
    return [row["price_minor"] for row in shop.rows(listings)]


def last_deed(database: Database) -> audit.Deed:
    with database.read() as conn:
        return audit.listed(conn, {}, None, descending=True, limit=1)[0]


def test_holds_are_listed_with_what_they_have_in_common(client: TestClient, shop: GatedWorker) -> None:
    facts = client.get(f"/holds.json?store={STORE}").json()
    assert [row["id"] for row in facts["list"]["rows"]] == sorted(ids(shop), reverse=True)
    assert facts["common"]["moved"] == len(NAMES)
    assert [(name, pages) for name, pages in facts["common"]["bins"] if pages] == [("×100 or more", len(NAMES))] or sum(
        pages for _, pages in facts["common"]["bins"]
    ) == len(NAMES)
    assert client.get("/holds.json?gate=currency").json()["list"]["rows"] == []
    assert client.get("/holds.json?run=x").status_code == 400
    page = client.get(f"/holds?store={STORE}").text
    assert "10.01 EUR" in page
    assert "1001.00 EUR" in page
    picture = client.get(f"/holds/ratios.svg?store={STORE}")
    assert picture.headers["content-type"].startswith("image/svg+xml")
    assert b"<script" not in picture.content


def test_one_hold_is_shown_whole(client: TestClient, shop: GatedWorker) -> None:
    page = client.get(f"/holds/{ids(shop)[0]}").text
    assert "Approve: publish it" in page
    assert "times what they were" in page
    assert client.get("/holds/99999").status_code == 404


def test_what_a_decision_would_do_is_said_before_it_is_made(client: TestClient, shop: GatedWorker) -> None:
    before = prices(shop)
    page = client.get(f"/holds/confirm?verb=approve&store={STORE}").text
    assert f"<strong>{len(NAMES)} pages</strong>" in page
    assert f"Publish {len(NAMES)}" in page
    assert prices(shop) == before
    assert client.get(f"/holds/confirm?verb=shout&store={STORE}").status_code == 400


def test_holds_that_are_approved_are_published_and_noted(
    client: TestClient, shop: GatedWorker, local_database: Database
) -> None:
    chosen = ids(shop)[:2]
    post(client, "/holds/approve", {"hold": [str(one) for one in chosen], "why": "the shop says so"}, page="/holds")
    deed = last_deed(local_database)
    assert (deed.verb, deed.result, deed.store, deed.why) == ("approve_holds", "done", STORE, "the shop says so")
    assert sum(price > 100_000 for price in prices(shop)) == 2
    assert len(shop.holds()) == len(NAMES) - 2
    decided = next(row for row in shop.holds("approved") if row["id"] == chosen[0])
    assert decided["decided_by"] == "tester"


def test_all_of_a_store_are_rejected_and_nothing_is_published(client: TestClient, shop: GatedWorker) -> None:
    before = prices(shop)
    post(client, "/holds/reject", {"store": STORE, "up_to": str(max(ids(shop)))}, page="/holds")
    assert shop.holds() == []
    assert prices(shop) == before


def test_while_a_run_has_the_store_a_decision_is_refused_in_words(
    client: TestClient, shop: GatedWorker, local_database: Database
) -> None:
    with local_database.write() as conn:
        leases.take(conn, STORE, "a run", this_process(), 60, alive)
    post(client, "/holds/approve", {"hold": [str(ids(shop)[0])]}, page="/holds")
    deed = last_deed(local_database)
    assert deed.result == "refused"
    assert "is being worked by process" in deed.text
    assert len(shop.holds()) == len(NAMES)


def test_nothing_marked_is_nothing_done(client: TestClient, shop: GatedWorker, local_database: Database) -> None:
    assert post(client, "/holds/approve", {}, page="/holds").status_code == 400
    with local_database.read() as conn:
        assert audit.listed(conn, {}, None, descending=True, limit=1) == []
