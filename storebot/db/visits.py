"""Saving visits: what each did to its page, its listings and their history, a batch in one transaction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlalchemy import Connection

from storebot.core.gate_facts import Facts, Kind
from storebot.db import cards, carried, leases, listings, walks
from storebot.db.batch import Batch
from storebot.db.compare import Compared
from storebot.db.context import RunContext
from storebot.db.discovery import discover
from storebot.db.known_pages import lock_visited, take_over, to_compare
from storebot.db.ledger import enter
from storebot.db.letting_through import let_through
from storebot.db.parsed import save_parsed
from storebot.db.saved import Saved
from storebot.db.unparsed import save_unparsed
from storebot.db.work import Work, write
from storebot.items import CatalogPage, Outcome, Record, Visit, WalkEnd


def save(conn: Connection, run: RunContext, records: Sequence[Record]) -> list[Saved]:
    """Save a batch in the caller's transaction, and return what became of each record, in their order.

    What became of the visits that a page of a walk carries comes before what became of that page.

    Raises `LeaseLost` when another run has the store, `SaveFailed` for a walk's page out of order: nothing of the
    batch may then be committed. A visit whose claim another worker has by now writes nothing: its outcome is
    ``skipped`` with the reason.
    """
    with run.learning(conn):
        return _save(conn, run, records)


def _save(conn: Connection, run: RunContext, records: Sequence[Record]) -> list[Saved]:
    leases.check(conn, run.store, run.lease_token)
    shown = Batch()
    brought = _brought(conn, run, records, shown)
    fetched = [record for record in records if isinstance(record, Visit)]
    unfetched = [visit for one in brought.values() for visit in one.visits]
    visits = fetched + unfetched
    known = lock_visited(conn, run.store, visits)
    take_over(run, known, unfetched)
    before = listings.by_page(conn, to_compare(run, known, visits))
    work = Work(conn, run, known, before, shown)
    for place, record in enumerate(records):
        of_page = brought.get(place)
        for visit in of_page.visits if of_page else ():
            work.saved.append(_visited(work, visit))
        work.saved.append(_visited(work, record) if isinstance(record, Visit) else _walked(work, record, of_page))
    if run.gate is not None:
        let_through(work, run.gate)
    write(work)
    if run.learner is not None:
        cards.learn_pairs(conn, run.learner, _looked_at(work))
        run.learner.save(conn)
    return work.saved


def _brought(
    conn: Connection, run: RunContext, records: Sequence[Record], rows: Batch
) -> dict[int, carried.CarriedVisits]:
    """Return, by place, what pages of walks bring: products whole, or their cards."""
    taken: set[int] = set()  # pages whose cards brought a price: one look in a batch does
    found: dict[int, carried.CarriedVisits] = {}
    for place, record in enumerate(records):
        if isinstance(record, CatalogPage) and record.visits:
            found[place] = carried.claimed(conn, run, record)
        elif isinstance(record, CatalogPage) and record.cards and run.learner is not None:
            found[place] = cards.looked(conn, run, run.learner, record, taken, rows)
    return found


def _walked(work: Work, page: CatalogPage | WalkEnd, brought: carried.CarriedVisits | None) -> Saved:
    if isinstance(page, WalkEnd):
        if page.checkpoint:
            walks.end_walk(work.conn, page.store, page.walk, page.state, page.reason)
        return Saved(page)
    if brought is None:
        new = discover(work.conn, page.store, page.found, page.at_ms, named=page.round, learner=work.run.learner)
        brought = carried.CarriedVisits([], new)
    if page.checkpoint:
        walks.commit_page(work.conn, work.run.run_id, page)
    return Saved(page, new_pages=brought.new_pages, cards_same=brought.cards_same)


def _visited(work: Work, visit: Visit) -> Saved:
    target = visit.target
    if target.page_id == 0:  # a page of the catalogue: it has a place in the ledger, and no row of its own
        outcome, reason, compared = visit.outcome or Outcome.SKIPPED, visit.reason, Compared()
    else:
        page = work.known.get(target.page_id)
        if page is None or not target.claim_token or page.claim_token != target.claim_token:
            reason = f"claim lost: another worker has {target.url_key} by now, so nothing of this visit is saved"
            return Saved(visit, Outcome.SKIPPED, reason=reason)
        page.claim_token = ""  # a second visit in this batch doesn't hold the claim any more
        if visit.false_304 and work.run.learner is not None:
            work.run.learner.saw_false_304(visit)
        outcome, reason, compared = (
            save_parsed(work, page, visit) if visit.outcome is None else save_unparsed(work, page, visit)
        )
        if outcome is Outcome.HELD:
            return Saved(visit, outcome, reason=reason)
    enter(work, visit, outcome, reason, compared)
    facts = Facts(Kind.NEW, record=visit.content_hash) if outcome is Outcome.NEW else None
    return Saved(visit, outcome, compared.rows_written, compared.changes, reason, facts=facts)


def _looked_at(work: Work) -> dict[int, int]:
    """Return, of pages that were seen themselves, the price that their card had shown within the hour before."""
    visits = [one.record for one in work.saved if isinstance(one.record, Visit) and one.outcome and one.outcome.seen]
    looks = ((work.known.get(visit.target.page_id), visit) for visit in visits if not visit.source)
    return {
        page.id: price
        for page, visit in looks
        if page is not None and (price := cards.price_before(page, visit.at_ms)) is not None
    }


def refused(record: Record, error: Exception) -> Visit | CatalogPage | None:
    """Return what takes the place of a record whose values the database refuses; None where nothing can.

    A page of a walk that carries products, or cards, then only names them: each is fetched and judged by itself.
    Nothing else of a walk has such a place: its checkpoint would claim rows that aren't stored.
    """
    if isinstance(record, CatalogPage) and (record.visits or record.cards):
        return replace(record, visits=(), cards=())
    if not isinstance(record, Visit):
        return None
    reason = f"the database refused its values: {type(error).__name__}"
    return replace(
        record,
        outcome=Outcome.INVALID,
        reason=reason,
        final_url="",
        final_key="",
        body=b"",
        page_sha256="",
        extracted=(),
        listings=(),
        blocks=(),
    )
