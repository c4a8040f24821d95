"""What waited in a run's write gate, published when the gate opens, and decided on when the run ends.

Each transaction is bounded, and publishes a visit and removes its hold together: killed between any two of them, the
next run goes on with what is left.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from sqlalchemy import Connection, bindparam, or_, select, update

from storebot.core.gate import State
from storebot.core.gate_limits import Declared, Past, limits_from
from storebot.core.gate_tally import Tally
from storebot.core.likeness import likeness
from storebot.db import holds, pages, runs, tallies
from storebot.db.context import RunContext
from storebot.db.database import Database
from storebot.db.dialects import now_ms
from storebot.db.gating import IDENTICAL, IDENTITY, OUTLIER, YOUNG, Gate, facts_from
from storebot.db.held_visit import unpacked
from storebot.db.holds import HoldStatus
from storebot.db.publishing import publish
from storebot.db.retry import retrying
from storebot.db.saved import Saved
from storebot.db.schema import listings, visits
from storebot.db.schema import pages as pages_table
from storebot.db.types import AnyRow
from storebot.items import ListingStatus, Outcome, RunStatus, Visit

_CHUNK = 100  # visits a transaction
_HISTORY = 30  # runs that are looked at for what is usual
_CRAWLS = ("backfill", "refresh")  # a re-parse looks at no shop
_GOOD = (RunStatus.COMPLETE, RunStatus.PARTIAL)
_DECIDED = update(visits).where(visits.c.id == bindparam("of_visit"))


def open_gate(conn: Connection, run: RunContext, declared: Declared, at_ms: int) -> Gate:
    """Return the gate of a run that begins, with the store's history and what dead runs before it left waiting."""
    crawls = [one for one in runs.last(conn, run.store, limit=_HISTORY) if one.kind in _CRAWLS]
    earlier = [one for one in crawls if one.id != run.run_id]
    history = [_past(one.outcomes) for one in earlier if one.status in _GOOD]
    read = pages.read_count(conn, run.store)
    gate = Gate(limits_from(history, declared, pages=read, at_ms=at_ms), Tally(), holds.open_pages(conn, run.store))
    if gate.open_pages:
        _adopt(conn, run, gate, earlier)
    return gate


def _adopt(conn: Connection, run: RunContext, gate: Gate, earlier: Sequence[runs.Run]) -> None:
    """Count what the dead runs saw that left something waiting: it is judged as if none had died."""
    left = holds.waiting_facts(conn, run.store)
    if not left:
        return
    for one in earlier:
        if one.status is not RunStatus.INTERRUPTED:
            break
        for outcome, count in one.outcomes.items():
            for _ in range(count):
                gate.tally.count(outcome)
    for page_id, facts in left.items():
        gate.tally.add_facts(facts_from(facts))
        gate.counted.add(page_id)
    gate.waiting = True


def _past(counts: Mapping[Outcome, int]) -> Past:
    changed, missing = counts.get(Outcome.CHANGED, 0), counts.get(Outcome.MISSING, 0)
    as_they_were = counts.get(Outcome.UNCHANGED, 0) + counts.get(Outcome.NOT_MODIFIED, 0)
    return Past(as_they_were + changed + missing, changed, missing)


def promote(database: Database, run: RunContext, gate: Gate) -> Iterator[list[Saved]]:
    """Publish what only waits for the run to be old enough, and yield what became of this run's visits."""
    after_id = 0
    while True:
        rows, saved = retrying(database, partial(_promote_some, run=run, after_id=after_id))
        if run.learner is not None:
            run.learner.committed()
        if not rows:
            gate.waiting = False
            return
        after_id = rows[-1].id
        gate.open_pages.difference_update(row.page_id for row in rows)
        yield [one for row, one in zip(rows, saved, strict=True) if row.run_id == run.run_id]


