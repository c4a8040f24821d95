"""How a session is opened: the lease, the run's row, and what is loaded of the store before the first request."""

from __future__ import annotations

import time
from dataclasses import replace

from sqlalchemy import Connection

from storebot.core.breaker import State
from storebot.core.month import Month
from storebot.core.planner import value
from storebot.core.soft404 import known_strays
from storebot.db import (
    breakers,
    following,
    knowledge,
    leases,
    pages,
    planned_runs,
    promotion,
    proxies,
    robots,
    runs,
    spending,
    tiers,
    values,
)
from storebot.db.context import RunContext
from storebot.db.database import now_ms
from storebot.db.holders import is_alive, this_process
from storebot.db.learning import Learner
from storebot.db.session_state import SessionState


def begin(conn: Connection, session: SessionState) -> None:
    """Take the lease, close what dead runs left open, start a run, and load what earlier ones learned.

    Raises `StoreBusy`, `BreakerOpen`, and `PromiseRefused` where the budget can't keep the store's promise.
    """
    options = session.options
    leases.take(conn, options.store, session.token, this_process(), options.lease_s, is_alive)
    session.breaker, forced = breakers.ask(conn, options.store, options.kind, options.force)
    session.overrides = (*options.overrides, *forced)
    session.probes = session.breaker.state is State.HALF_OPEN
    runs.mark_interrupted(conn, options.store)
    pages.release(conn, options.store, keep_token=session.token)
    session.latency_ms = runs.last_latency_ms(conn, options.store)
    session.run_id = runs.start(
        conn,
        options.store,
        options.kind,
        parser_version=options.parser_version,
        hash_version=options.hash_version,
        overrides=session.overrides,
    )
    leases.note_run(conn, options.store, session.token, session.run_id)
    session.started_ms = now_ms(conn)
    session.origin = runs.first_started(conn, options.store)
    session.ahead_ms = session.started_ms - int(time.time() * 1000)
    session.pages_read = pages.read_count(conn, options.store)
    session.strays = known_strays(pages.strays(conn, options.store), session.pages_read)
    session.pace = breakers.pace(conn, options.store, session.started_ms)
    session.robots = robots.texts(conn, options.store)
    session.rungs = tiers.load(conn, options.store)
    session.rests = proxies.load(conn, options.store)
    month = Month.at(session.started_ms).days
    session.spent_in_month = spending.spent_on(conn, options.store, month, options.currency)
    if options.kind == "refresh":
        session.terms = planned_runs.terms_of(conn, options.store, options.orders, session.started_ms, options.heads)
        if session.terms is None:
            following.take_back(conn, options.store, session.run_id, options.revisit_after_ms)
        session.due = pages.due_count(conn, options.store, session.started_ms)
    memory = knowledge.load(conn, options.store, session.started_ms)
    learner = Learner(options.store, memory, planned=session.terms is not None, rules=options.orders.rules)
    run = _context(session, learner)
    gate = promotion.open_gate(conn, run, options.gate, session.started_ms)
    session.get_ready(learner, replace(run, gate=gate))


def _context(session: SessionState, learner: Learner) -> RunContext:
    options = session.options
    return RunContext(
        run_id=session.run_id,
        store=options.store,
        lease_token=session.token,
        kind=options.kind,
        announce_new=options.kind != "backfill",
        revisit_after_ms=options.revisit_after_ms,
        error_backoff_ms=options.error_backoff_ms,
        parser_version=options.parser_version,
        hash_version=options.hash_version,
        learner=learner,
    )


def value_anew(session: SessionState) -> None:
    """Give the pages their value by the store file's rules where these are other ones than before."""
    rules, memory = session.options.orders.rules, session.learner.memory
    if memory.values_by != (digest := value.digest(rules)):
        values.value_anew(session.database, session.options.store, rules)
        memory.values_by = digest
