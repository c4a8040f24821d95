"""Jobs on Scrapyd nodes: started there, followed to their end, and started elsewhere when a node dies.

A node is asked by its API (https://scrapyd.readthedocs.io/en/stable/api.html). It doesn't tell exit codes, and forgets
its jobs when it's restarted: how a crawl ended is what the crawl itself noted in the database, and whether one still
runs is told by the store's lease.
"""

from __future__ import annotations

import base64
import json
import logging
import time
from collections.abc import Callable, Sequence
from http.client import HTTPException
from socket import gaierror
from typing import Any, NamedTuple
from urllib.error import HTTPError, URLError
from urllib.parse import quote, unquote, urlencode, urlsplit
from urllib.request import ProxyHandler, Request, build_opener

from storebot.core.job_kinds import KINDS
from storebot.db import job_runs, leases
from storebot.db.database import Database
from storebot.db.holders import is_alive
from storebot.db.job_runs import JobRun
from storebot.db.jobs import Job
from storebot.db.retry import retrying
from storebot.exceptions import ConfigurationError, NotLaunched
from storebot.jobs.launching import Ended

logger = logging.getLogger(__name__)

TIMEOUT_S = 5.0
SCHEDULE_TIMEOUT_S = 20.0  # the first job of a version has the node list its spiders, while it answers nobody
ASK_EVERY_S = 2.0
PATIENCE_S = 60.0  # how long a node may be silent, and for how long one that was isn't asked for new jobs
_NO_ANSWER = (OSError, HTTPException, ValueError)  # urllib's errors are OSErrors; ValueError: it's no JSON
_open = build_opener(ProxyHandler({})).open  # nodes are one's own: no proxy of the environment stands between


class Node(NamedTuple):
    """One Scrapyd server; ``url`` has no password."""

    url: str
    user: str = ""
    password: str = ""

    def call(self, what: str, timeout_s: float = TIMEOUT_S, **fields: str | list[str]) -> dict[str, Any]:
        """Ask the node: by GET without fields, else by POST. Raises OSError, HTTPException or ValueError."""
        body = urlencode(fields, doseq=True).encode() if fields else None
        request = Request(f"{self.url}/{what}", data=body)
        if self.user:
            secret = base64.b64encode(f"{self.user}:{self.password}".encode()).decode()
            request.add_header("Authorization", f"Basic {secret}")
        with _open(request, timeout=timeout_s) as answer:
            said: dict[str, Any] = json.loads(answer.read())
        if said.get("status") not in ("ok", None):
            raise ValueError(str(said.get("message", said)))
        return said


def nodes_of(text: str) -> list[Node]:
    """Read ``STOREBOT_SCRAPYD_URLS``. Raises ConfigurationError, which shows no password."""
    found = []
    for number, word in enumerate(text.split(), 1):
        parts = urlsplit(word)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
            raise ConfigurationError(
                f"STOREBOT_SCRAPYD_URLS: address {number} isn't of the form http://user:password@host:6800"
            )
        url = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path.rstrip('/')}"
        found.append(Node(url, unquote(parts.username or ""), unquote(parts.password or "")))
    return found


