"""One crawl on a Scrapyd node, followed to its end.

A node doesn't tell exit codes, and forgets its jobs when it's restarted: how a crawl ended is what the crawl itself
noted in the database, and whether one still runs is told by the store's lease.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from urllib.parse import urlencode

from storebot.jobs.launching import Ended
from storebot.jobs.nodes import NO_ANSWER, Node, said

logger = logging.getLogger(__name__)

ASK_EVERY_S = 2.0


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
            found = self._node.call(f"status.json?{urlencode({'job': self._token, 'project': self._project})}")
        except NO_ANSWER as error:
            logger.warning("%s: %s", self.node, said(error))
            return ""
        return str(found.get("currstate") or "unknown")

    def _cancel(self, signal: str) -> None:
        try:
            self._node.call("cancel.json", project=self._project, job=self._token, signal=signal)
        except NO_ANSWER as error:
            logger.warning("%s: the job can't be stopped there: %s", self.node, said(error))
