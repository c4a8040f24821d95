"""How a session is closed: what the run leaves behind is settled, its row is written, and the lease released."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence

from sqlalchemy import Connection

from storebot.core.delist import is_trusted
from storebot.core.expect import MEASURED, missed
from storebot.core.proxy_pool import Rest
from storebot.core.rung import Rung
from storebot.db import (
    breakers,
    canonicals,
    delisting,
    expectations,
    holds,
    leases,
    listings,
    pages,
    proxies,
    retention,
    rounds,
    runs,
    tiers,
    walks,
)
from storebot.db.database import now_ms
from storebot.db.gating import gate_note
from storebot.db.judgement import Finding, Standing
from storebot.db.session_state import SessionState
from storebot.items import Outcome, Round, RunStatus

logger = logging.getLogger(__name__)

_FORGOTTEN = 100_000  # visits at the end of one run, at most: some seconds
_ENDED_BY_ITSELF = (RunStatus.COMPLETE, RunStatus.PARTIAL, RunStatus.HELD)


def settle(conn: Connection, session: SessionState, rungs: Sequence[Rung], rests: Sequence[Rest] | None) -> None:
    """Save what the run has learned, fold pages into their true addresses, and delist what is gone.

    Raises `LeaseLost`.
    """
    leases.check(conn, session.options.store, session.token)
    save_tiers(conn, session, rungs, rests)
    canonicals.settle(conn, session.options.store, now_ms(conn))
    with session.learner.attempt(conn):
        session.learner.learn_means(conn, now_ms(conn))
        session.learner.save(conn, now=True)
    outcomes = runs.tally(conn, session.run_id)
    if outcomes.get(Outcome.MISSING) and is_trusted(outcomes) and not holds.held_by(conn, session.run_id):
        session.delisted = delisting.confirm(
            conn, session.options.store, session.run_id, session.options.delist, now_ms(conn)
        )


def save_tiers(conn: Connection, session: SessionState, rungs: Sequence[Rung], rests: Sequence[Rest] | None) -> None:
    """Save what the run has learned of the tiers, and of its proxies where it has some."""
    tiers.save(conn, session.options.store, rungs)
    if rests is not None:
        proxies.save(conn, session.options.store, rests)


def end(conn: Connection, session: SessionState, judge: Callable[[Standing], Finding]) -> None:
    """Give back what was claimed, write the run's row as ``judge`` finds, end its rounds, and release the lease."""
    store, kind = session.options.store, session.options.kind
    pages.release(conn, store, token=session.token)
    totals = runs.totals(conn, session.run_id)
    outcomes = totals.outcomes
    held = holds.held_by(conn, session.run_id)
    known = sum(pages.counts(conn, store).values())
    sold = listings.count(conn, store)
    way = "planned" if session.is_planned else kind
    expect = session.options.expect
    measured = expectations.measure(
        conn, store, now_ms=now_ms(conn), started_ms=session.started_ms, max_age_ms=expect.max_age_ms
    )
    misses = missed(expect, measured, expectations.past(conn, store, kind, session.run_id) if expect.learned else ())
    finding = judge(
        Standing(
            listings_known=sold,
            outcomes=outcomes,
            pages_known=known,
            pages_read=pages.read_count(conn, store),
            pages_left=pages.left(conn, store, way, session.started_ms, session.started_ms - session.spared_ms),
            pages_waiting=pages.waiting(conn, store, session.started_ms, session.options.error_backoff_ms),
            rows_written=totals.rows_written,
            change_events=totals.change_events + session.delisted,
            held=sum(count for _, _, count in held),
            held_why=held[0][1] if held else "",
            missed=misses,
            used=tiers.used(conn, [session.run_id]).get(session.run_id, tiers.Used()),
        )
    )
    runs.finish(
        conn,
        session.run_id,
        finding.status,
        finding.reason,
        outcomes=outcomes,
        requests=finding.requests,
        size_bytes=finding.size_bytes,
        rows_written=finding.rows_written,
        rows_skipped=finding.rows_skipped,
        change_events=finding.change_events,
        pages_known=known,
        listings_known=sold,
        measured=measured if finding.status in MEASURED else None,
        missed=misses if finding.status in MEASURED else (),
        gate=gate_note(session.context.gate) if session.context.gate is not None else None,
    )
    _end_rounds(conn, session, finding.rounds)
    calm = finding.status in _ENDED_BY_ITSELF and any(outcomes.get(outcome) for outcome in Outcome if outcome.seen)
    breakers.record_end(conn, store, session.token, session.pace, calm=calm)
    if kind == "backfill" and finding.status is RunStatus.COMPLETE:
        walks.close_walks(conn, store)
    leases.release(conn, store, session.token)


def _end_rounds(conn: Connection, session: SessionState, judged: Mapping[Round, str]) -> None:
    """End the rounds that the run began, and find the pages that aren't named any more."""
    gate = session.context.gate
    if gate is None or not rounds.end(conn, judged):
        return
    store, share = session.options.store, gate.limits.missing
    unnamed = rounds.miss(conn, store, session.options.delist.confirmations, share)
    if unnamed.found:
        tail = "their own addresses are asked" if unnamed.believed else "too many to believe it: they are only asked"
        logger.warning("%s: %d pages are named by nothing any more; %s", store, unnamed.found, tail)


def forget(session: SessionState) -> None:
    """Let go of visits that are older than they have to be kept."""
    if keep_ms := session.options.keep_visits_ms:
        gone = retention.forget(session.database, session.options.store, session.now_ms() - keep_ms, most=_FORGOTTEN)
        logger.log(
            logging.INFO if gone else logging.DEBUG, "%s: %d old visits were forgotten", session.options.store, gone
        )
