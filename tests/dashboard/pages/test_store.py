"""A store's page, its charts and its runs, and what an operator does with it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from argon2 import PasswordHasher
from starlette.testclient import TestClient

from storebot.core.breaker import State
from storebot.core.dashboard.roles import Role
from storebot.core.jobs import JobStatus
from storebot.dashboard.app import create_app
from storebot.dashboard.site import Site
from storebot.db import audit, breakers, jobs, users
from storebot.db.database import Database, now_ms
from tests.dashboard.asking import post
from tests.dashboard.conftest import HERE
from tests.dashboard.pages.states import HOUR, every_state


@pytest.fixture
def states(local_database: Database, tmp_path: Path) -> Iterator[TestClient]:
    """A dashboard over stores in every state."""
    folder = tmp_path / "stores"
    folder.mkdir()
    with local_database.write() as conn:
        every_state(conn, folder, now_ms(conn))
    site = Site(database=local_database, folders=(str(folder),), local_user="ann")
    with TestClient(create_app(site), base_url=HERE, follow_redirects=False) as client:
        yield client


def deed(database: Database) -> audit.Deed:
    with database.read() as conn:
        return audit.listed(conn, {}, None, descending=True, limit=1)[0]


def statuses(database: Database, store: str) -> dict[str, JobStatus]:
    with database.read() as conn:
        return {job.kind: job.status for job in jobs.find(conn, store=store)}


_HASHER = PasswordHasher(time_cost=1, memory_cost=64, parallelism=1)
STORES = ("fine", "running", "blocked", "held", "stale", "failed-ours", "partial", "never", "paused", "broken", "gone")


def test_a_store_has_a_page_in_every_state(states: TestClient) -> None:
    for store in STORES:
        page, facts = states.get(f"/stores/{store}"), states.get(f"/stores/{store}.json").json()
        assert page.status_code == 200, store
        assert facts["card"]["name"] == store
        for run in facts["runs"][: facts["recent"]]:
            assert f'href="/runs/{run["id"]}"' in page.text


def test_a_store_that_nobody_knows_is_not_there(states: TestClient) -> None:
    assert states.get("/stores/nope").status_code == 404
    assert states.get("/stores/nope/runs").status_code == 404
    assert states.get("/stores/nope/outcomes.svg").status_code == 404


def test_charts_are_pictures_of_what_the_page_says(states: TestClient) -> None:
    wanted = {"outcomes": "unchanged", "fill": "gtin", "tiers": "browser", "latency": "one answer"}
    for name, word in wanted.items():
        for narrow in ("", "?narrow=1"):
            picture = states.get(f"/stores/moved/{name}.svg{narrow}")
            assert picture.headers["content-type"] == "image/svg+xml"
            assert "<script" not in picture.text
            assert word in picture.text


def test_spending_is_drawn_and_told_beside_its_limit(states: TestClient) -> None:
    assert "http" in states.get("/stores/budget/spend.svg").text
    (limit,) = states.get("/stores/budget.json").json()["spend"]["limits"]
    assert limit["share"] == 1.0
    assert limit["text"].startswith("100 of 100 requests of ")


def test_what_is_measured_run_by_run_is_in_the_facts(states: TestClient) -> None:
    facts = states.get("/stores/moved.json").json()
    assert facts["outcomes"] == ["changed", "unchanged"]
    by_field = {row["field"]: row["last"] for row in facts["fill"]}
    assert by_field == {"name": 1.0, "price": 0.98, "gtin": 0.4}
    newest = next(run for run in facts["runs"] if run["tiers"])
    assert (newest["tiers"], newest["latency_ms"]) == ({"browser": 120}, 400)
    assert facts["pace"]["now_s"] == facts["pace"]["delay_s"] == 1.0
    assert facts["coverage"]["status"] == "partial"  # no source was ever read
    assert len(facts["trust"]["sentences"]) == 3


def test_the_runs_of_a_store_are_a_list_that_goes_on(states: TestClient) -> None:
    first = states.get("/stores/failed-ours/runs.json?limit=3").json()["list"]
    assert [run["status"] for run in first["rows"]] == ["failed"] * 3
    rest = states.get(f"/stores/failed-ours/runs.json?limit=9&after={first['next']}").json()["list"]
    assert [run["status"] for run in rest["rows"]] == ["complete"] * 5
    assert rest["next"] is None
    assert states.get("/stores/failed-ours/runs?status=complete").status_code == 200
    assert states.get("/stores/failed-ours/runs?status=odd").status_code == 400


def test_a_breaker_is_reset_with_a_reason_and_the_next_run_asks_once(
    states: TestClient, local_database: Database
) -> None:
    assert 'action="/stores/blocked/breaker"' in states.get("/stores/blocked").text
    answer = post(states, "/stores/blocked/breaker", {"why": "they lifted it"}, page="/stores/blocked")
    assert answer.status_code == 303
    with local_database.read() as conn:
        found = breakers.load(conn, "blocked")
    assert (found.state, found.trips) == (State.HALF_OPEN, 0)
    assert "reset by ann: they lifted it" in found.reason
    noted = deed(local_database)
    assert (noted.who, noted.verb, noted.store, noted.why, noted.result) == (
        "ann",
        "reset_breaker",
        "blocked",
        "they lifted it",
        "done",
    )
    page = states.get(answer.headers["location"]).text
    assert "The next run asks with one request" in page
    assert 'action="/stores/blocked/breaker"' not in page


def test_without_a_reason_no_breaker_is_reset(states: TestClient, local_database: Database) -> None:
    assert post(states, "/stores/blocked/breaker", {"why": " "}).status_code == 400
    with local_database.read() as conn:
        assert breakers.load(conn, "blocked").state is State.OPEN
        assert audit.listed(conn, {}, None, descending=True, limit=1) == []


def test_what_is_closed_is_not_reset_and_the_audit_says_so(states: TestClient, local_database: Database) -> None:
    post(states, "/stores/fine/breaker", {"why": "just so"})
    noted = deed(local_database)
    assert (noted.result, noted.text) == ("refused", "fine: its circuit breaker is closed: there is nothing to reset")


def test_a_store_is_paused_and_resumed(states: TestClient, local_database: Database) -> None:
    post(states, "/stores/fine/pause", {"why": "they asked us to"})
    assert statuses(local_database, "fine") == {"refresh": JobStatus.PAUSED}
    assert (deed(local_database).verb, deed(local_database).result) == ("pause_store", "done")
    assert states.get("/stores/fine.json").json()["card"]["stand"] == "paused"
    post(states, "/stores/fine/resume", {})
    assert statuses(local_database, "fine") == {"refresh": JobStatus.PENDING}


def test_a_store_without_jobs_cannot_be_paused(states: TestClient, local_database: Database) -> None:
    post(states, "/stores/never/pause", {})
    assert deed(local_database).result == "refused"
    assert "a cron" in deed(local_database).text


def test_run_now_has_the_job_be_due_or_adds_one(states: TestClient, local_database: Database) -> None:
    post(states, "/stores/fine/run", {"kind": "refresh"})
    with local_database.read() as conn:
        (job,) = jobs.find(conn, store="fine")
        assert job.next_run_at is not None
        assert job.next_run_at <= now_ms(conn)
    post(states, "/stores/never/run", {"kind": "backfill"})
    assert statuses(local_database, "never") == {"backfill": JobStatus.PENDING}
    assert deed(local_database).subject == "a backfill"
    post(states, "/stores/never/run", {"kind": "coverage"})
    assert statuses(local_database, "never") == {"backfill": JobStatus.PENDING, "coverage": JobStatus.PENDING}


@pytest.mark.parametrize("store", ["broken", "gone"])
def test_what_has_no_file_cannot_run(states: TestClient, local_database: Database, store: str) -> None:
    post(states, f"/stores/{store}/run", {"kind": "refresh"})
    assert deed(local_database).result == "refused"
    with local_database.read() as conn:
        (job,) = jobs.find(conn, store=store)
        assert job.next_run_at is not None
        assert job.next_run_at > now_ms(conn) + HOUR


def test_another_kind_of_job_is_not_begun_here(states: TestClient, local_database: Database) -> None:
    assert post(states, "/stores/fine/run", {"kind": "export"}).status_code == 400


def test_who_only_looks_sees_no_button_and_does_nothing(states: TestClient, local_database: Database) -> None:
    with local_database.write() as conn:
        users.add(conn, "vera", Role.VIEWER, _HASHER.hash("a long password"), by="test")
    page = states.get("/login").text
    assert "Log in" in page
    post(states, "/login", {"name": "vera", "password": "a long password"}, page="/login")
    text = states.get("/stores/blocked").text
    assert "vera" in text
    assert 'action="/stores/' not in text
    assert post(states, "/stores/blocked/breaker", {"why": "me too"}, page="/stores/blocked").status_code == 403
    with local_database.read() as conn:
        assert breakers.load(conn, "blocked").state is State.OPEN
