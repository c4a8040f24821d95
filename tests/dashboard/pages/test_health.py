"""Storebot itself: the database, who works, who is told, and what failed last."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from sqlalchemy import insert, update
from starlette.testclient import TestClient

from storebot.core.alerts.conditions import Limits
from storebot.dashboard.app import create_app
from storebot.dashboard.site import Site
from storebot.db.database import Database, now_ms
from storebot.db.schema import REVISION, alerts, job_runs, outbox
from storebot.db.schema import jobs as jobs_table
from storebot.items import RunStatus
from tests.dashboard.conftest import HERE
from tests.dashboard.pages.states import HOUR, MINUTE, planned, ran
from tests.stores.writing import LEAST, written


def facts(site: Site) -> dict[str, Any]:
    with TestClient(create_app(site), base_url=HERE) as client:
        page = client.get("/health")
        assert page.status_code == 200
        return dict(client.get("/health.json").json())


def test_an_empty_installation_is_well(site: Site) -> None:
    found = facts(site)
    assert found["light"] == "good"
    assert found["database"]["revision"] == REVISION
    assert found["versions"]["tables"] == REVISION
    assert (found["failure"], found["failed_run"]) == (None, None)


def test_a_worker_that_keeps_its_claim_up_is_well_and_one_that_does_not_is_told(
    site: Site, local_database: Database
) -> None:
    with local_database.write() as conn:
        now = now_ms(conn)
        job_id = planned(conn, "acme", now)
        mine = update(jobs_table).where(jobs_table.c.id == job_id)
        claim = {"status": "running", "started_at": now - HOUR, "holder": "host 1 2"}
        conn.execute(mine.values(**claim, claim_expires_at=now + 50_000))
    (running,) = facts(site)["worker"]["running"]
    assert running["kept_up"]
    assert 9 <= running["heartbeat_s"] <= 30
    with local_database.write() as conn:
        conn.execute(mine.values(claim_expires_at=now - MINUTE))
    worker = facts(site)["worker"]
    assert worker["light"] == "warn"
    assert "a claim isn't kept up" in worker["text"]


def test_jobs_that_nobody_takes_are_bad(site: Site, local_database: Database) -> None:
    with local_database.write() as conn:
        now = now_ms(conn)
        job_id = planned(conn, "acme", now)
        conn.execute(update(jobs_table).where(jobs_table.c.id == job_id).values(next_run_at=now - HOUR))
    found = facts(site)
    assert (found["light"], found["worker"]["light"]) == ("bad", "bad")
    assert found["worker"]["late"][0]["what"] == "refresh of acme"
    assert "scrapy worker" in found["worker"]["text"]


def test_a_full_disk_is_bad(site: Site, tmp_path: Path) -> None:
    room = {"database": tmp_path}
    assert [one["light"] for one in facts(replace(site, disks=room, limits=Limits(disk_free_bytes=0)))["disks"]] == [
        "good"
    ]
    full = facts(replace(site, disks=room, limits=Limits(disk_free_bytes=10**18)))
    assert (full["light"], [one["light"] for one in full["disks"]]) == ("bad", ["bad"])


def test_messages_that_do_not_arrive_and_open_alerts_are_told(site: Site, local_database: Database) -> None:
    with local_database.write() as conn:
        now = now_ms(conn)
        row = {
            "key": "held acme",
            "kind": "held",
            "store": "acme",
            "text": "7 pages",
            "advice": "decide",
            "starts": "[]",
        }
        conn.execute(insert(alerts).values({**row, "since": now - HOUR, "told_at": now - HOUR, "open": 1}))
        letter = {"channel": "operator", "recipient": "r", "service": "mailto", "alert_key": "k", "next_try_at": now}
        conn.execute(insert(outbox).values({**letter, "status": "waiting", "created_at": now - 2 * HOUR, "attempts": 3,
                                            "last_error": "HTTP 503"}))  # fmt: skip
        conn.execute(insert(outbox).values({**letter, "status": "dead", "created_at": now - 9 * HOUR}))
    told = facts(site)["told"]
    assert told["light"] == "bad"
    assert told["messages"] == {"waiting": 1, "sent": 0, "dead": 1}
    assert (told["backlogs"][0]["service"], told["backlogs"][0]["error"]) == ("mailto", "HTTP 503")
    assert (told["alerts"][0]["title"], told["alerts"][0]["telling"][:5]) == ("changes are held", "told ")


def test_store_files_that_cannot_be_read_are_named(site: Site, local_database: Database, tmp_path: Path) -> None:
    folder = tmp_path / "stores"
    written(folder, LEAST, "good")
    written(folder, "nonsense = [", "bad")
    with local_database.write() as conn:
        ran(conn, "given-up", now_ms(conn))
    found = facts(replace(site, folders=(str(folder),)))["files"]
    assert [one["store"] for one in found["broken"]] == ["bad"]
    assert (found["gone"], found["read"], found["light"]) == (["given-up"], 1, "bad")


def test_what_failed_last_is_shown_with_the_end_of_its_log(
    site: Site, local_database: Database, tmp_path: Path
) -> None:
    logs = tmp_path / "logs"
    logs.mkdir()
    (logs / "one.log").write_text("begun\n<b>it broke</b>\n", encoding="utf-8")
    (tmp_path / "secret").write_text("a secret", encoding="utf-8")
    with local_database.write() as conn:
        now = now_ms(conn)
        row = {"job_id": 3, "store": "acme", "kind": "refresh", "verdict": "failed", "started_at": now, "exit_code": 1}
        conn.execute(insert(job_runs).values({**row, "token": "a", "log": str(logs / "one.log"), "reason": "it broke"}))
        ran(conn, "acme", now - HOUR, RunStatus.FAILED, reason="it broke")
    with TestClient(create_app(replace(site, logs=logs)), base_url=HERE) as client:
        page = client.get("/health").text
        assert "&lt;b&gt;it broke&lt;/b&gt;" in page
        assert "exit 1" in page
        assert client.get("/health.json").json()["failed_run"]["reason"] == "it broke"
        with local_database.write() as conn:
            conn.execute(update(job_runs).values(log=str(tmp_path / "secret")))
        assert "a secret" not in client.get("/health").text
