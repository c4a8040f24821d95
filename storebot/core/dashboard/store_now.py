"""What is known of one store, and what may be said of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from storebot.core.alerts.finding import Finding, Kind
from storebot.core.breaker import Breaker
from storebot.core.dashboard.blame import Fault, Past
from storebot.items import RunStatus


class Stand(StrEnum):
    """What a store is, the worst first: that's the order of the page."""

    FAILED = "failed"
    BROKEN = "store file broken"
    STALE = "stale"
    BLOCKED = "blocked"
    HELD = "held"
    BUDGET = "budget used up"
    PARTIAL = "partial"
    PAUSED = "paused"
    NEVER = "never run"
    GONE = "store file gone"
    RUNNING = "running"
    FINE = "fine"

    @property
    def light(self) -> str:
        """Return good, warn, bad or idle."""
        return _LIGHTS[self]


_LIGHTS = {
    **dict.fromkeys((Stand.FAILED, Stand.BROKEN, Stand.STALE, Stand.BLOCKED), "bad"),
    **dict.fromkeys((Stand.HELD, Stand.BUDGET, Stand.PARTIAL), "warn"),
    **dict.fromkeys((Stand.PAUSED, Stand.NEVER, Stand.GONE), "idle"),
    **dict.fromkeys((Stand.RUNNING, Stand.FINE), "good"),
}
RANK = {stand: place for place, stand in enumerate(Stand)}


class Planned(NamedTuple):
    """A job of the store that may run. ``next_at`` is None where it won't by itself."""

    id: int
    kind: str
    status: str  # of core.jobs.JobStatus
    next_at: int | None
    every_ms: int  # of its schedule; 0: it has another one, or none
    is_crawl: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreNow:
    """What is known of one store. Times are milliseconds."""

    name: str
    file_error: str = ""  # why its file can't be read
    file_gone: bool = False
    runs: Sequence[Past] = ()  # the newest first
    good: Past | None = None  # the newest that ended by itself and saw the shop, however long ago
    running: int = 0  # the run that has the store now; 0: none
    breaker: Breaker = field(default_factory=Breaker)
    held: int = 0
    held_since: int = 0
    jobs: Sequence[Planned] = ()
    interval_ms: int = 0  # between two refreshes; 0: not known
    budget: str = ""  # which limit of the month is used up
    findings: Sequence[Finding] = ()  # of core.alerts.conditions, about this store

    def found(self, *kinds: Kind) -> Finding | None:
        """Return the first finding of one of these kinds."""
        return next((one for one in self.findings if one.kind in kinds), None)

    @property
    def last(self) -> Past | None:
        """The newest run that has ended."""
        return next((run for run in self.runs if run.status is not RunStatus.RUNNING), None)

    @property
    def crawls(self) -> list[Planned]:
        """The jobs that look at the shop."""
        return [job for job in self.jobs if job.is_crawl]

    @property
    def next_job(self) -> Planned | None:
        """The crawl that is due first."""
        due = [job for job in self.crawls if job.next_at is not None and job.status in ("pending", "failed")]
        return min(due, key=lambda job: job.next_at or 0, default=None)


class Does(StrEnum):
    """What an action is."""

    NOTHING = "nothing"  # it's wrong to do anything
    LOOK = "look"  # at a page, to decide there
    FIX = "fix"  # something outside of the dashboard; ``text`` says what
    RUN = "run"
    RESUME = "resume"


class Action(NamedTuple):
    """The one safe thing to do. ``about`` is the page to look at: holds, run, blocks, health, store, jobs."""

    does: Does
    text: str
    about: str = ""
    run_id: int = 0
    kind: str = ""  # of a run that is to begin: backfill or refresh


class Standing(NamedTuple):
    """What is said of a store."""

    stand: Stand
    cause: str
    fault: Fault
    action: Action
