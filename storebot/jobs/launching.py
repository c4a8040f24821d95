"""What the worker needs of a place where jobs run: this machine, or Scrapyd nodes."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from storebot.db.job_runs import JobRun
from storebot.db.jobs import Job


class Ended(NamedTuple):
    """How a job's process ended; None as exit code: it was killed, or lost with its node."""

    exit_code: int | None
    reason: str = ""


class Attempt(Protocol):
    """One job under way."""

    @property
    def holder(self) -> str:
        """Its process, where it's one of this machine; else ""."""

    @property
    def node(self) -> str:
        """The address of the node that runs it, without a password; "" on this machine."""

    @property
    def log(self) -> str:
        """Where its log is."""

    def ended(self) -> Ended | None:
        """Return how it ended; None while it runs. Never waits long."""

    def stop(self) -> None:
        """Ask it to end: it saves what it has. Harmless when it has ended."""

    def kill(self) -> None:
        """End it, and all that it started."""


class Launcher(Protocol):
    """Where jobs run."""

    def start(self, job: Job, token: str) -> Attempt:
        """Start a job, which notes its end under ``token``. Raises `NotLaunched`."""

    def adopt(self, run: JobRun) -> Attempt | None:
        """Return an attempt of a worker that ended, to be followed or stopped; None where nothing of it can run."""
