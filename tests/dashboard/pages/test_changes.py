"""Changes: the feed, its filters, and what moved most."""

from __future__ import annotations

import pytest
from starlette.testclient import TestClient

from storebot.db.database import Database
from storebot.items import Availability
from tests.db.shop import STORE, Worker, listing, parsed


@pytest.fixture
def worker(local_database: Database) -> Worker:
    """A store in which two prices moved and one product is back in stock, all just now."""
    shop = Worker(local_database)
    at = shop.clock()
    shop.discover("1", "2", "3")
    sold_out = {"availability": Availability.OUT_OF_STOCK}
    for place, target in enumerate(shop.pending(), 1):
        shop.save(parsed(target, listing(f"Mug {place}", 1000, **(sold_out if place == 3 else {})), at=at - 1000))
    for place, target in enumerate(shop.due(), 1):
        shop.save(parsed(target, listing(f"Mug {place}", {1: 1500, 2: 900}.get(place, 1000)), at=at))
    return shop


def told(client: TestClient, query: str = "") -> list[str]:
    rows = client.get(f"/changes.json?{query}").json()["list"]["rows"]
    return sorted(f"{moved['label']} {moved['before']} {moved['after']}" for row in rows for moved in row["fields"])


def test_changes_are_told_in_words_the_newest_first(client: TestClient, worker: Worker) -> None:
    rows = client.get("/changes.json").json()["list"]["rows"]
    assert [row["seq"] for row in rows] == sorted((row["seq"] for row in rows), reverse=True)
    page = client.get("/changes").text
    assert "15.00 EUR" in page
    assert "+50.0" in page
    assert "in stock" in page


@pytest.mark.parametrize(
    ("query", "count"),
    [
        ("", 3),
        ("direction=up", 2),  # a price that rose, a product that is back
        ("field=price_minor", 2),
        ("field=price_minor&direction=down", 1),
        ("percent=20", 1),
        ("percent=60", 0),
        ("type=delisted", 0),
        (f"store={STORE}", 3),
        ("store=another", 0),
    ],
)
def test_filters(client: TestClient, worker: Worker, query: str, count: int) -> None:
    assert len(client.get(f"/changes.json?{query}").json()["list"]["rows"]) == count


@pytest.mark.parametrize("query", ["percent=x", "run=x", "field=shout", "direction=sideways", "after=x"])
def test_what_no_filter_can_be_is_400(client: TestClient, query: str) -> None:
    assert client.get(f"/changes.json?{query}").status_code == 400


def test_the_biggest_movers_and_the_counts_are_above(client: TestClient, worker: Worker) -> None:
    summary = client.get("/changes.json").json()["summary"]
    assert [(one["name"], float(one["percent"])) for one in summary["movers"]] == [("Mug 1", 50.0), ("Mug 2", -10.0)]
    assert (summary["new"], summary["delisted"], summary["restocked"]) == (0, 0, 1)


def test_pages_of_the_feed_have_each_change_once(client: TestClient, worker: Worker) -> None:
    seen: list[int] = []
    address = "/changes.json?limit=2"
    while address:
        listed = client.get(address).json()["list"]
        seen += [row["seq"] for row in listed["rows"]]
        address = f"/changes.json?limit=2&after={listed['next']}" if listed["next"] else ""
    assert len(seen) == len(set(seen)) == 3


def test_an_empty_feed_says_so(client: TestClient) -> None:
    assert client.get("/changes").status_code == 200
    assert told(client) == []
