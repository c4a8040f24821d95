"""Jobs on Scrapyd nodes, by nodes that answer as the test says: who gets a job, and when one counts as lost."""

from __future__ import annotations

import base64
import json
import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from storebot.db import job_claims, job_runs, jobs, leases
from storebot.db.database import Database
from storebot.db.holders import this_process
from storebot.db.jobs import Job, Plan
from storebot.exceptions import ConfigurationError, NotLaunched
from storebot.jobs import scrapyd
from storebot.jobs.launching import Ended
from storebot.jobs.nodes import Node, nodes_of
from storebot.jobs.remote import RemoteAttempt
from storebot.jobs.scrapyd import ScrapydNodes
from tests.db.backends import sqlite_url
from tests.db.shop import alive

__all__ = ["sqlite_url"]
CODE = "0123456789ab"
THIS = f"20261130T222500-{CODE}"
AUTH = "Basic " + base64.b64encode(b"storebot:p@ss word").decode()


class ScriptedNode(HTTPServer):
    """Answers `daemonstatus.json` with ``load``, `listversions.json` with ``versions``, `status.json` with ``state``.

    It remembers what is posted to it.
    """

    def __init__(self, load: int = 0) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.load, self.state, self.refuses, self.slow_s = load, "running", "", 0.0
        self.versions: object = [THIS]
        self.posted: list[tuple[str, dict[str, list[str]]]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    @property
    def node(self) -> Node:
        return Node(self.url, "storebot", "p@ss word")


class _Handler(BaseHTTPRequestHandler):
    server: ScriptedNode

    def do_GET(self) -> None:
        about: dict[str, dict[str, Any]] = {
            "/daemonstatus.json": {"running": self.server.load, "pending": 0},
            "/listversions.json": {"versions": self.server.versions},
            "/status.json": {"currstate": self.server.state or None},
        }
        self._answer({"status": "ok", **about[urlsplit(self.path).path]})

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        self.server.posted.append((urlsplit(self.path).path, parse_qs(body)))
        time.sleep(self.server.slow_s)
        refused = {"status": "error", "message": self.server.refuses}
        self._answer(refused if self.server.refuses else {"status": "ok"})

    def _answer(self, said: dict[str, Any]) -> None:
        self.send_response(200 if self.headers["Authorization"] == AUTH else 401)
        self.end_headers()
        self.wfile.write(json.dumps(said).encode())

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def serving(*nodes: ScriptedNode) -> Iterator[None]:
    threads = [threading.Thread(target=node.serve_forever, args=(0.01,), daemon=True) for node in nodes]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        for node in nodes:
            node.shutdown()
            node.server_close()


@pytest.fixture
def node() -> Iterator[ScriptedNode]:
    made = ScriptedNode()
    with serving(made):
        yield made


class Machine:
    """A worker's side: its database, its clock, and a job that it has claimed."""

    def __init__(self, url: str) -> None:
        self.database, self.now = Database.open(url), 0.0
        with self.database.write() as conn:
            jobs.enqueue(conn, Plan(store="acme", kind="refresh", args={"budget": "5"}, time_limit_s=60))
            job = job_claims.claim(conn, "token", this_process(), 60)
        assert job is not None
        self.job: Job = job

    def nodes(self, *nodes: ScriptedNode | Node, settings: tuple[str, ...] = ()) -> ScrapydNodes:
        listed = [one.node if isinstance(one, ScriptedNode) else one for one in nodes]
        rest: dict[str, Any] = {"settings": settings, "clock": lambda: self.now, "code": lambda: CODE}
        return ScrapydNodes(listed, "storebot", self.database, patience_s=30, **rest)

    def after(self, seconds: float, attempt: RemoteAttempt) -> Ended | None:
        self.now += seconds
        return attempt.ended()


@pytest.fixture
def machine(sqlite_url: str) -> Iterator[Machine]:
    made = Machine(sqlite_url)
    yield made
    made.database.dispose()


def gone() -> Node:
    """A node where nothing listens."""
    closed = ScriptedNode()
    closed.server_close()
    return closed.node


class TestStart:
    def test_the_node_is_told_the_spider_its_arguments_the_settings_and_the_token(
        self, machine: Machine, node: ScriptedNode
    ) -> None:
        attempt = machine.nodes(node, settings=("DOWNLOAD_DELAY=5",)).start(machine.job, "token")
        ((path, fields),) = node.posted
        assert path == "/schedule.json"
        assert fields == {
            "project": ["storebot"],
            "spider": ["refresh"],
            "jobid": ["token"],
            "_version": [THIS],
            "setting": ["STOREBOT_JOB=token", f"STOREBOT_JOB_CODE={CODE}", "DOWNLOAD_DELAY=5"],
            "store": ["acme"],
            "budget": ["5"],
        }
        assert attempt.node == node.url
        assert attempt.log == f"{node.url}/logs/storebot/refresh/token.log"

    def test_the_one_with_the_fewest_jobs_gets_it_and_a_dead_one_is_passed_over(self, machine: Machine) -> None:
        busy, free = ScriptedNode(load=3), ScriptedNode(load=1)
        with serving(busy, free):
            assert machine.nodes(gone(), busy, free).start(machine.job, "token").node == free.url

    def test_where_none_takes_it_the_reason_of_each_is_told_and_no_password(
        self, machine: Machine, node: ScriptedNode
    ) -> None:
        node.refuses = "project 'storebot' not found"
        wrong = Node(node.url, "storebot", "secret!")
        with pytest.raises(NotLaunched) as refused:
            machine.nodes(wrong, node).start(machine.job, "token")
        assert "HTTP 401; give user and password in STOREBOT_SCRAPYD_URLS" in str(refused.value)
        assert "secret!" not in str(refused.value)

        with pytest.raises(NotLaunched, match="project 'storebot' not found"):
            machine.nodes(node).start(machine.job, "token")

    def test_a_node_that_was_silent_is_left_out_for_a_while(self, machine: Machine, node: ScriptedNode) -> None:
        fleet = machine.nodes(node)
        node.refuses = "not yet"
        for _ in range(2):
            with pytest.raises(NotLaunched, match="not yet"):
                fleet.start(machine.job, "token")
        assert len(node.posted) == 1
        node.refuses, machine.now = "", 31.0
        assert fleet.start(machine.job, "token").node == node.url

    def test_a_node_that_takes_too_long_may_have_taken_it_so_nobody_else_gets_it(
        self, machine: Machine, node: ScriptedNode, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The first job of a version has it list its spiders, for seconds."""
        monkeypatch.setattr(scrapyd, "SCHEDULE_TIMEOUT_S", 0.1)
        node.slow_s = 0.3
        other = ScriptedNode(load=9)
        with serving(other):
            assert machine.nodes(node, other).start(machine.job, "token").node == node.url
        assert other.posted == []


class TestVersion:
    """Case Y04: an old deployment never crawls for a new worker."""

    def test_a_node_with_another_version_is_passed_over_and_what_to_deploy_is_said(
        self, machine: Machine, caplog: pytest.LogCaptureFixture
    ) -> None:
        old, new = ScriptedNode(load=0), ScriptedNode(load=7)
        old.versions = ["20261130T222500-aaaaaaaaaaaa", "r10"]
        with serving(old, new):
            assert machine.nodes(old, new).start(machine.job, "token").node == new.url
        assert old.posted == []
        assert f"{old.url}: it has storebot r10, and this code is {CODE}: scrapyd-deploy --version" in caplog.text

    def test_the_version_that_is_this_code_is_asked_for_by_name_however_the_node_sorts(
        self, machine: Machine, node: ScriptedNode
    ) -> None:
        """Scrapyd takes `r9` for newer than `r10`, and both for newer than a time."""
        node.versions = [f"20251130T222500-{CODE}", THIS, "20270101T000000-aaaaaaaaaaaa", "r10", "r9"]
        machine.nodes(node).start(machine.job, "token")
        assert node.posted[0][1]["_version"] == [THIS]

    @pytest.mark.parametrize(
        ("versions", "said"),
        [
            ([], "storebot isn't deployed there: scrapyd-deploy"),
            (["r9"], "it has storebot r9, and this code is"),
            (None, "it answers, and not as Scrapyd does"),
        ],
        ids=["nothing", "another", "no-scrapyd"],
    )
    def test_where_no_node_has_it_nothing_is_begun(
        self, machine: Machine, node: ScriptedNode, versions: object, said: str
    ) -> None:
        node.versions = versions
        with pytest.raises(NotLaunched, match=said):
            machine.nodes(node).start(machine.job, "token")
        assert node.posted == []

    def test_once_it_is_deployed_the_node_gets_jobs_again(self, machine: Machine, node: ScriptedNode) -> None:
        fleet = machine.nodes(node)
        node.versions = []
        with pytest.raises(NotLaunched):
            fleet.start(machine.job, "token")
        node.versions, machine.now = [THIS], 31.0
        assert fleet.start(machine.job, "token").node == node.url


class TestFollow:
    def test_while_the_node_says_so_it_runs(self, machine: Machine, node: ScriptedNode) -> None:
        attempt = machine.nodes(node).start(machine.job, "token")
        for state in ("pending", "running"):
            node.state = state
            assert machine.after(1000, attempt) is None

    def test_how_it_ended_is_what_it_noted_itself(self, machine: Machine, node: ScriptedNode) -> None:
        attempt = machine.nodes(node).start(machine.job, "token")
        with machine.database.write() as conn:
            job_runs.note_end(conn, "token", 3)
        node.state = "finished"
        assert machine.after(5, attempt) == Ended(3)

    def test_one_that_ended_without_a_word_was_killed(self, machine: Machine, node: ScriptedNode) -> None:
        attempt = machine.nodes(node).start(machine.job, "token")
        node.state = "finished"
        ended = machine.after(5, attempt)
        assert ended is not None
        assert (ended.exit_code, "without saying how" in ended.reason) == (None, True)

    @pytest.mark.parametrize("silent", [False, True], ids=["forgotten", "silent"])
    def test_a_crawl_that_has_the_store_s_lease_lives_whatever_its_node_says(
        self, machine: Machine, node: ScriptedNode, silent: bool, caplog: pytest.LogCaptureFixture
    ) -> None:
        """Case Y01. When it has ended and noted nothing, it's lost, after some patience."""
        caplog.set_level(logging.ERROR)
        attempt = machine.nodes(node).start(machine.job, "token")
        if silent:
            attempt._node = gone()  # the machine loses its power
        node.state = ""
        with machine.database.write() as conn:
            leases.take(conn, "acme", "crawl", this_process(), 60, alive)
        assert machine.after(1000, attempt) is None
        with machine.database.write() as conn:
            leases.release(conn, "acme", "crawl")
        assert machine.after(29, attempt) is None
        ended = machine.after(5, attempt)
        assert ended is not None
        assert ended.reason == f"{node.url} {'does not answer' if silent else 'does not know it any more'}"

    def test_it_is_asked_every_few_seconds_and_no_more(self, machine: Machine, node: ScriptedNode) -> None:
        attempt = machine.nodes(node).start(machine.job, "token")
        assert machine.after(5, attempt) is None
        node.state = "finished"
        assert machine.after(1, attempt) is None, "it isn't asked yet"
        assert machine.after(1, attempt) is not None

    def test_stopped_it_ends_gracefully_and_killed_at_once(self, machine: Machine, node: ScriptedNode) -> None:
        attempt = machine.nodes(node).start(machine.job, "token")
        attempt.stop()
        attempt.kill()
        assert [fields["signal"] for path, fields in node.posted if path == "/cancel.json"] == [["INT"], ["KILL"]]

    def test_an_attempt_of_another_worker_is_found_on_its_node(self, machine: Machine, node: ScriptedNode) -> None:
        with machine.database.write() as conn:
            job_runs.note_start(conn, "token", node=node.url)
            run = job_runs.of_token(conn, "token")
        assert run is not None
        found = machine.nodes(node).adopt(run)
        assert found.log.endswith("/logs/storebot/refresh/token.log")
        node.state = "running"
        assert machine.after(1000, found) is None

    def test_one_on_a_node_that_is_not_listed_any_more_is_followed_by_the_database(
        self, machine: Machine, node: ScriptedNode, caplog: pytest.LogCaptureFixture
    ) -> None:
        """Its password isn't known, so it answers 401 and can't be told to stop."""
        with machine.database.write() as conn:
            job_runs.note_start(conn, "token", node=node.url)
            run = job_runs.of_token(conn, "token")
            leases.take(conn, "acme", "crawl", this_process(), 60, alive)
        assert run is not None
        found = machine.nodes(gone()).adopt(run)
        assert machine.after(1000, found) is None
        assert "HTTP 401" in caplog.text
        with machine.database.write() as conn:
            leases.release(conn, "acme", "crawl")
            job_runs.note_end(conn, "token", 0)
        assert machine.after(5, found) == Ended(0)


class TestAddresses:
    def test_they_are_read_and_the_password_is_kept_apart(self) -> None:
        found = nodes_of("http://storebot:p%40ss%20word@10.0.0.5:6800/ https://n2:6800")
        assert found == [Node("http://10.0.0.5:6800", "storebot", "p@ss word"), Node("https://n2:6800")]
        assert nodes_of("") == []

    @pytest.mark.parametrize("text", ["node:6800", "ftp://node", "http://", "http://a:secret@n:1?x"])
    def test_what_is_none_is_refused_and_not_shown(self, text: str) -> None:
        with pytest.raises(ConfigurationError, match="address 1 isn't of the form") as refused:
            nodes_of(text)
        assert "secret" not in str(refused.value)
