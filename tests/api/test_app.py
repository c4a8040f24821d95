"""The read API over a real database: paging, tags, tokens; and its description, which is what it answers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from openapi_spec_validator import validate
from starlette.applications import Starlette
from starlette.routing import Mount, Route
from starlette.testclient import TestClient

from storebot.api.app import create_app, local_guard, tokens_guard
from storebot.api.openapi import document
from storebot.db.database import Database
from tests.db.shop import HOUR, NOW, STORE, Worker, listing, parsed

TOKEN = "a-token-of-someone-who-may-read"
BEARER = {"Authorization": f"Bearer {TOKEN}"}
HOME = f"/v1/stores/{STORE}"
pytestmark = pytest.mark.parametrize("backend", ["sqlite"], indirect=True)


@pytest.fixture
def shop(database: Database) -> Worker:
    """Give a shop with three listings, of which one changed twice."""
    worker = Worker(database)
    worker.known("1", listings=[listing(variant_id=variant) for variant in ("a", "b", "c")])
    for hours, price in ((1, 2500), (2, 3000)):
        (target,) = worker.due()
        dearer = [listing(variant_id="a", price_minor=price), listing(variant_id="b"), listing(variant_id="c")]
        worker.save(parsed(target, *dearer, at=NOW + hours * HOUR))
    return worker


@pytest.fixture
def client(database: Database, shop: Worker) -> Iterator[TestClient]:
    with TestClient(create_app(database, tokens_guard([TOKEN])), headers=BEARER) as made:
        yield made


def pages(client: TestClient, path: str, limit: int) -> list[list[dict[str, Any]]]:
    """Follow ``after`` to the end."""
    found, after, more = [], 0, True
    while more:
        answer = client.get(path, params={"after": after, "limit": limit}).json()
        found.append(answer["data"])
        after, more = answer["after"], answer["more"]
    assert client.get(path, params={"after": after}).json() == {"data": [], "after": after, "more": False}
    return found


def test_pages_follow_one_another_without_a_gap(client: TestClient) -> None:
    assert [[one["variant_id"] for one in page] for page in pages(client, f"{HOME}/listings", 2)] == [["a", "b"], ["c"]]
    assert [len(page) for page in pages(client, f"{HOME}/changes", 1)] == [1, 1]
    assert [[one["status"] for one in page] for page in pages(client, f"{HOME}/runs", 1)] == [["running"]]


def test_what_is_the_same_is_304_until_it_changes(client: TestClient, shop: Worker) -> None:
    path = f"{HOME}/changes"
    tag = client.get(path).headers["etag"]
    for named in (tag, f'"other", W/{tag}', "*"):
        again = client.get(path, headers={"If-None-Match": named})
        assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", tag)
    (target,) = shop.due()
    shop.save(parsed(target, listing(variant_id="a"), at=NOW + 3 * HOUR))
    assert client.get(path, headers={"If-None-Match": tag}).status_code == 200


def test_listings_and_changes_are_filtered(client: TestClient) -> None:
    def found(path: str, name: str) -> list[Any]:
        return [one[name] for one in client.get(f"{HOME}/{path}").json()["data"]]

    assert found("listings?since=2027-01-15T10:00:00Z", "variant_id") == ["a"]
    assert found("listings?since=2027-01-15T11:00+01:00", "variant_id") == ["a"], "a plus that wasn't escaped"
    assert found("listings?status=active&availability=InStock", "variant_id") == ["a", "b", "c"]
    assert found("listings?status=delisted", "variant_id") == []
    assert found("changes?type=changed&field=price_minor", "seq") == found("changes", "seq")
    assert found("changes?field=name", "seq") == []
    (last,) = client.get(f"{HOME}/changes?since=2027-01-15T10:00:00Z").json()["data"]
    assert last["fields"] == [{"field": "price_minor", "before": 2500, "after": 3000}]


def test_a_filtered_answer_has_its_own_tag_and_says_how_far_it_looked(client: TestClient, shop: Worker) -> None:
    path = f"{HOME}/listings?since=2027-01-15T12:00:00Z"
    answer = client.get(path)
    tag, last = answer.headers["etag"], client.get(f"{HOME}/listings").json()["after"]
    assert answer.json() == {"data": [], "after": last, "more": False}
    assert client.get(path, headers={"If-None-Match": tag}).status_code == 304
    assert client.get(f"{HOME}/listings").headers["etag"] != tag
    (target,) = shop.due()
    shop.save(parsed(target, listing(variant_id="a"), listing(variant_id="b", price_minor=1), at=NOW + 4 * HOUR))
    again = client.get(path, headers={"If-None-Match": tag})
    assert (again.status_code, [one["variant_id"] for one in again.json()["data"]]) == (200, ["a", "b"])
    gone = client.get(f"{HOME}/changes?since=2027-01-15T12:00:00Z&type=missing").json()["data"]
    assert [one["variant_id"] for one in gone] == ["c"], "its record is as it was: that it's missing is a change"


@pytest.mark.parametrize(
    ("path", "status", "detail"),
    [
        ("/v1/stores/nowhere/listings", 404, "there is no such store, or it was never crawled"),
        (f"{HOME}/listings/999999", 404, "the store has no such listing"),
        (f"{HOME}/listings/999999/history", 404, "the store has no such listing"),
        (f"{HOME}/listings/x", 400, "listing: expected a whole number from 1 to 9223372036854775807"),
        (f"{HOME}/listings?limit=1001", 400, "limit: expected a whole number from 1 to 1000"),
        (f"{HOME}/changes?after=-1", 400, "after: expected a whole number from 0 to 9223372036854775807"),
        (f"{HOME}/changes?after=9223372036854775808", 400, "after: expected"),
        (
            f"{HOME}/changes?status=new",
            400,
            "status: no such parameter here; there are after, field, limit, since, type",
        ),
        (f"{HOME}/changes?since=1", 400, "since: expected a time such as 2026-11-30T08:00:00Z"),
        (f"{HOME}/changes?since=1969-01-01", 400, "since: expected a time after 1970"),
        (f"{HOME}/changes?type=news", 400, "type: expected one of new, changed, delisted"),
        (f"{HOME}/changes?field=price", 400, "field: expected one of "),
        (f"{HOME}/listings?status=gone", 400, "status: expected one of active, missing, delisted"),
        (f"{HOME}/listings?availability=", 400, "availability: expected one of "),
        ("/v1/nothing", 404, "Not Found"),
    ],
)
def test_what_is_asked_wrong_is_a_problem_that_says_why(
    client: TestClient, path: str, status: int, detail: str
) -> None:
    answer = client.get(path)
    assert answer.headers["content-type"] == "application/problem+json"
    assert (answer.status_code, answer.json()["status"]) == (status, status)
    assert answer.json()["detail"].startswith(detail)


def test_nothing_is_told_without_a_token_that_is_known(client: TestClient) -> None:
    for authorization in ("", "Bearer", "Bearer wrong", f"Basic {TOKEN}", f"Bearer {TOKEN}x"):
        answer = client.get(f"{HOME}/listings", headers={"Authorization": authorization})
        assert (answer.status_code, answer.headers["www-authenticate"]) == (401, "Bearer")
        assert answer.json() == {"title": "Unauthorized", "status": 401, "detail": "Unauthorized"}
    assert client.post(f"{HOME}/listings").status_code == 405


def test_without_tokens_only_names_of_this_machine_are_served(database: Database, shop: Worker) -> None:
    app = create_app(database, local_guard)
    for host, status in (("127.0.0.1:8081", 200), ("[::1]:8081", 200), ("localhost", 200), ("evil.example:8081", 421)):
        with TestClient(app) as client:
            assert client.get(f"{HOME}/runs", headers={"Host": host}).status_code == status


def test_it_can_be_mounted_in_another_app(database: Database, shop: Worker) -> None:
    outer = Starlette(routes=[Mount("/api", create_app(database, tokens_guard([TOKEN])))])
    with TestClient(outer, headers=BEARER) as client:
        assert len(client.get(f"/api{HOME}/listings").json()["data"]) == 3


def test_a_database_that_is_gone_is_503_and_nothing_of_it_is_told(
    database: Database, shop: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sqlalchemy.exc import OperationalError

    def broken(*args: object) -> bool:
        raise OperationalError("SELECT", {}, Exception("host db.internal is gone"))

    monkeypatch.setattr("storebot.db.reading.is_store", broken)
    with TestClient(create_app(database, tokens_guard([TOKEN])), headers=BEARER) as client:
        answer = client.get(f"{HOME}/listings")
    assert answer.status_code == 503
    assert "db.internal" not in answer.text


def test_its_description_is_valid_and_names_every_route_and_no_other(client: TestClient) -> None:
    described = client.get("/openapi.json", headers={"Authorization": ""}).json()
    validate(described)
    assert described == json.loads(json.dumps(document()))
    app = client.app
    assert isinstance(app, Starlette)
    served = {route.path for route in app.routes if isinstance(route, Route)} - {"/openapi.json"}
    assert described["paths"].keys() == served


def test_answers_are_as_they_are_described(client: TestClient) -> None:
    described = document()
    number = client.get(f"{HOME}/listings").json()["data"][0]["id"]
    for path, item in described["paths"].items():
        shape = item["get"]["responses"]["200"]["content"]["application/json"]["schema"]
        answer = client.get(path.format(store=STORE, listing=number)).json()
        assert answer.get("data", [answer])
        Draft202012Validator({**shape, "components": described["components"]}).validate(answer)
