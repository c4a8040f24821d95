"""Held visits that are published after all, as if they had been made now."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlalchemy import Connection

from storebot.core.gate_facts import Kind
from storebot.db import leases, listings
from storebot.db.accepting import accept
from storebot.db.batch import Batch
from storebot.db.context import RunContext
from storebot.db.held_visit import unpacked
from storebot.db.known_pages import lock
from storebot.db.redirects import follow
from storebot.db.saved import Saved
from storebot.db.types import AnyRow
from storebot.db.unparsed import save_unparsed
from storebot.db.work import Work, write
from storebot.items import Outcome


def publish(conn: Connection, run: RunContext, held: Sequence[AnyRow]) -> list[Saved]:
    """Publish rows of holds in the caller's transaction, and return what became of each, in their order.

    It has the record, the history and the events that the visit would have had. One is ``skipped``, with the reason and
    with nothing written, if the page was read again or claimed meanwhile. Raises `LeaseLost`.
    """
    with run.learning(conn):
        return _publish(conn, run, held)


def _publish(conn: Connection, run: RunContext, held: Sequence[AnyRow]) -> list[Saved]:
    leases.check(conn, run.store, run.lease_token)
    page_ids = sorted({row.page_id for row in held})
    known = lock(conn, run.store, page_ids)
    work = Work(conn, run, known, listings.by_page(conn, page_ids), Batch())
    saved = [_published(work, row) for row in held]
    write(work)
    return saved


def _published(work: Work, row: AnyRow) -> Saved:
    page = work.known.get(row.page_id)
    if page is None or (page.content_hash or "") != row.before_hash:
        return Saved(None, Outcome.SKIPPED, reason="the page's record is another by now")
    if page.claim_token:
        return Saved(None, Outcome.SKIPPED, reason="the page is being read right now")
    try:
        visit, run = unpacked(row.visit)
    except ValueError as error:
        return Saved(None, Outcome.SKIPPED, reason=str(error))
    own = replace(work, run=replace(run, learner=work.run.learner))
    if row.kind == Kind.MOVED and (moved := follow(own, page, visit)):
        return Saved(None, Outcome.MOVED, reason=moved, instead_of=Outcome.HELD)
    found = accept(own, page, visit) if visit.outcome is None else save_unparsed(own, page, visit)
    outcome, reason, compared = found
    return Saved(None, outcome, compared.rows_written, compared.changes, reason, instead_of=Outcome.HELD)
