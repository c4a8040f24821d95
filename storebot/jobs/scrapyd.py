"""Jobs on Scrapyd nodes: started on one that has this code, and started elsewhere when a node dies."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple
from urllib.parse import quote

from storebot.core.job_kinds import KINDS
from storebot.db import job_runs, leases
from storebot.db.database import Database
from storebot.db.holders import is_alive
from storebot.db.job_runs import JobRun
from storebot.db.jobs import Job
from storebot.db.retry import retrying
from storebot.exceptions import NotLaunched
from storebot.jobs.nodes import NO_ANSWER, Node, refused, said
from storebot.jobs.own_code import own_code
from storebot.jobs.remote import RemoteAttempt

logger = logging.getLogger(__name__)

SCHEDULE_TIMEOUT_S = 20.0  # the first job of a version has the node list its spiders, while it answers nobody
PATIENCE_S = 60.0  # how long a node may be silent, and for how long one that was isn't asked for new jobs


class _Ready(NamedTuple):
    """A node that may have a crawl: how many it has, its place in the list, and its version of this code."""

    load: int
    place: int
    version: str


class ScrapydNodes:
    """Starts crawls on the node that has the fewest, of those to which this code is deployed."""

    def __init__(
        self,
        nodes: Sequence[Node],
        project: str,
        database: Database,
        *,
        patience_s: float,
        settings: Sequence[str] = (),
        clock: Callable[[], float] = time.monotonic,
        code: Callable[[], str] = own_code,
    ) -> None:
        self._nodes, self._project, self._database = list(nodes), project, database
        self._patience_s, self._settings, self._clock = min(patience_s, PATIENCE_S), list(settings), clock
        self._code = code
        self._out_until: dict[str, tuple[float, str]] = {}

    def start(self, job: Job, token: str) -> RemoteAttempt:
        """Schedule a crawl, its token being the node's job id. Raises `NotLaunched` where no node takes it."""
        code = self._code()
        fields: dict[str, str | list[str]] = {
            "project": self._project,
            "spider": KINDS[job.kind].spider,
            "jobid": token,
            "setting": [f"STOREBOT_JOB={token}", f"STOREBOT_JOB_CODE={code}", *self._settings],
            "store": job.store,
            **job.args,
        }
        refusals: list[str] = []
        for ready in sorted(self._ready(code, refusals)):
            node = self._nodes[ready.place]
            try:
                node.call("schedule.json", SCHEDULE_TIMEOUT_S, **fields, _version=ready.version)
            except NO_ANSWER as error:
                self._leave_out(node, error, refusals)
                if refused(error):
                    continue
                logger.warning("%s: %s took it or not: it doesn't say; followed", job, node.url)
            return self._attempt(node, job.store, job.kind, token)
        raise NotLaunched(f"{job}: no Scrapyd node took it: {'; '.join(refusals)}")

    def adopt(self, run: JobRun) -> RemoteAttempt:
        """Return another worker's attempt on a node. One that isn't listed any more is asked without a password."""
        node = next((each for each in self._nodes if each.url == run.node), Node(run.node))
        return self._attempt(node, run.store, run.kind, run.token)

    def _attempt(self, node: Node, store: str, kind: str, token: str) -> RemoteAttempt:
        def noted() -> int | None:
            run = retrying(self._database, lambda conn: job_runs.of_token(conn, token), writes=False)
            return run.exit_code if run else None

        def works() -> bool:
            return retrying(self._database, lambda conn: leases.is_held(conn, store, is_alive), writes=False)

        log = f"{node.url}/logs/{quote(self._project)}/{KINDS[kind].spider}/{token}.log"
        return RemoteAttempt(node, self._project, token, log, noted, works, self._patience_s, self._clock)

    def _ready(self, code: str, refusals: list[str]) -> Iterator[_Ready]:
        for place, node in enumerate(self._nodes):
            if (out := self._out_until.get(node.url)) and self._clock() < out[0]:
                refusals.append(out[1])
                continue
            try:
                yield _Ready(node.load(), place, node.version(self._project, code))
            except NO_ANSWER as error:
                self._leave_out(node, error, refusals)

    def _leave_out(self, node: Node, error: BaseException, refusals: list[str]) -> None:
        """Note what a node said, and leave it out for a while: waiting for a dead one holds up the others' jobs."""
        refusals.append(f"{node.url}: {said(error)}")
        logger.warning("%s; it gets no jobs for %d s", refusals[-1], self._patience_s)
        self._out_until[node.url] = (self._clock() + self._patience_s, refusals[-1])
