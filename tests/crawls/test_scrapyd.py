"""Real Scrapyd: a deployment has the store files in it, a cancel is graceful, the worker's crawls survive a node."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

import pytest

from storebot.demo.running import DemoStore
from tests.crawls import scrapy_process
from tests.crawls.scrapy_process import Row, rows
from tests.crawls.scrapyd_nodes import PASSWORD, USER, ScrapydNode, checkout, deploy
from tests.crawls.watched import store_file, wait_until

PRODUCTS = 20
SLOWLY = ["DOWNLOAD_DELAY=0.15", "STOREBOT_COMMIT_S=0.05"]


@pytest.fixture(scope="module")
def shop() -> Iterator[DemoStore]:
    with DemoStore(products=PRODUCTS, page_size=20, sitemap_size=20) as shop:
        yield shop


@dataclass(frozen=True)
class Deployed:
    """A checkout, and what scrapyd-client made of it: an egg, and one of the code that it had before."""

    checkout: Path
    eggs: Path
    version: str
    old_version: str


@pytest.fixture(scope="module")
def deployed(shop: DemoStore, tmp_path_factory: pytest.TempPathFactory) -> Deployed:
    """Deploy this checkout with scrapyd-client, and once before with another line in it."""
    folder = tmp_path_factory.mktemp("deployed")
    node = ScrapydNode.start(folder / "node", {})
    mine = checkout(folder / "checkout", shop.url)
    changed = mine / "storebot" / "core" / "urls.py"
    code = changed.read_text()
    changed.write_text(f"{code}# as it was before\n")
    old_version, _ = deploy(mine, node)
    changed.write_text(code)
    version, said = deploy(mine, node)
    node.stop()
    assert '"spiders": 2' in said, said
    return Deployed(mine, node.folder / "eggs" / "storebot", version, old_version)


@dataclass
class Fleet:
    """Nodes and a worker's machine, which share a database."""

    folder: Path
    deployed: Deployed
    nodes: list[ScrapydNode] = field(default_factory=list)

    @property
    def env(self) -> dict[str, str]:
        saved = {"STOREBOT_DATABASE_URL": f"sqlite:///{self.database}", "STOREBOT_ARCHIVE": str(self.folder / "pages")}
        return {**saved, "STOREBOT_PROGRESS": "off"}

    @property
    def database(self) -> Path:
        return self.folder / "store.db"

    def node(self, **eggs: str) -> ScrapydNode:
        """Start another node. ``eggs``: what is deployed there, by version; this code without it."""
        folder = self.folder / f"node{len(self.nodes)}"
        (folder / "eggs" / "storebot").mkdir(parents=True)
        for version, egg in (eggs or {self.deployed.version: self.deployed.version}).items():
            shutil.copy(self.deployed.eggs / f"{egg}.egg", folder / "eggs" / "storebot" / f"{version}.egg")
        self.nodes.append(ScrapydNode.start(folder, self.env))
        return self.nodes[-1]

    def worker(self, *options: str) -> subprocess.Popen[str]:
        return self.scrapy("worker", "--once", *options)

    def scrapy(self, *words: str) -> subprocess.Popen[str]:
        """Start a command in the checkout that was deployed."""
        addresses = [f"http://{USER}:{quote(PASSWORD)}@127.0.0.1:{node.port}" for node in self.nodes]
        own = {
            "STOREBOT_STORES": str(self.folder / "stores"),
            "STOREBOT_SCRAPYD_URLS": " ".join(addresses),
            "STOREBOT_JOB_LOGS": str(self.folder / "logs"),
        }
        env = {**os.environ, **self.env, **own}
        return subprocess.Popen(
            [sys.executable, "-m", "scrapy", *words],
            cwd=self.deployed.checkout,
            env=env,
            stderr=subprocess.PIPE,
            text=True,
        )

    def query(self, statement: str) -> list[Row]:
        if not self.database.exists() or not rows(self.database, "SELECT 1 FROM sqlite_master WHERE name = 'job_runs'"):
            return []
        return rows(self.database, statement)

    def wait_for(self, statement: str, enough: Callable[[int], bool]) -> None:
        """Wait until a statement that counts gives enough."""
        wait_until(lambda: any(enough(next(iter(row.values()))) for row in self.query(statement)))

    def is_whole(self) -> bool:
        """Whether each product was saved once, and in one version."""
        pages = self.query("SELECT status, count(*) AS n FROM pages GROUP BY status")
        twice = self.query("SELECT 1 FROM offers GROUP BY page_id, variant_id HAVING count(*) > 1")
        return pages == [{"status": "parsed", "n": PRODUCTS}] and twice == []


