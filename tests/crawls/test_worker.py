"""`scrapy worker` as a process: on a fresh machine, told to stop, beside cron, and after the power was cut."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from storebot.core.jobs import Verdict
from storebot.db import job_claims, jobs
from storebot.db.database import Database
from storebot.db.holders import Holder, this_process
from storebot.demo.running import DemoStore
from tests.crawls import scrapy_process
from tests.crawls.scrapy_process import ROOT, Row, rows
from tests.crawls.watched import store_file, wait_until

PRODUCTS = 40
SLOWLY = ("-s", "DOWNLOAD_DELAY=0.1", "-s", "STOREBOT_COMMIT_S=0.05")
QUICKLY = ("-s", "DOWNLOAD_DELAY=0", "-s", "STOREBOT_COMMIT_S=0.05")


@pytest.fixture(scope="module")
def shop() -> Iterator[DemoStore]:
    with DemoStore(products=PRODUCTS, page_size=40, sitemap_size=40) as shop:
        yield shop


@dataclass(frozen=True)
class Machine:
    """A folder with a store file that has a [schedule], and a database that isn't there yet."""

    folder: Path

    @property
    def database(self) -> Path:
        return self.folder / "store.db"

    def worker(self, *options: str) -> subprocess.Popen[str]:
        """Start ``scrapy worker`` as a service manager does: all it's told is in the environment."""
        own = {
            "STOREBOT_DATABASE_URL": f"sqlite:///{self.database}",
            "STOREBOT_STORES": str(self.folder / "stores"),
            "STOREBOT_ARCHIVE": str(self.folder / "pages"),
            "STOREBOT_JOB_LOGS": str(self.folder / "logs"),
            "STOREBOT_PROGRESS": "off",
        }
        return subprocess.Popen(
            [sys.executable, "-m", "scrapy", "worker", *options],
            cwd=ROOT,
            env={**os.environ, **own},
            stderr=subprocess.PIPE,
            text=True,
        )

    def crawling(self) -> Holder:
        """Wait until a job's own process has saved some pages; return that process."""

        def begun() -> bool:
            return self.database.exists() and bool(self.query("SELECT 1 FROM sqlite_master WHERE name = 'job_runs'"))

        wait_until(begun)
        wait_until(lambda: self.query("SELECT count(*) AS n FROM listings")[0]["n"] >= 3)
        (run,) = self.query("SELECT holder FROM job_runs WHERE finished_at IS NULL")
        holder = Holder.read(run["holder"])
        assert holder is not None
        return holder

    def query(self, statement: str) -> list[Row]:
        return rows(self.database, statement)

    def job(self, kind: str) -> Row:
        (job,) = self.query(f"SELECT * FROM jobs WHERE kind = '{kind}'")
        return job


@pytest.fixture
def machine(shop: DemoStore, tmp_path: Path) -> Machine:
    store_file(tmp_path, '[schedule]\nrefresh = "every 24h"', {"http://127.0.0.1:8400": shop.url})
    return Machine(tmp_path)


def ended(worker: subprocess.Popen[str]) -> tuple[int, str]:
    _, said = worker.communicate(timeout=90)
    return worker.returncode, said


def test_it_needs_nothing_but_the_store_file_and_told_to_stop_it_passes_that_on(machine: Machine) -> None:
    """And a refresh from cron meanwhile ends at once (case F02)."""
    worker = machine.worker("-s", "DOWNLOAD_DELAY=0.6", "-s", "STOREBOT_COMMIT_S=0.05")  # longer than what follows
    machine.crawling()
    overlapping = scrapy_process.crawl(
        "refresh", "demo", database=machine.database, stores=machine.folder / "stores", timeout=20
    )
    assert overlapping.exit_code == 7, "from cron: at once"
    worker.send_signal(signal.SIGTERM)
    code, said = ended(worker)
    assert code == 0, said
    (run,) = machine.query("SELECT status FROM runs")
    assert run["status"] == "interrupted"
    job = machine.job("backfill")
    assert (job["status"], job["attempts"], job["last_verdict"]) == ("pending", 0, "stopped")
    assert job["next_run_at"] <= job["finished_at"], "due at once, for the next worker"


@pytest.mark.parametrize("survives", [False, True], ids=["reboot", "only the worker dies"])
def test_after_kill_9_another_worker_alone_brings_it_all_back(
    machine: Machine, shop: DemoStore, survives: bool
) -> None:
    worker = machine.worker(*SLOWLY)
    crawl = machine.crawling()
    worker.kill()
    if not survives:
        os.kill(crawl.pid, signal.SIGKILL)
    ended(worker)
    shop.reset_counts()

    code, said = ended(machine.worker("--once", *QUICKLY))
    assert code == 0, said
    verdicts = [row["verdict"] for row in machine.query("SELECT verdict FROM job_runs ORDER BY id")]
    # Told to end, the crawl says itself that it was stopped.
    assert verdicts == ["stopped" if survives else "crashed", "done"], said
    pages = machine.query("SELECT status, count(*) AS n FROM pages GROUP BY status")
    assert pages == [{"status": "parsed", "n": PRODUCTS}]
    assert machine.query("SELECT 1 FROM listings GROUP BY page_id, variant_id HAVING count(*) > 1") == []
    (doubled,) = machine.query("SELECT count(*) AS n FROM offers GROUP BY page_id, variant_id HAVING count(*) > 1") or [
        {"n": 0}
    ]
    assert doubled["n"] == 0
    assert [row["status"] for row in machine.query("SELECT status FROM runs ORDER BY id")] == [
        "interrupted",
        "complete",
    ]
    job = machine.job("backfill")
    assert (job["status"], job["attempts"], job["failures"]) == ("pending", 0, 0)
    logs = sorted((machine.folder / "logs" / "demo").glob("*.log"))
    assert len(logs) == 2
    assert logs[1].read_text().splitlines()[-1].startswith("backfill: checked=")


def test_a_crawl_notes_its_end_with_its_job_and_never_begins_after_the_worker_gave_it_up(
    machine: Machine, shop: DemoStore
) -> None:
    """A Scrapyd node that comes back has old jobs in its queue."""
    database = Database.open(f"sqlite:///{machine.database}")
    with database.write() as conn:
        jobs.enqueue(conn, jobs.Plan(store="demo", kind="backfill", time_limit_s=60))
        job = job_claims.claim(conn, "token", this_process(), 60)
    assert job is not None

    def crawl() -> scrapy_process.Crawl:
        return scrapy_process.crawl(
            "backfill",
            "demo",
            database=machine.database,
            stores=machine.folder / "stores",
            env={"STOREBOT_JOB": "token"},
        )

    assert crawl().exit_code == 0
    (noted,) = machine.query("SELECT exit_code, run_id, finished_at FROM job_runs")
    assert noted == {"exit_code": 0, "run_id": 1, "finished_at": None}

    with database.write() as conn:
        job_claims.finish(conn, job, Verdict.CRASHED)
    database.dispose()
    shop.reset_counts()
    late = crawl()
    assert (late.exit_code, shop.requests().counts) == (7, {})
    assert "this attempt was given up before it began" in late.stderr
    assert len(machine.query("SELECT 1 FROM runs")) == 1
