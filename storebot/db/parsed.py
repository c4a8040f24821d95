"""Visits whose page was read: accepted at once, or put apart for the write gate."""

from __future__ import annotations

from dataclasses import replace

from storebot.core.gate_facts import Facts, Kind
from storebot.db import gating
from storebot.db.accepting import accept
from storebot.db.batch import Batch
from storebot.db.compare import Compared, Known
from storebot.db.known_pages import is_rebased, is_unchanged
from storebot.db.redirects import follow, would_retire
from storebot.db.work import Work, put_apart
from storebot.items import Outcome, Visit


def save_parsed(work: Work, page: Known, visit: Visit) -> tuple[Outcome, str, Compared]:
    """Save a page that was read; ``held`` is the outcome of one that the gate has yet to decide on."""
    if not visit.listings and (page.content_hash is None or not is_unchanged(work.run, page, visit)):
        raise ValueError(f"{visit.target.url_key}: a visit without an outcome needs listings")
    if work.run.gate is not None and would_retire(work, page, visit):
        found = (Outcome.MOVED, "", Compared())
        return put_apart(work, replace(work, rows=Batch()), page, visit, found, Facts(Kind.MOVED), {})
    if moved := follow(work, page, visit):
        return Outcome.MOVED, moved, Compared()
    if not _is_gated(work, page, visit):
        return accept(work, page, visit)
    apart = replace(work, rows=Batch())
    outcome, reason, compared = accept(apart, page, visit)
    rebased = page.content_hash is not None and is_rebased(work.run, page, visit)
    if outcome is Outcome.UNCHANGED and not rebased:  # what differs is no change of the market
        work.rows.take(apart.rows)
        return outcome, reason, compared
    active = gating.active_of(work.before.get(page.id, {}))
    facts = (
        Facts(Kind.NEW, record=visit.content_hash)
        if outcome is Outcome.NEW
        else gating.facts_of_visit(visit, apart.rows, active, rebased=rebased)
    )
    return put_apart(work, apart, page, visit, (outcome, reason, compared), facts, active)


def _is_gated(work: Work, page: Known, visit: Visit) -> bool:
    """Whether a page that was read passes the gate: a known one that differs, a new one that shows what others do."""
    gate = work.run.gate
    if gate is None:
        return False
    if page.content_hash is not None:
        return not is_unchanged(work.run, page, visit)
    work.new_records[visit.content_hash] += 1
    return gate.is_repeated(visit.content_hash, work.new_records[visit.content_hash])