class ScrapydNodes:
    """Starts crawls on the node that has the fewest."""

    def __init__(
        self,
        nodes: Sequence[Node],
        project: str,
        database: Database,
        *,
        patience_s: float,
        settings: Sequence[str] = (),
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._nodes, self._project, self._database = list(nodes), project, database
        self._patience_s, self._settings, self._clock = min(patience_s, PATIENCE_S), list(settings), clock
        self._silent_until: dict[str, tuple[float, str]] = {}

    def start(self, job: Job, token: str) -> RemoteAttempt:
        """Schedule a crawl, its token being the node's job id. Raises `NotLaunched` where no node takes it."""
        fields: dict[str, str | list[str]] = {
            "project": self._project,
            "spider": KINDS[job.kind].spider,
            "jobid": token,
            "setting": [f"STOREBOT_JOB={token}", *self._settings],
            "store": job.store,
            **job.args,
        }
        refusals: list[str] = []
        for node in self._by_load(refusals):
            try:
                node.call("schedule.json", SCHEDULE_TIMEOUT_S, **fields)
            except _NO_ANSWER as error:
                self._silent(node, error, refusals)
                if _refused(error):
                    continue
                logger.warning("%s: %s took it or not: it doesn't say; followed", job, node.url)
            return self._attempt(node, job.store, job.kind, token)
        raise NotLaunched(f"{job}: no Scrapyd node took it: {'; '.join(refusals)}")

    def adopt(self, run: JobRun) -> RemoteAttempt | None:
        """Return a dead worker's attempt on a node, to be stopped there; None for a node that isn't listed any more."""
        node = next((each for each in self._nodes if each.url == run.node), None)
        return self._attempt(node, run.store, run.kind, run.token) if node else None

    def _attempt(self, node: Node, store: str, kind: str, token: str) -> RemoteAttempt:
        def noted() -> int | None:
            run = retrying(self._database, lambda conn: job_runs.of_token(conn, token), writes=False)
            return run.exit_code if run else None

        def works() -> bool:
            return retrying(self._database, lambda conn: leases.is_held(conn, store, is_alive), writes=False)

        log = f"{node.url}/logs/{quote(self._project)}/{KINDS[kind].spider}/{token}.log"
        return RemoteAttempt(node, self._project, token, log, noted, works, self._patience_s, self._clock)

    def _by_load(self, refusals: list[str]) -> list[Node]:
        loads: list[tuple[int, int]] = []
        for place, node in enumerate(self._nodes):
            if (silent := self._silent_until.get(node.url)) and self._clock() < silent[0]:
                refusals.append(silent[1])
                continue
            try:
                said = node.call("daemonstatus.json")
                loads.append((int(said["running"]) + int(said["pending"]), place))
            except (*_NO_ANSWER, KeyError) as error:
                self._silent(node, error, refusals)
        return [self._nodes[place] for _, place in sorted(loads)]

    def _silent(self, node: Node, error: BaseException, refusals: list[str]) -> None:
        """Note what a node said, and leave it out for a while: waiting for a dead one holds up the others' jobs."""
        refusals.append(f"{node.url}: {_said(error)}")
        self._silent_until[node.url] = (self._clock() + self._patience_s, refusals[-1])


class RemoteAttempt:
    """One crawl on a node."""

    holder = ""

    def __init__(
        self,
        node: Node,
        project: str,
        token: str,
        log: str,
        noted: Callable[[], int | None],
        works: Callable[[], bool],
        patience_s: float,
        clock: Callable[[], float],
    ) -> None:
        self._node, self._project, self._token = node, project, token
        self.node, self.log = node.url, log
        self._noted, self._works, self._patience_s, self._clock = noted, works, patience_s, clock
        self._asked = -1e9
        self._heard = clock()

    def ended(self) -> Ended | None:
        """See `Attempt`: by the node, and where that is silent or has forgotten the job, by the database."""
        if self._clock() - self._asked < ASK_EVERY_S:
            return None
        self._asked = self._clock()
        state = self._state()
        if state in ("pending", "running"):
            self._heard = self._clock()
            return None
        if (code := self._noted()) is not None:
            return Ended(code)
        if state == "finished":
            return Ended(None, f"it ended on {self.node} without saying how: see {self.log}")
        if self._works():  # the node forgot it, or can't be reached; the crawl itself goes on
            self._heard = self._clock()
            return None
        if self._clock() - self._heard < self._patience_s:
            return None
        return Ended(None, f"{self.node} {'does not know it any more' if state else 'does not answer'}")

    def stop(self) -> None:
        """See `Attempt`: the crawl gets a signal and ends gracefully."""
        self._cancel("INT")

    def kill(self) -> None:
        """See `Attempt`."""
        self._cancel("KILL")

    def _state(self) -> str:
        """Return ``pending``, ``running``, ``finished``, ``unknown`` to the node, or "" where it's silent."""
        try:
            said = self._node.call(f"status.json?{urlencode({'job': self._token, 'project': self._project})}")
        except _NO_ANSWER as error:
            logger.warning("%s: %s", self.node, _said(error))
            return ""
        return str(said.get("currstate") or "unknown")

    def _cancel(self, signal: str) -> None:
        try:
            self._node.call("cancel.json", project=self._project, job=self._token, signal=signal)
        except _NO_ANSWER as error:
            logger.warning("%s: the job can't be stopped there: %s", self.node, _said(error))


def _refused(error: BaseException) -> bool:
    """Whether the node certainly didn't take the job: what was cut off, or took too long, it may have taken."""
    if isinstance(error, HTTPError | ValueError):
        return True
    return isinstance(error, URLError) and isinstance(error.reason, ConnectionRefusedError | gaierror)


def _said(error: BaseException) -> str:
    if isinstance(error, HTTPError):
        hint = "; give user and password in STOREBOT_SCRAPYD_URLS" if error.code == 401 else ""
        return f"HTTP {error.code}{hint}"
    return str(error.reason if isinstance(error, URLError) else error) or type(error).__name__
