"""How a run ended: the finding for its row, and the summary for the last line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from storebot.core.ending import Ending, judge
from storebot.core.expect import MEASURED
from storebot.core.rounds import Rounds
from storebot.core.summary import Summary
from storebot.db.session import Finding, Standing
from storebot.exceptions import ExitCode, StorebotError
from storebot.items import RunStatus
from storebot.purse import Purse
from storebot.run.tally import Tally
from storebot.stores.model import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """How the run went: what it is judged by apart from the rows."""

    kind: str
    store: Store
    run_id: int  # 0: it was not opened
    finish_reason: str  # Scrapy's
    is_shut: bool  # by the store's circuit breaker
    tally: Tally
    notes: Sequence[str]
    rounds: Rounds
    purse: Purse
    budget: str  # which limit is reached, "" for none
    signal: int  # 0: none
    error: StorebotError | None  # why it could not go on
    elapsed_s: float


def found(course: Course, standing: Standing) -> tuple[Finding, Summary]:
    """Judge a run by its course and by how things stand."""
    tally, error = course.tally, course.error
    status, reason, code = judge(
        Ending(
            finish_reason="blocked" if course.is_shut else course.finish_reason,
            forbidden=tally.forbidden,
            moved_off=tally.moved_off,
            outcomes=standing.outcomes,
            incomplete_walks=tally.incomplete_walks,
            notes=course.notes,
            walks_blocked=tally.walks_blocked,
            pages_known=standing.pages_known,
            pages_read=standing.pages_read,
            pages_left=standing.pages_left,
            pages_waiting=standing.pages_waiting,
            listings_known=standing.listings_known,
            min_listings=course.store.expect.min_listings if course.kind == "backfill" else None,
            held=standing.held,
            held_why=standing.held_why,
            missed=standing.missed,
            internal_errors=tally.internal_errors,
            budget=course.budget,
            signal=course.signal,
            failure=str(error) if error else "",
            failure_code=error.exit_code if error else None,
        )
    )
    summary = _summary(course, status, reason, code, standing)
    finding = Finding(
        status=status,
        reason=reason,
        requests=summary.requests,
        size_bytes=summary.size_bytes,
        rows_written=standing.rows_written,
        rows_skipped=summary.skipped,
        change_events=standing.change_events,
        rounds=course.rounds.judged(finished=course.finish_reason == "finished" and not course.signal),
    )
    return finding, summary


def _summary(course: Course, status: RunStatus, reason: str, code: ExitCode, standing: Standing) -> Summary:
    total = course.purse.total
    return Summary(
        kind=course.kind,
        store=course.store.name,
        run_id=course.run_id,
        status=status,
        reason=reason,
        exit_code=code,
        outcomes=standing.outcomes,
        rows_written=standing.rows_written,
        change_events=standing.change_events,
        requests=total.requests,
        size_bytes=total.size_bytes,
        elapsed_s=course.elapsed_s,
        cost_micro=total.cost_micro,
        currency=course.purse.currency,
        tiers=standing.used.tiers,
        escalations=standing.used.escalations,
        missed=standing.missed if status in MEASURED else (),
    )
