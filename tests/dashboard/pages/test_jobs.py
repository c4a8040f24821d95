"""Jobs: the list, one job, an attempt with its log, and what is done with them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import update
from starlette.testclient import TestClient

from storebot.core.jobs import JobStatus, Verdict
from storebot.core.schedule import Schedule
from storebot.dashboard.app import create_app
from storebot.dashboard.pages.jobs import TAKES
from storebot.dashboard.site import Site
from storebot.db import audit, job_runs, jobs
from storebot.db.database import Database
from storebot.db.dialects import now_ms
from storebot.db.job_orders import ORDERS
from storebot.db.jobs import Job, Plan
from storebot.db.schema import jobs as jobs_table
from storebot.exceptions import JobRefused
from tests.dashboard.asking import post
from tests.dashboard.conftest import HERE

HOUR = 3_600_000
DAILY = Schedule(every_ms=24 * HOUR)


def add(database: Database, store: str = "acme", kind: str = "refresh", schedule: Schedule = DAILY) -> int:
    with database.write() as conn:
        return jobs.enqueue(conn, Plan(store=store, kind=kind, schedule=schedule, time_limit_s=60), by="test")


def job(database: Database, job_id: int) -> Job:
    with database.read() as conn:
        return jobs.find(conn, ids=[job_id])[0]


def last_deed(database: Database) -> audit.Deed:
    with database.read() as conn:
        return audit.listed(conn, {}, None, descending=True, limit=1)[0]


def test_jobs_are_listed_by_when_they_run_and_by_filter(client: TestClient, local_database: Database) -> None:
    first, second = add(local_database), add(local_database, "other", "export")
    rows = client.get("/jobs.json").json()["list"]["rows"]
    assert [row["id"] for row in rows] == [first, second]
    assert (rows[0]["when"], rows[0]["status"], rows[0]["overdue"]) == ("every 24h", "pending", True)
    assert [row["id"] for row in client.get("/jobs.json?store=other").json()["list"]["rows"]] == [second]
    assert client.get("/jobs.json?kind=prune").json()["list"]["rows"] == []
    page = client.get("/jobs").text
    assert f'href="/jobs/{first}"' in page
    assert "The coming 7 days" in page


def test_pages_of_the_list_have_each_job_once(client: TestClient, local_database: Database) -> None:
    ids = {add(local_database, f"shop-{number}") for number in range(7)}
    seen: list[int] = []
    address = "/jobs.json?limit=3"
    while address:
        listed = client.get(address).json()["list"]
        seen += [row["id"] for row in listed["rows"]]
        address = f"/jobs.json?limit=3&after={listed['next']}" if listed["next"] else ""
    assert sorted(seen) == sorted(ids)


def test_an_empty_list_says_what_to_do(client: TestClient) -> None:
    assert "put <code>[schedule]</code> into a store file" in client.get("/jobs").text


@pytest.mark.parametrize("verb", ORDERS)
def test_each_deed_does_what_the_command_does_and_is_noted(
    client: TestClient, local_database: Database, verb: str
) -> None:
    job_id = add(local_database)
    if verb == "resume":
        with local_database.write() as conn:
            ORDERS["pause"](conn, job_id)
    if verb == "retry":
        with local_database.write() as conn:
            ORDERS["cancel"](conn, job_id)
    answer = post(client, f"/jobs/{job_id}/{verb}", {}, page=f"/jobs/{job_id}")
    assert answer.headers["location"].startswith(f"/jobs/{job_id}?done=")
    deed = last_deed(local_database)
    assert (deed.verb, deed.store, deed.result) == (f"{verb}_job", "acme", "done")
    assert job(local_database, job_id).status == {"pause": "paused", "cancel": "cancelled"}.get(verb, "pending")


def test_only_deeds_that_a_job_takes_have_a_button(local_database: Database) -> None:
    """What `TAKES` says of each status is what the verbs themselves say."""
    for status in JobStatus:
        for verb, order in ORDERS.items():
            job_id = add(local_database, f"{status}-{verb}")
            with local_database.write() as conn:
                conn.execute(update(jobs_table).where(jobs_table.c.id == job_id).values(status=status.value))
            with local_database.write() as conn:
                try:
                    order(conn, job_id)
                    taken = True
                except JobRefused:
                    taken = False
            if status is not JobStatus.RUNNING or verb != "resume":  # one whose pause was asked for goes on
                assert taken == (verb in TAKES[status]), (status, verb)


def test_what_cannot_be_done_is_refused_in_words(client: TestClient, local_database: Database) -> None:
    job_id = add(local_database)
    post(client, f"/jobs/{job_id}/resume", {})
    deed = last_deed(local_database)
    assert (deed.result, "only a job that is paused takes `resume`" in deed.text) == ("refused", True)
    assert post(client, "/jobs/999/run", {}).status_code == 400
    assert client.get("/jobs/999").status_code == 404


def test_a_job_is_added_for_a_store_that_has_a_file(client: TestClient, local_database: Database) -> None:
    post(client, "/jobs/add", {"kind": "export", "store": "demo"}, page="/jobs")
    assert last_deed(local_database).result == "done"
    with local_database.read() as conn:
        (added,) = jobs.find(conn)
    assert (added.store, added.kind, added.created_by) == ("demo", "export", "tester")
    post(client, "/jobs/add", {"kind": "export", "store": "nowhere"}, page="/jobs")
    assert last_deed(local_database).result == "refused"
    for fields in ({"kind": "shout"}, {"kind": "refresh", "store": ""}):
        assert post(client, "/jobs/add", fields).status_code == 400


class TestAttempts:
    @pytest.fixture
    def logs(self, tmp_path: Path) -> Path:
        (tmp_path / "logs" / "acme").mkdir(parents=True)
        return tmp_path / "logs"

    @pytest.fixture
    def with_logs(self, site: Site, logs: Path) -> Iterator[TestClient]:
        with TestClient(create_app(replace(site, logs=logs)), base_url=HERE) as asking:
            yield asking

    def attempt(self, database: Database, log: str) -> str:
        job_id = add(database)
        with database.write() as conn:
            job_runs.begin(conn, jobs.find(conn, ids=[job_id])[0], "token", now_ms(conn))
            job_runs.note_start(conn, "token", log=log)
            job_runs.end(conn, "token", Verdict.FAILED, now_ms(conn), exit_code=1, reason="<b>it broke</b>")
            (found,) = job_runs.history(conn, job_id=job_id)
        return f"/jobs/{job_id}/attempts/{found.id}"

    def test_the_end_of_its_log_is_shown_as_text(
        self, with_logs: TestClient, local_database: Database, logs: Path
    ) -> None:
        log = logs / "acme" / "1.log"
        log.write_text("first\n" + "x" * 100_000 + "\n<script>alert(1)</script>\nlast line\n", encoding="utf-8")
        page = with_logs.get(self.attempt(local_database, str(log))).text
        assert "last line" in page
        assert "&lt;script&gt;" in page
        assert "<script>alert" not in page
        assert "&lt;b&gt;it broke" in page
        assert "the last 64 KB of it" in page

    @pytest.mark.parametrize("elsewhere", ["../store.db", "/etc/passwd", "acme/../../store.db", "acme", "acme/\0", ""])
    def test_no_file_outside_of_the_folder_of_logs_is_shown(
        self, with_logs: TestClient, local_database: Database, logs: Path, elsewhere: str
    ) -> None:
        """Case H04: a path of the database is no more trusted than one of an address."""
        log = str(logs / elsewhere) if elsewhere and not elsewhere.startswith("/") else elsewhere
        page = with_logs.get(self.attempt(local_database, log))
        assert page.status_code == 200
        assert "root:" not in page.text
        assert "SQLite format" not in page.text

    def test_a_link_that_leads_out_of_it_is_not_followed(
        self, with_logs: TestClient, local_database: Database, logs: Path
    ) -> None:
        (logs / "acme" / "link.log").symlink_to("/etc/passwd")
        page = with_logs.get(self.attempt(local_database, str(logs / "acme" / "link.log"))).text
        assert "root:" not in page
        assert "isn't shown:" in page
