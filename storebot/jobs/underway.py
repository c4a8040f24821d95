"""What a worker has under way, and the words for how it ended."""

from __future__ import annotations

from dataclasses import dataclass, field

from storebot.core.jobs import Verdict
from storebot.db.jobs import Job
from storebot.jobs.launching import Attempt, Ended


@dataclass(slots=True)
class Underway:
    """A job that this worker runs or follows, or a dead worker's that it stops."""

    job: Job
    attempt: Attempt
    started: float  # by the monotonic clock
    ours: bool = True
    why: str = ""  # why it was asked to stop: shutdown | cancel | time | lost | orphan
    kill_at: float = 0.0


@dataclass(slots=True)
class Tally:
    """How this worker's own attempts ended, by verdict, and how often no place was found for a job."""

    verdicts: dict[Verdict, int] = field(default_factory=dict)
    not_launched: int = 0

    def add(self, verdict: Verdict) -> None:
        self.verdicts[verdict] = self.verdicts.get(verdict, 0) + 1


def reason_of(ended: Ended, noted: str, why: str, job: Job) -> str:
    """Say in a sentence why an attempt didn't end well: in its own words if it had any."""
    said = {
        "time": f"stopped after its time limit of {job.time_limit_s} s",
        "cancel": "cancelled by a person",
        "shutdown": "its worker was stopped",
        "orphan": "its worker died",
        "lost": "its claim was lost",
    }.get(why, "")
    own = noted or ended.reason
    if not said and ended.exit_code is not None and ended.exit_code < 0:
        said = f"killed by signal {-ended.exit_code}; is there memory enough?"
    return "; ".join(part for part in (said, own) if part)