def _promote_some(conn: Connection, run: RunContext, after_id: int) -> tuple[list[AnyRow], list[Saved]]:
    rows = holds.waiting(conn, run.store, YOUNG, after_id=after_id, limit=_CHUNK)
    saved = publish(conn, run, rows) if rows else []
    published = [(row, one) for row, one in zip(rows, saved, strict=True) if one.outcome is not Outcome.SKIPPED]
    holds.remove(conn, [row.id for row, _ in published])
    for row, one in zip(rows, saved, strict=True):
        if one.outcome is Outcome.SKIPPED:
            holds.supersede(conn, [row.page_id], now_ms(conn), one.reason)
    for row, one in published:
        _enter(conn, row.visit_id, one)
    for dead in {row.run_id for row, _ in published} - {run.run_id}:
        runs.recount(conn, dead)
    return rows, saved


def _enter(conn: Connection, visit_id: int, saved: Saved) -> None:
    """Have the ledger say what became of a visit in the end."""
    assert saved.outcome is not None
    values = {
        "outcome": saved.outcome.value,
        "reason": saved.reason,
        "rows_written": saved.rows_written,
        "changes": saved.changes,
    }
    tallies.decide(conn, visit_id, saved.outcome.value)
    conn.execute(_DECIDED.values(values), {"of_visit": visit_id})


def finish(database: Database, run: RunContext, gate: Gate) -> Iterator[list[Saved]]:
    """Judge a run that has seen all it will: publish what waits, or hold it; yield what became of its visits.

    What waits by itself is judged by itself: a price that no second look confirmed is held, and so is a page that shows
    the product of another.
    """
    if not gate.open_pages:
        return
    verdict = gate.judge(final=True)
    if verdict.state is State.TRIP:
        retrying(database, lambda conn: holds.trip(conn, run.store, run.run_id, verdict.gate, verdict.sentence))
        return
    retrying(database, lambda conn: _judge_each(conn, run))
    yield from promote(database, run, gate)


def _judge_each(conn: Connection, run: RunContext) -> None:
    held = {"status": HoldStatus.HELD.value}
    for row in holds.waiting(conn, run.store, OUTLIER):
        reason = f"{row.reason}, and a second look did not confirm it"
        holds.mark(conn, [row.id], **held, reason=reason)
    left = holds.waiting(conn, run.store, IDENTITY)
    elsewhere = _elsewhere(conn, run.store, left)
    for row in left:
        if url := elsewhere.get(row.id):
            holds.mark(conn, [row.id], **held, reason=f"it shows the product that is published at {url}")
    free = [row.id for row in left if row.id not in elsewhere]
    free += [row.id for row in holds.waiting(conn, run.store, IDENTICAL)]
    for start in range(0, len(free), _CHUNK):
        holds.mark(conn, free[start : start + _CHUNK], gate=YOUNG)


def _elsewhere(conn: Connection, store: str, rows: Sequence[AnyRow]) -> dict[int, str]:
    """Return the address of the page that the product of each of these holds is published at; none for most."""
    found: dict[int, str] = {}
    for start in range(0, len(rows), _CHUNK):
        chunk = [(row, unpacked(row.visit).visit) for row in rows[start : start + _CHUNK]]
        known = _with_numbers_of(conn, store, [visit for _, visit in chunk])
        for row, visit in chunk:
            for page_id, theirs in known.items():
                alike = likeness(visit.listings, theirs) if page_id != row.page_id else None
                if alike is not None and (alike.is_one_product or alike.may_be_one_product):
                    found[row.id] = theirs[0].page_url
    return found


def _with_numbers_of(conn: Connection, store: str, seen: Sequence[Visit]) -> dict[int, list[AnyRow]]:
    """Return the active listings, by page, that have a number or the name of one that was seen."""
    shown = [listing for visit in seen for listing in visit.listings]
    same = [
        getattr(listings.c, name).in_(values)
        for name in ("sku", "gtin", "name")
        if (values := sorted({value for one in shown if (value := getattr(one, name))}))
    ]
    query = (
        select(listings, pages_table.c.url.label("page_url"))
        .join(pages_table, pages_table.c.id == listings.c.page_id)
        .where(listings.c.store == store, listings.c.status == ListingStatus.ACTIVE.value, or_(False, *same))
    )
    known: dict[int, list[AnyRow]] = {}
    for row in conn.execute(query):
        known.setdefault(row.page_id, []).append(row)
    return known
