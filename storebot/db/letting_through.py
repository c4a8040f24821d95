"""The write gate at the end of a batch: what was put apart is released, or held."""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy import insert

from storebot.core.gate_facts import Facts, Kind
from storebot.core.planner.hazard import Flag
from storebot.db import gating, holds, listings
from storebot.db.batch import renamed
from storebot.db.compare import Compared
from storebot.db.gating import Decided, Gate, Gated
from storebot.db.held_visit import packed
from storebot.db.ledger import enter, ledger_row, note_blocks
from storebot.db.redirects import follow
from storebot.db.saved import Saved, observed, settles
from storebot.db.schema import visits as ledger
from storebot.db.types import AnyRow
from storebot.db.work import Work
from storebot.items import CARD, Outcome, PageStatus, Visit


def let_through(work: Work, gate: Gate) -> None:
    """Publish of the batch's changes what the gate lets through, hold the rest, and close what was seen anew."""
    conn, before = work.conn, {}
    if gate.open_pages:
        touched = {visit.target.page_id for one in work.saved if isinstance(visit := one.record, Visit)}
        before = holds.open_of(conn, touched & gate.open_pages)
    replaced = _replaced(work, gate, before) if before else {}
    if work.gated:
        run = work.run
        decided = gating.decide(
            conn,
            gate,
            work.gated,
            observed(work.saved),
            before,
            replaced=replaced.values(),
            run_id=run.run_id,
            looks_again=run.kind == "refresh",
        )
        for one in decided:
            place = one.gated.place
            work.saved[place] = _release(work, one.gated) if one.wait is None else _hold(work, one, before)
    for place, saved in enumerate(work.saved if replaced else ()):
        if isinstance(saved.record, Visit) and (facts := replaced.get(saved.record.target.page_id)):
            work.saved[place] = saved._replace(replaced=facts)
    anew = [visit for one in work.saved if before and isinstance(visit := one.record, Visit) and settles(one)]
    if closed := {visit.target.page_id for visit in anew} & before.keys():
        holds.supersede(conn, closed, anew[-1].at_ms, f"run {work.run.run_id} saw the page anew")


def _replaced(work: Work, gate: Gate, before: Mapping[int, AnyRow]) -> dict[int, Facts]:
    """Return the facts of earlier looks that the run has counted, of pages of which this batch says something new."""
    seen = {one.record.target.page_id for one in work.saved if isinstance(one.record, Visit) and settles(one)}
    seen.update(one.page.id for one in work.gated)
    return gate.replaced({page_id: row for page_id, row in before.items() if page_id in seen})


def _release(work: Work, gated: Gated) -> Saved:
    visit, compared, reason = gated.visit, gated.compared, gated.reason
    if gated.facts.kind is Kind.MOVED:
        reason = follow(work, gated.page, visit)
    work.rows.take(gated.rows)
    enter(work, visit, gated.outcome, reason, compared)
    return Saved(visit, gated.outcome, compared.rows_written, compared.changes, reason, facts=gated.facts)


def _hold(work: Work, decided: Decided, before: Mapping[int, AnyRow]) -> Saved:
    """Keep a visit whole, in the transaction of its row in the ledger; its page stays as it is, and is read again."""
    gated, run, conn = decided.gated, work.run, work.conn
    visit, page = gated.visit, gated.page
    if gated.facts.kind in (Kind.MISSING, Kind.MOVED):
        gated.active = gating.active_of(listings.by_page(conn, [page.id]).get(page.id, {}))
    row = ledger_row(work, visit, Outcome.HELD, decided.reason, Compared())
    (visit_id,) = conn.execute(insert(ledger).values(row)).inserted_primary_key or (0,)
    note_blocks(work, visit)
    known = page.content_hash is not None
    wait_ms = min(run.revisit_after_ms, run.error_backoff_ms) if known else run.error_backoff_ms
    values = {
        "status": (PageStatus.PARSED if known else PageStatus.ERROR).value,
        "next_due_at": 0 if decided.again else visit.at_ms + wait_ms,
        "last_error": "what was seen is not published: see `scrapy holds`",
    }
    work.rows.add("page_held", {"of_page": page.id, **renamed(values)})
    if visit.source == CARD:
        hint = {"signal": Flag.DIFFERS.value, "next_due_at": values["next_due_at"]}
        work.rows.add("page_hinted", {"of_page": page.id, **renamed(hint)})
    row = {
        "store": run.store,
        "page_id": page.id,
        "url_key": page.url_key,
        "run_id": run.run_id,
        "visit_id": visit_id,
        "kind": gated.facts.kind.value,
        "status": holds.HoldStatus.WAITING.value,
        "gate": decided.wait,
        "reason": decided.reason,
        "facts": gating.facts_text(gated.facts),
        "fields": gating.shown_fields(gated),
        "visit": packed(visit, run),
        "before_hash": page.content_hash or "",
        "content_hash": visit.content_hash,
        "created_at": visit.at_ms,
        "stale_since": visit.at_ms,
    }
    holds.put(conn, row, before.get(page.id))
    return Saved(visit, Outcome.HELD, reason=decided.reason, facts=gated.facts)
