"""A run: how it went, its visits, the pages that it kept, and having failed pages tried again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import update
from starlette.testclient import TestClient

from storebot.core.page import Page
from storebot.dashboard.app import create_app
from storebot.dashboard.site import Site
from storebot.db import audit, runs
from storebot.db.database import Database
from storebot.db.schema import runs as runs_table
from storebot.failed_pages import FailedPages
from storebot.items import Outcome, RunStatus
from tests.dashboard.asking import post
from tests.dashboard.conftest import HERE
from tests.db.shop import STORE, Worker, unparsed

REASON = "TimeoutError: <b>no answer</b> in 30.5 s"


@pytest.fixture
def worker(local_database: Database) -> Worker:
    """A run over four pages that were read before: two with an error, one blocked, one to come."""
    first = Worker(local_database)
    first.known("1", "2", "3", "4")
    end(first, RunStatus.COMPLETE, {Outcome.NEW: 4})
    second = Worker(local_database)
    with local_database.write() as conn:
        conn.execute(update(runs_table).where(runs_table.c.id == second.run.run_id).values(parser_version="p2"))
    at = second.clock()
    for target, outcome in zip(second.due(), ("error", "error", "blocked"), strict=False):
        second.save(unparsed(target, Outcome(outcome), at, reason=REASON))
    return second


def end(worker: Worker, status: RunStatus, outcomes: dict[Outcome, int]) -> None:
    with worker.database.write() as conn:
        runs.finish(conn, worker.run.run_id, status, "", outcomes=outcomes)


def test_a_run_under_way_shows_what_came_so_far(client: TestClient, worker: Worker) -> None:
    facts = client.get(f"/runs/{worker.run.run_id}.json").json()
    assert facts["run"]["status"] == "running"
    assert {row["outcome"]: row["visits"] for row in facts["counts"] if row["visits"]} == {"error": 2, "blocked": 1}
    page = client.get(f"/runs/{worker.run.run_id}").text
    assert "data-live" in page
    assert "&lt;b&gt;no answer" in page
    assert "<b>no answer" not in page


def test_what_is_different_from_the_run_before_is_told(client: TestClient, worker: Worker) -> None:
    end(worker, RunStatus.FAILED, {Outcome.ERROR: 2, Outcome.BLOCKED: 1})
    page = client.get(f"/runs/{worker.run.run_id}").text
    assert "p1" in page
    assert "p2" in page
    picture = client.get(f"/runs/{worker.run.run_id}/timeline.svg")
    assert picture.status_code == 200
    assert picture.headers["content-security-policy"].startswith("default-src 'none'")


def test_visits_are_filtered_and_gone_through_page_by_page(client: TestClient, worker: Worker) -> None:
    address = f"/runs/{worker.run.run_id}/visits.json"
    assert len(client.get(f"{address}?outcome=error").json()["list"]["rows"]) == 2
    assert client.get(f"{address}?outcome=shout").status_code == 400
    first = client.get(f"{address}?limit=2").json()["list"]
    second = client.get(f"{address}?limit=2&after={first['next']}").json()["list"]
    numbers = [row["id"] for row in first["rows"] + second["rows"]]
    assert len(set(numbers)) == len(numbers) == 3


def test_there_is_no_such_run(client: TestClient) -> None:
    assert client.get("/runs/99").status_code == 404
    assert client.get("/runs/x").status_code == 404


def test_pages_that_failed_are_tried_again(client: TestClient, worker: Worker, local_database: Database) -> None:
    post(client, f"/stores/{STORE}/requeue", {"failure": "error"}, page=f"/runs/{worker.run.run_id}")
    with local_database.read() as conn:
        deed = audit.listed(conn, {}, None, descending=True, limit=1)[0]
    assert (deed.verb, deed.result, deed.store, deed.text) == (
        "requeue_pages",
        "done",
        STORE,
        "2 pages are due now: the next run tries them",
    )
    assert post(client, f"/stores/{STORE}/requeue", {"failure": "shout"}).status_code == 400


class TestKeptPages:
    BODY = "<h1>Mug</h1><script>window.bad=1</script><link rel=preconnect href=//evil.example>"

    @pytest.fixture
    def kept(self, site: Site, worker: Worker, tmp_path: Path) -> Iterator[tuple[TestClient, str]]:
        folder = tmp_path / "failed"
        headers = {"Content-Type": "text/html"}
        page = Page(url="https://shop.example/p/1", status=200, headers=headers, body=self.BODY.encode())
        FailedPages(folder, STORE, 5).keep(page, REASON, worker.clock() + 1)
        name = next((folder / STORE).glob("*.json")).name.partition(".")[0]
        with TestClient(create_app(replace(site, failed_pages=folder)), base_url=HERE) as asking:
            yield asking, f"/runs/{worker.run.run_id}/kept/{name}"

    def test_it_is_shown_as_text(self, kept: tuple[TestClient, str]) -> None:
        client, address = kept
        page = client.get(address).text
        assert "&lt;script&gt;window.bad=1" in page
        assert "<script>window.bad" not in page
        assert 'sandbox=""' in page

    def test_its_frame_runs_nothing_and_loads_nothing(self, kept: tuple[TestClient, str]) -> None:
        client, address = kept
        answer = client.get(f"{address}/frame")
        policy = answer.headers["content-security-policy"]
        assert "sandbox" in policy
        assert "default-src 'none'" in policy
        assert "script" not in policy
        assert "preconnect href" not in answer.text or "<link-that-was" in answer.text

    def test_no_name_leads_to_another_file(self, kept: tuple[TestClient, str]) -> None:
        client, address = kept
        home = address.rpartition("/")[0]
        for name in ("..%2f..%2fstore.db", "%2e%2e", "x", "*"):
            assert client.get(f"{home}/{name}").status_code == 404, name
