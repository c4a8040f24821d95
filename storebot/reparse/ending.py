"""How a re-parse ended: status, sentence and exit code, by what it found and what the write gate says of it."""

from __future__ import annotations

import signal
from dataclasses import dataclass

from storebot.core.gate import State, Verdict
from storebot.exceptions import ExitCode
from storebot.items import Outcome, RunStatus
from storebot.reparse.differences import Differences, sentence

NOT_KEPT = "the page that the record was read from isn't in the archive: the next refresh reads it anew"


@dataclass(frozen=True, slots=True, kw_only=True)
class End:
    """What is known when it ends."""

    store: str
    pages: int  # that it was to read
    found: Differences
    since_ms: int = 0
    signal: int = 0  # SIGINT or SIGTERM that ended it
    saving: bool = False  # whether it had begun to write by then
    verdict: Verdict | None = None  # of the write gate; None: it was never asked
    accepted: str = ""  # "who: why", where somebody answers for what the gate would hold


def judged(end: End) -> tuple[RunStatus, str, ExitCode]:
    """Return status, reason and exit code. The worst fact wins."""
    if end.signal:
        code = ExitCode.SIGTERM if end.signal == signal.SIGTERM else ExitCode.SIGINT
        rest = "the next run goes on" if end.saving else "nothing was written yet"
        return RunStatus.INTERRUPTED, f"stopped by a signal; {rest}", code
    if not end.pages:
        first = f": scrapy crawl backfill -a store={end.store}"
        when = " that was fetched since then" if end.since_ms else first
        return RunStatus.FAILED, f"there is no record that was read from a page{when}", ExitCode.PARTIAL
    tripped = end.verdict is not None and end.verdict.state is State.TRIP
    why = end.verdict.sentence if end.verdict is not None else ""
    doubts = _doubts(end.found)
    if tripped and not end.accepted:
        return RunStatus.HELD, "; ".join(filter(None, [f"nothing was written: {why}", doubts])), ExitCode.HELD
    notes = f"{why}; accepted by {end.accepted}" if tripped else ""
    reason = "; ".join(filter(None, [doubts, notes]))
    return (RunStatus.PARTIAL, reason, ExitCode.PARTIAL) if doubts else (RunStatus.COMPLETE, reason, ExitCode.COMPLETE)


def _doubts(found: Differences) -> str:
    outcomes = found.outcomes
    unread = sentence([(found.reasons[NOT_KEPT], f"of which {NOT_KEPT}")])
    failed = sentence([(outcomes[one], one.value) for one in (Outcome.INVALID, Outcome.ERROR)])
    return "; ".join(filter(None, [failed, unread]))
