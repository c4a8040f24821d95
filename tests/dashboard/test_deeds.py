"""Deeds: who may, from where, and what the audit says."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from argon2 import PasswordHasher
from starlette.testclient import TestClient

from storebot.core.dashboard.roles import Role
from storebot.dashboard import app as app_module
from storebot.dashboard.app import create_app
from storebot.dashboard.forms import LARGEST
from storebot.dashboard.site import Site
from storebot.dashboard.view import Deed, Order, Told
from storebot.db import audit, users
from storebot.db.database import Database
from storebot.exceptions import JobRefused
from tests.dashboard.asking import form_token, post
from tests.dashboard.conftest import HERE

DONE: list[list[int]] = []


def _do(order: Order) -> str:
    ids = order.numbers("id")
    if ids == [13]:
        raise JobRefused("job 13 can't be counted")
    if ids == [0]:
        raise ZeroDivisionError("a fault of ours, with a secret")
    DONE.append(ids)
    return f"{len(ids)} counted"


COUNT = Deed("/count", "count", lambda order: Told("shop", f"rows {order.numbers('id')}", order.one("why")), _do)


@pytest.fixture
def counting(site: Site, monkeypatch: pytest.MonkeyPatch) -> Iterator[TestClient]:
    """A dashboard with one deed."""
    monkeypatch.setattr(app_module, "DEEDS", (COUNT,))
    DONE.clear()
    with TestClient(create_app(site), base_url=HERE, follow_redirects=False) as client:
        yield client


def deeds(database: Database) -> list[audit.Deed]:
    with database.read() as conn:
        return audit.listed(conn, {}, None, descending=False, limit=10)


def test_a_deed_is_done_and_noted_and_the_page_tells_what_was_done(
    counting: TestClient, local_database: Database
) -> None:
    answer = post(counting, "/count", {"id": ["3", "4"], "why": "to see"}, page="/audit?who=tester&sort=-at")
    assert DONE == [[3, 4]]
    (deed,) = deeds(local_database)
    assert (deed.who, deed.verb, deed.store, deed.subject, deed.why) == (
        "tester",
        "count",
        "shop",
        "rows [3, 4]",
        "to see",
    )
    assert (deed.result, deed.text) == ("done", "2 counted")
    assert answer.status_code == 303
    assert answer.headers["location"] == f"/audit?who=tester&sort=-at&done={deed.id}"
    page = counting.get(answer.headers["location"]).text
    assert 'role="status"' in page
    assert "2 counted" in page
    again = post(counting, "/count", {"id": ["5"]}, page=answer.headers["location"])
    assert again.headers["location"] == f"/audit?who=tester&sort=-at&done={deed.id + 1}"


def test_what_cannot_be_done_so_is_noted_as_refused(counting: TestClient, local_database: Database) -> None:
    answer = post(counting, "/count", {"id": "13"})
    (deed,) = deeds(local_database)
    assert (deed.result, deed.text) == ("refused", "job 13 can't be counted")
    assert "Not done" in counting.get(answer.headers["location"]).text


def test_a_fault_of_ours_is_noted_as_failed_without_its_details(counting: TestClient, local_database: Database) -> None:
    post(counting, "/count", {"id": "0"})
    (deed,) = deeds(local_database)
    assert deed.result == "failed"
    assert "secret" not in deed.text


def test_a_form_that_is_not_valid_begins_nothing(counting: TestClient, local_database: Database) -> None:
    for fields in ({}, {"id": "x"}, {"id": "1" * 30}):
        assert post(counting, "/count", fields).status_code == 400
    assert (DONE, deeds(local_database)) == ([], [])


class TestWhatIsRefused:
    """Case H05: another site's page has the browser send a request, with its cookies."""

    @pytest.fixture(autouse=True)
    def nothing_done(self, counting: TestClient, local_database: Database) -> Iterator[None]:
        yield
        assert (DONE, deeds(local_database)) == ([], [])

    def test_get(self, counting: TestClient) -> None:
        assert counting.get("/count?id=1").status_code == 405

    def test_a_form_without_a_token_or_with_anothers(self, counting: TestClient) -> None:
        form_token(counting)
        for fields in ({"id": "1"}, {"id": "1", "form_token": "0" * 64}):
            answer = counting.post("/count", data=fields)
            assert answer.status_code == 403
            assert "Load it again and repeat" in answer.text

    @pytest.mark.parametrize(
        "headers", [{"Origin": "https://evil.example"}, {"Sec-Fetch-Site": "cross-site"}, {"Origin": "null"}]
    )
    def test_a_form_of_another_site_even_with_the_token(self, counting: TestClient, headers: dict[str, str]) -> None:
        fields = {"id": "1", "form_token": form_token(counting)}
        assert counting.post("/count", data=fields, headers=headers).status_code == 403

    def test_what_is_no_form(self, counting: TestClient) -> None:
        token = form_token(counting)
        assert counting.post("/count", json={"id": "1", "form_token": token}).status_code == 415
        text = f"id=1&form_token={token}"
        assert counting.post("/count", content=text, headers={"Content-Type": "text/plain"}).status_code == 415

    def test_a_form_that_is_too_large(self, counting: TestClient) -> None:
        fields = {"id": "1" * (LARGEST + 1), "form_token": form_token(counting)}
        assert counting.post("/count", data=fields).status_code == 413
        many = "&".join(["id=1"] * 6000)
        kind = {"Content-Type": "application/x-www-form-urlencoded"}
        assert counting.post("/count", content=many, headers=kind).status_code == 400

    def test_a_viewer(self, counting: TestClient, local_database: Database) -> None:
        with local_database.write() as conn:
            hashed = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1).hash("correct horse battery")
            users.add(conn, "ben", Role.VIEWER, hashed, by="root")
        fields = {"name": "ben", "password": "correct horse battery", "form_token": form_token(counting, "/login")}
        assert counting.post("/login", data=fields).status_code == 303
        answer = post(counting, "/count", {"id": "1"})
        assert answer.status_code == 403
        assert "ben may look, but not act" in answer.text


def test_what_another_did_is_not_told_as_ones_own(counting: TestClient, local_database: Database) -> None:
    with local_database.write() as conn:
        deed_id = audit.begin(conn, "somebody else", "count")
    assert 'role="status"' not in counting.get(f"/audit?done={deed_id}").text