@pytest.fixture
def fleet(deployed: Deployed, shop: DemoStore, tmp_path: Path) -> Iterator[Fleet]:
    store_file(tmp_path, '[schedule]\nrefresh = "every 24h"', {"http://127.0.0.1:8400": shop.url})
    made = Fleet(tmp_path, deployed)
    yield made
    for node in made.nodes:
        if node.process.poll() is None:
            for job in node.running():
                os.kill(job["pid"], 9)
            node.stop()


def test_a_deployment_crawls_refuses_a_second_run_and_is_stopped_gracefully(fleet: Fleet) -> None:
    node = fleet.node()
    about = {"project": "storebot", "spider": "backfill", "store": "demo"}
    node.api.call("schedule.json", 60, **about, jobid="first", setting=["DOWNLOAD_DELAY=1", "STOREBOT_COMMIT_S=0.05"])
    fleet.wait_for("SELECT count(*) FROM listings", lambda count: count >= 3)

    from_cron = scrapy_process.crawl("refresh", "demo", database=fleet.database, stores=fleet.folder / "stores")
    assert from_cron.exit_code == 7
    node.api.call("schedule.json", 60, **{**about, "spider": "refresh"}, jobid="second", budget="7")
    wait_until(lambda: node.api.call("status.json?job=second")["currstate"] == "finished")
    assert "is being worked by" in node.log_of("refresh", "second")
    assert len(fleet.query("SELECT 1 FROM runs")) == 1

    node.api.call("cancel.json", project="storebot", job="first")
    wait_until(lambda: node.api.call("status.json?job=first")["currstate"] == "finished")
    (run,) = fleet.query("SELECT status FROM runs")
    assert run["status"] == "interrupted"
    assert fleet.query("SELECT 1 FROM pages WHERE status = 'in_progress'") == [], "claims are given back"

    node.api.call("schedule.json", 60, **about, jobid="third", setting="DOWNLOAD_DELAY=0")
    wait_until(lambda: node.api.call("status.json?job=third")["currstate"] == "finished")
    assert fleet.is_whole()


def test_a_crawl_whose_node_dies_is_completed_on_the_other(fleet: Fleet) -> None:
    """Case Y01, for a machine that is gone."""
    nodes = [fleet.node(), fleet.node()]
    worker = fleet.worker(*(word for setting in (*SLOWLY, "STOREBOT_LEASE_S=6") for word in ("-s", setting)))
    fleet.wait_for("SELECT count(*) FROM listings", lambda count: count >= 3)
    (dying,) = [node for node in nodes if node.running()]
    dying.kill()
    _, said = worker.communicate(timeout=120)
    assert worker.returncode == 3, said  # an attempt was lost, which a person may want to know
    assert fleet.is_whole(), said
    attempts = fleet.query("SELECT node, verdict, reason, exit_code FROM job_runs ORDER BY id")
    assert [row["verdict"] for row in attempts] == ["crashed", "done"], said
    assert attempts[0]["node"] == dying.api.url
    assert attempts[0]["reason"] == f"{dying.api.url} does not answer"
    assert attempts[1]["node"] not in ("", dying.api.url)
    assert attempts[1]["exit_code"] == 0, "which the crawl itself noted"
    assert [row["status"] for row in fleet.query("SELECT status FROM runs ORDER BY id")] == ["interrupted", "complete"]
    assert PASSWORD not in said
    assert quote(PASSWORD) not in said


def test_a_crawl_whose_daemon_alone_dies_is_followed_to_its_end(fleet: Fleet) -> None:
    """Case Y01: a restarted Scrapyd knows nothing of it, and it's not started a second time."""
    node = fleet.node()
    worker = fleet.worker(*(word for setting in (*SLOWLY, "STOREBOT_LEASE_S=6") for word in ("-s", setting)))
    fleet.wait_for("SELECT count(*) FROM listings", lambda count: count >= 3)
    node.process.kill()
    node.process.wait()
    _, said = worker.communicate(timeout=120)
    assert worker.returncode == 0, said
    assert fleet.is_whole(), said
    assert [row["verdict"] for row in fleet.query("SELECT verdict FROM job_runs")] == ["done"], said


