"""A whole crawl as those see it who watch: its log as JSON, a watchdog that is called, and what it missed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from storebot.db.database import Database
from storebot.db.dialects import now_ms
from storebot.demo.running import DemoStore
from storebot.items import RunStatus
from tests.crawls import scrapy_process
from tests.crawls.scrapy_process import Crawl
from tests.crawls.watched import Watched, store_file
from tests.notify.receiving import http_receiver
from tests.notify.standing import STORE, ran
from tests.stores.writing import LEAST, written


@pytest.fixture(scope="module")
def shop() -> Iterator[DemoStore]:
    with DemoStore(products=12, page_size=10, sitemap_size=20) as shop:
        yield shop


def crawl(shop: DemoStore, database: Path, **more: Any) -> Crawl:
    return scrapy_process.crawl("backfill", "demo", database=database, base_url=shop.url, **more)


def test_a_run_is_logged_called_in_and_marked(shop: DemoStore, tmp_path: Path) -> None:
    expect = "[expect]\nfill = {price = 0.9, review_count = 1.0}\n"
    stores = store_file(tmp_path, changed={"[politeness]": f"{expect}[politeness]"})
    watched = Watched(shop, tmp_path / "store.db", stores)
    with http_receiver() as watchdog:
        env = {
            "STOREBOT_LOG_JSON": "yes",
            "STOREBOT_HEARTBEAT": f"http://127.0.0.1:{watchdog.port}/SECRETKEY/{{store}}-{{kind}}?create=1",
        }
        done = crawl(shop, watched.database, stores=stores, env=env, settings={"LOG_LEVEL": "DEBUG"})
    missed = "% of the listings have a review_count, and [expect.fill] asks for 100%"
    assert (done.exit_code, done.fields["status"], done.fields["missed"]) == (0, "complete", "1"), done.stderr
    assert missed in done.fields["reason"]
    assert missed in json.loads(watched.last_run()["missed"])[0]

    assert watchdog.paths == [f"/SECRETKEY/demo-backfill{end}?create=1" for end in ("/start", "")]
    assert watchdog.bodies[1].decode() == done.line
    assert "SECRETKEY" not in done.stderr

    lines = [json.loads(line) for line in done.stderr.splitlines()]
    assert {"at", "level", "logger", "message"} <= lines[0].keys()
    assert {line.get("store") for line in lines[1:]} <= {"demo", None}
    assert lines[-1]["run"] == watched.last_run()["id"]
    keys = {line["key"] for line in lines if "key" in line}
    assert len(keys) == 12
    assert all(key.startswith("https://127.0.0.1") for key in keys)


def test_a_watchdog_that_is_dead_hurts_nobody(shop: DemoStore, tmp_path: Path) -> None:
    with http_receiver() as watchdog:
        port = watchdog.port
    env = {"STOREBOT_HEARTBEAT": f"http://127.0.0.1:{port}/SECRETKEY"}
    done = crawl(shop, tmp_path / "store.db", env=env)
    assert (done.exit_code, done.fields["status"]) == (0, "complete")
    assert "the heartbeat http://127.0.0.1/*** failed: <urlopen error [Errno 111]" in done.stderr
    assert "SECRETKEY" not in done.stderr


def test_a_worker_tells_what_is_wrong(tmp_path: Path) -> None:
    written(tmp_path / "stores", LEAST, STORE)
    database = Database.open(f"sqlite:///{tmp_path / 'store.db'}")
    with database.write() as conn:
        ran(conn, now_ms(conn) - 600_000, RunStatus.BLOCKED, reason="it says no")
    with http_receiver() as receiver:
        env = {
            "STOREBOT_DATABASE_URL": str(database.url),
            "STOREBOT_STORES": str(tmp_path / "stores"),
            "STOREBOT_ARCHIVE": str(tmp_path / "pages"),
            "STOREBOT_JOB_LOGS": str(tmp_path / "logs"),
            "STOREBOT_ALERTS_OPERATOR": f"json://127.0.0.1:{receiver.port}/SECRETTOKEN",
            "STOREBOT_LOG_JSON": "1",
        }
        worker = [sys.executable, "-m", "scrapy", "worker", "--once"]
        done = subprocess.run(
            worker,
            cwd=scrapy_process.ROOT,
            env={**os.environ, **env},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    database.dispose()
    assert done.returncode == 0, done.stderr
    assert [one["title"] for one in receiver.got] == ["acme: the shop blocks"]
    messages = [json.loads(line)["message"] for line in done.stderr.splitlines()]
    assert any(message.startswith("acme: the shop blocks: run 1 was blocked") for message in messages)
    assert "SECRETTOKEN" not in done.stderr