def test_a_node_with_another_version_gets_no_crawl_and_who_has_this_one_gets_it(fleet: Fleet) -> None:
    """Case Y04. The old one sorts after this one there, and would be what Scrapyd runs by itself."""
    mine, old = fleet.deployed.version, fleet.deployed.old_version
    outdated = fleet.node(r9=old)
    worker = fleet.worker()
    _, said = worker.communicate(timeout=60)
    assert worker.returncode == 3, said
    why = (
        f"{outdated.api.url}: it has storebot r9, and this code is {mine[-12:]}: "
        'scrapyd-deploy --version "$(scrapy worker --deploy-version)"'
    )
    assert why in said
    (job,) = fleet.query("SELECT id, status, attempts, last_error FROM jobs WHERE kind = 'backfill'")
    assert (job["status"], job["attempts"]) == ("pending", 0), "no attempt was made"
    assert job["last_error"].endswith(f"no Scrapyd node took it: {why}")

    fleet.scrapy("jobs", "run", str(job["id"])).communicate(timeout=60)
    updated = fleet.node(**{mine: mine, "r9": old})
    worker = fleet.worker()
    _, said = worker.communicate(timeout=60)
    assert worker.returncode == 0, said
    assert why in said
    assert fleet.is_whole()
    (run,) = fleet.query("SELECT node, verdict FROM job_runs")
    assert run == {"node": updated.api.url, "verdict": "done"}
    assert not (outdated.folder / "logs" / "storebot").exists(), "nothing was begun there"


def test_a_version_whose_name_says_another_code_than_it_has_fetches_nothing(fleet: Fleet, shop: DemoStore) -> None:
    mine, old = fleet.deployed.version, fleet.deployed.old_version
    fleet.node(**{mine: old})
    shop.reset_counts()
    worker = fleet.worker()
    _, said = worker.communicate(timeout=60)
    assert worker.returncode == 3, said
    (job,) = fleet.query("SELECT status, last_verdict, last_error FROM jobs WHERE kind = 'backfill'")
    assert (job["status"], job["last_verdict"]) == ("failed", "misused")
    assert (
        f"this node runs code {old[-12:]}, and the worker's is {mine[-12:]}: nothing was fetched" in job["last_error"]
    )
    assert shop.requests().counts == {}
    assert fleet.query("SELECT 1 FROM runs") == []


@pytest.mark.parametrize(
    ("number", "ends_alone"),
    [(signal.SIGTERM, False), (signal.SIGTERM, True), (signal.SIGKILL, False)],
    ids=["stopped", "stopped for longer than the crawl takes", "killed"],
)
def test_a_crawl_outlives_its_worker_and_the_next_one_follows_it(
    fleet: Fleet, number: signal.Signals, ends_alone: bool
) -> None:
    node = fleet.node()
    worker = fleet.worker("-s", "DOWNLOAD_DELAY=0.4", "-s", "STOREBOT_COMMIT_S=0.05")
    fleet.wait_for("SELECT count(*) FROM listings", lambda count: count >= 3)
    worker.send_signal(number)
    _, said = worker.communicate(timeout=30)
    (crawl,) = node.running()
    if number == signal.SIGTERM:
        assert worker.returncode == 0, said
        assert f"goes on on {node.api.url}: the next worker follows it" in said
    (job,) = fleet.query("SELECT status, claim_token, holder FROM jobs WHERE kind = 'backfill'")
    assert (job["status"], job["claim_token"]) == ("running", crawl["id"])
    if ends_alone:
        wait_until(lambda: not node.running())

    following = fleet.worker()
    _, said = following.communicate(timeout=60)
    assert following.returncode == 0, said
    assert f"is followed on {node.api.url}" in said
    assert fleet.is_whole()
    assert fleet.query("SELECT token, verdict, exit_code FROM job_runs") == [
        {"token": crawl["id"], "verdict": "done", "exit_code": 0}
    ]
    assert fleet.query("SELECT status FROM runs") == [{"status": "complete"}], "it was never interrupted"
    assert len(list((node.folder / "logs" / "storebot" / "backfill").iterdir())) == 1, "nor begun twice"
