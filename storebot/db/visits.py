"""Saving visits: what each did to its page, its listings and their history, a batch in one transaction."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import repeat
from typing import Any, NamedTuple

from sqlalchemy import Connection, bindparam, insert, select

from storebot.core.delist import dead_link_ms, next_look_ms
from storebot.core.gate_facts import Facts, Kind
from storebot.core.likeness import likeness
from storebot.core.planner.hazard import Flag
from storebot.core.planner.lanes import Lane
from storebot.db import cards, carried, gating, holds, leases, listings, moves, walks
from storebot.db.batch import Batch, renamed
from storebot.db.canonicals import fall_back
from storebot.db.compare import Compared, Known, compare, confirms_card, first_seen, relist
from storebot.db.context import RunContext as RunContext
from storebot.db.context import carried_version as carried_version
from storebot.db.discovery import discover, is_key
from storebot.db.gating import Decided, Gate, Gated
from storebot.db.held_visit import packed, unpacked
from storebot.db.learning import Lesson
from storebot.db.schema import pages
from storebot.db.schema import visits as ledger
from storebot.db.types import AnyRow
from storebot.db.validators import entity_tag, http_date
from storebot.items import CARD, NOT_OBSERVED, CatalogPage, Discovered, Outcome, PageStatus, Record, Visit, WalkEnd

_CLAIMED = (
    select(
        pages.c.id,
        pages.c.url_key,
        pages.c.claim_token,
        pages.c.content_hash,
        pages.c.details_hash,
        pages.c.hash_version,
        pages.c.parser_version,
        pages.c.misses,
        pages.c.checked_at,
        pages.c.delisted_at,
        pages.c.unnamed_since,
        pages.c.etag,
        pages.c.last_modified,
        pages.c.change_credit,
        pages.c.exposure_h,
        pages.c.listed_at,
        pages.c.signal,
        pages.c.value,
        pages.c.category_id,
        pages.c.card_price_minor,
        pages.c.carded_at,
    )
    .where(pages.c.store == bindparam("of_store"), pages.c.id.in_(bindparam("ids", expanding=True)))
    .order_by(pages.c.id)
    .with_for_update()
)
_LONGEST_REASON = 1000
_STRUCK = frozenset({Outcome.ERROR, Outcome.INVALID, Outcome.MOVED})  # a page never parsed is then `error`


class Saved(NamedTuple):
    """What became of one record: for a visit its outcome, for a page of a walk how many pages it brought."""

    record: Record | None  # None where a visit that was told of before is published now
    outcome: Outcome | None = None  # None for a page of a walk
    rows_written: int = 0  # listing rows, inserted or rewritten
    changes: int = 0  # change events
    reason: str = ""
    new_pages: int = 0
    facts: Facts | None = None  # of a visit that differs from what is published, for the run's tally
    cards_same: int = 0  # of a page of a walk: cards whose price is believed, and is the one that is published
    instead_of: Outcome | None = None  # as which the visit was told of before


@dataclass(frozen=True, slots=True)
class _Work:
    """One batch: the pages and listings that it's about, and the rows that it makes."""

    conn: Connection
    run: RunContext
    known: Mapping[int, Known]
    before: Mapping[int, Mapping[str, AnyRow]]
    rows: Batch
    saved: list[Saved] = field(default_factory=list)
    gated: list[Gated] = field(default_factory=list)  # what becomes of them is decided when the batch is compared
    new_records: Counter[str] = field(default_factory=Counter)


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
    known = _claimed(conn, run.store, visits)
    _take_over(run, known, unfetched)
    before = listings.by_page(conn, _to_compare(run, known, visits))
    work = _Work(conn, run, known, before, shown)
    for place, record in enumerate(records):
        of_page = brought.get(place)
        for visit in of_page.visits if of_page else ():
            work.saved.append(_visited(work, visit))
        work.saved.append(_visited(work, record) if isinstance(record, Visit) else _walked(work, record, of_page))
    if run.gate is not None:
        _let_through(work, run.gate)
    _write(work)
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


def _looked_at(work: _Work) -> dict[int, int]:
    """Return, of pages that were seen themselves, the price that their card had shown within the hour before."""
    visits = [one.record for one in work.saved if isinstance(one.record, Visit) and one.outcome and one.outcome.seen]
    looks = ((work.known.get(visit.target.page_id), visit) for visit in visits if not visit.source)
    return {
        page.id: price
        for page, visit in looks
        if page is not None and (price := cards.price_before(page, visit.at_ms)) is not None
    }


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
    known = {row.id: _known(row) for row in conn.execute(_CLAIMED, {"of_store": run.store, "ids": page_ids})}
    work = _Work(conn, run, known, listings.by_page(conn, page_ids), Batch())
    saved = [_published(work, row) for row in held]
    _write(work)
    return saved


def _write(work: _Work) -> None:
    """Learn from what is written, and write it."""
    if work.run.learner is not None:
        work.run.learner.learn(work.conn, work.rows.lessons)
    work.rows.lessons.clear()
    work.rows.write(work.conn)


def observed(saved: Sequence[Saved]) -> Iterator[tuple[Outcome | None, Facts | None]]:
    """Yield outcome and facts of the visits of product pages, and of cards that were compared: what a gate counts."""
    for one in saved:
        if isinstance(one.record, Visit) and one.record.target.page_id:
            yield one.outcome, one.facts
        yield from repeat((Outcome.UNCHANGED, None), one.cards_same)


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


def _claimed(conn: Connection, store: str, visits: Sequence[Visit]) -> dict[int, Known]:
    ids = sorted({visit.target.page_id for visit in visits} - {0})
    if not ids:
        return {}
    return {row.id: _known(row) for row in conn.execute(_CLAIMED, {"of_store": store, "ids": ids})}


def _known(row: AnyRow) -> Known:
    return Known(*row)


def _take_over(run: RunContext, known: Mapping[int, Known], visits: Sequence[Visit]) -> None:
    """Claim the pages of carried visits, unless somebody has: they're locked, and let go when the batch is written."""
    for visit in visits:
        page = known.get(visit.target.page_id)
        if page is not None and not page.claim_token:
            page.claim_token = run.lease_token


def _to_compare(run: RunContext, known: Mapping[int, Known], visits: Sequence[Visit]) -> set[int]:
    """Return the pages whose listing rows have to be read: parsed, known, and not the same as before; or delisted."""
    looked = [(visit, known.get(visit.target.page_id)) for visit in visits]
    return {
        page.id
        for visit, page in looked
        if page
        and page.content_hash
        and (page.delisted_at or (visit.outcome is None and not _unchanged(run, page, visit)))
    }


def _unchanged(run: RunContext, page: Known, visit: Visit) -> bool:
    return (
        page.content_hash == visit.content_hash
        and (page.details_hash or "") == visit.details_hash
        and not _rebased(run, page, visit)
        and not confirms_card(page, visit)
    )


def _rebased(run: RunContext, page: Known, visit: Visit) -> bool:
    return page.parser_version != run.version_of(visit) or page.hash_version != run.hash_version


def _walked(work: _Work, page: CatalogPage | WalkEnd, brought: carried.CarriedVisits | None) -> Saved:
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


def _visited(work: _Work, visit: Visit) -> Saved:
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
            _parsed(work, page, visit) if visit.outcome is None else _unparsed(work, page, visit)
        )
        if outcome is Outcome.HELD:
            return Saved(visit, outcome, reason=reason)
    _record(work, visit, outcome, reason, compared)
    facts = Facts(Kind.NEW, record=visit.content_hash) if outcome is Outcome.NEW else None
    return Saved(visit, outcome, compared.rows_written, compared.changes, reason, facts=facts)


def _parsed(work: _Work, page: Known, visit: Visit) -> tuple[Outcome, str, Compared]:
    if not visit.listings and (page.content_hash is None or not _unchanged(work.run, page, visit)):
        raise ValueError(f"{visit.target.url_key}: a visit without an outcome needs listings")
    if work.run.gate is not None and _would_retire(work, page, visit):
        found = (Outcome.MOVED, "", Compared())
        return _put_apart(work, replace(work, rows=Batch()), page, visit, found, Facts(Kind.MOVED), {})
    if moved := _follow(work, page, visit):
        return Outcome.MOVED, moved, Compared()
    if not _is_gated(work, page, visit):
        return _accept(work, page, visit)
    apart = replace(work, rows=Batch())
    outcome, reason, compared = _accept(apart, page, visit)
    rebased = page.content_hash is not None and _rebased(work.run, page, visit)
    if outcome is Outcome.UNCHANGED and not rebased:  # what differs is no change of the market
        work.rows.take(apart.rows)
        return outcome, reason, compared
    active = gating.active_of(work.before.get(page.id, {}))
    facts = (
        Facts(Kind.NEW, record=visit.content_hash)
        if outcome is Outcome.NEW
        else gating.facts_of_visit(visit, apart.rows, active, rebased=rebased)
    )
    return _put_apart(work, apart, page, visit, (outcome, reason, compared), facts, active)


def _put_apart(
    work: _Work,
    apart: _Work,
    page: Known,
    visit: Visit,
    found: tuple[Outcome, str, Compared],
    facts: Facts,
    active: Mapping[str, AnyRow],
) -> tuple[Outcome, str, Compared]:
    """Keep what a visit would write until the batch is compared."""
    work.gated.append(Gated(len(work.saved), visit, page, *found, apart.rows, facts, active))
    return Outcome.HELD, "", Compared()


def _is_gated(work: _Work, page: Known, visit: Visit) -> bool:
    """Whether a page that was read passes the gate: a known one that differs, a new one that shows what others do."""
    gate = work.run.gate
    if gate is None:
        return False
    if page.content_hash is not None:
        return not _unchanged(work.run, page, visit)
    work.new_records[visit.content_hash] += 1
    return gate.is_repeated(visit.content_hash, work.new_records[visit.content_hash])


def _accept(work: _Work, page: Known, visit: Visit) -> tuple[Outcome, str, Compared]:
    """Let a page that was read, or what a card says of it, be what is published."""
    if visit.source == CARD:
        return _carded(work, page, visit)
    if page.content_hash is None:
        outcome, compared = Outcome.NEW, first_seen(work.rows, work.run, page, visit)
    elif _unchanged(work.run, page, visit):
        outcome, compared = Outcome.UNCHANGED, _relisted(work, page, visit)
    else:
        before = work.before.get(page.id, {})
        compared = compare(work.rows, work.run, page, visit, before, silent=_rebased(work.run, page, visit))
        outcome = Outcome.CHANGED if compared.changes else Outcome.UNCHANGED
    _bring_back(work, page)
    if visit.amp_key and outcome is not Outcome.UNCHANGED and is_key(visit.amp_key):
        moves.alias_copy(work.conn, work.run.store, visit.amp_key, page.id, visit.at_ms)
    accepted = {
        "content_hash": visit.content_hash,
        "details_hash": visit.details_hash,
        "source_hash": visit.source_hash or None,
        "hash_version": work.run.hash_version,
        "parser_version": work.run.version_of(visit),
        "etag": entity_tag(visit.etag),
        "last_modified": http_date(visit.last_modified),
        "fetched_at": visit.at_ms,
        "checked_at": visit.at_ms,
        "next_due_at": visit.at_ms + work.run.revisit_after_ms,
        "canonical_key": visit.canonical_key or None,
    }
    comparable = page.content_hash is not None and not _rebased(work.run, page, visit)
    changed = outcome is Outcome.CHANGED if comparable else None
    _look(work, "page_parsed", page, visit, accepted, changed=changed, visible=compared.on_card)
    return outcome, visit.reason, compared


def _carded(work: _Work, page: Known, visit: Visit) -> tuple[Outcome, str, Compared]:
    """Let the price on a page's card be published. The page itself wasn't looked at: it's fetched in full next time."""
    compared = compare(work.rows, work.run, page, visit, work.before.get(page.id, {}), silent=False)
    carded = {"content_hash": visit.content_hash, "carded_at": visit.at_ms, "signal": Flag.NONE.value}
    known = {name: getattr(page, name) for name in ("change_credit", "exposure_h")}
    row = {"of_page": page.id, **renamed({**carded, **known})}
    work.rows.add("page_carded", row)
    work.rows.lessons.append(Lesson(page, visit, row, changed=True, visible=True))
    return Outcome.CHANGED if compared.changes else Outcome.UNCHANGED, visit.reason, compared


def _look(
    work: _Work,
    statement: str,
    page: Known,
    visit: Visit,
    values: Mapping[str, Any],
    *,
    changed: bool | None,
    visible: bool = False,
) -> None:
    """Write a look at a page into its row, and have it be learned from."""
    known = {name: getattr(page, name) for name in ("change_credit", "exposure_h", "listed_at", "value", "category_id")}
    row = {"of_page": page.id, **renamed({**values, **known})}
    work.rows.add(statement, row)
    work.rows.lessons.append(Lesson(page, visit, row, changed, visible))


def _moves(page: Known, visit: Visit) -> bool:
    return bool(visit.final_key) and visit.final_key != page.url_key and is_key(visit.final_key)


def _follow(work: _Work, page: Known, visit: Visit) -> str:
    """Let the page follow an accepted redirect; return why nothing is saved where another page is there.

    A page without a record gives its key up to one that has a history. A successor isn't its predecessor at a new price
    (case R01): it is a page of its own.
    """
    if not _moves(page, visit):
        return ""
    _write(work)  # what this batch did to the other page must be seen
    store, old, to, url = work.run.store, page.url_key, visit.final_key, visit.final_url or visit.target.url
    replaced = _is_replaced(work, page, visit)
    if replaced and moves.holder_of(work.conn, store, to) is None:
        discover(work.conn, store, [Discovered(url, to)], visit.at_ms, due_at=visit.at_ms)
    other = moves.holder_of(work.conn, store, to)
    empty = page.content_hash is not None and other is not None and other.content_hash is None
    if other is None or other.id == page.id or (empty and not replaced):
        moves.take(work.conn, store, page.id, old, to, url, visit.at_ms)
        page.url_key = to
        if other is not None and other.id != page.id and other.id in work.known:
            work.known[other.id].claim_token = ""
        return ""
    moves.retire(work.conn, store, page.id, old, other, visit.at_ms)
    if page.content_hash is not None and _goes_on(work, page, visit):
        moves.inherit(work.conn, page.id, other.id)
    return f"redirects to {to}, " + ("which is another product" if replaced else "a page that has its own visits")


def _would_retire(work: _Work, page: Known, visit: Visit) -> bool:
    """Whether following a redirect takes a page off sale that was on sale: its listings would be another page's."""
    if not _moves(page, visit) or page.content_hash is None or page.misses:
        return False
    other = moves.holder_of(work.conn, work.run.store, visit.final_key)
    if other is not None and other.id != page.id and other.content_hash is not None:
        return True
    return (other is None or other.id != page.id) and _is_replaced(work, page, visit)


def _is_replaced(work: _Work, page: Known, visit: Visit) -> bool:
    before = work.before.get(page.id, {}).values()
    return likeness(before, visit.listings).is_another_product


def _goes_on(work: _Work, page: Known, visit: Visit) -> bool:
    """Whether the page that a redirect led to shows the product that was known."""
    if _unchanged(work.run, page, visit):
        return True
    found = likeness(work.before.get(page.id, {}).values(), visit.listings)
    return found.names and found.ids is not False


def _unparsed(work: _Work, page: Known, visit: Visit) -> tuple[Outcome, str, Compared]:
    outcome, reason = visit.outcome or Outcome.ERROR, visit.reason
    gone = outcome is Outcome.MISSING
    back = fall_back(work.conn, work.run.store, page.id, page.url_key, visit.at_ms) if gone else ""
    if back:
        outcome, reason = Outcome.MOVED, f"{reason}; it is looked for at {back}, which was another name of it"
    if outcome is Outcome.NOT_MODIFIED:
        if page.content_hash is not None and not _rebased(work.run, page, visit):
            _bring_back(work, page)
            times = {"checked_at": visit.at_ms, "next_due_at": visit.at_ms + work.run.revisit_after_ms}
            _look(work, "page_not_modified", page, visit, times, changed=False)
            return outcome, reason, _relisted(work, page, visit)
        outcome, reason = (
            Outcome.ERROR,
            "304 though no record of this parser stands behind it: fetched in full next time",
        )
        work.rows.add("page_distrusted", {"of_page": page.id})
    if outcome.seen:
        raise ValueError(f"{visit.target.url_key}: only the database can say that a page is {outcome}")
    never_parsed = PageStatus.ERROR if outcome in _STRUCK or outcome is Outcome.MISSING else PageStatus.PENDING
    values: dict[str, Any] = {
        "status": (PageStatus.PARSED if page.content_hash else never_parsed).value,
        "next_due_at": max(visit.at_ms + (0 if back else work.run.error_backoff_ms), visit.retry_at_ms),
        "last_error": reason[:_LONGEST_REASON] or outcome.value,
        "last_failure": outcome.value if outcome in NOT_OBSERVED else "",
    }
    if outcome is Outcome.MISSING:
        return _missing(work, page, visit, reason, values)
    values["stray_hash"] = visit.stray_hash or None
    work.rows.add("page_failed", {"of_page": page.id, **renamed(values)})
    return outcome, reason, Compared()


def _missing(
    work: _Work, page: Known, visit: Visit, reason: str, values: dict[str, Any]
) -> tuple[Outcome, str, Compared]:
    """Have a page be missing; if it has a record, and wasn't missing before, the gate is asked first."""
    apart = replace(work, rows=Batch())
    if page.content_hash:
        apart.rows.add("page_missing_listings", {"of_page": page.id})
    else:
        values["next_due_at"] = dead_link_ms(visit.at_ms, page.misses + 1, work.run.error_backoff_ms)
    if page.delisted_at:
        values["next_due_at"] = next_look_ms(visit.at_ms, page.delisted_at)
    evidence = {"missed_by": visit.evidence or None, "stray_hash": visit.stray_hash or None}
    missed = renamed({**values, **evidence, "checked_at": visit.at_ms})
    apart.rows.add("page_missing", {"of_page": page.id, **missed})
    found = (Outcome.MISSING, reason, Compared())
    if work.run.gate is not None and page.content_hash and not page.misses:
        return _put_apart(work, apart, page, visit, found, Facts(Kind.MISSING), {})
    work.rows.take(apart.rows)
    return found


def _bring_back(work: _Work, page: Known) -> None:
    """Have the listings that went missing with their page be active again."""
    if page.misses or page.unnamed_since is not None:
        work.rows.add("page_back_listings", {"of_page": page.id})


def _relisted(work: _Work, page: Known, visit: Visit) -> Compared:
    """Announce the listings of a delisted page that is there again, just as it was."""
    if not page.delisted_at:
        return Compared()
    return relist(work.rows, work.run, page, visit, work.before.get(page.id, {}))


def _let_through(work: _Work, gate: Gate) -> None:
    """Publish of the batch's changes what the gate lets through, hold the rest, and close what was seen anew."""
    conn, before = work.conn, {}
    if gate.open_pages:
        touched = {visit.target.page_id for one in work.saved if isinstance(visit := one.record, Visit)}
        before = holds.open_of(conn, touched & gate.open_pages)
    if work.gated:
        run = work.run
        decided = gating.decide(
            conn,
            gate,
            work.gated,
            observed(work.saved),
            before,
            run_id=run.run_id,
            looks_again=run.kind == "refresh",
        )
        for one in decided:
            place = one.gated.place
            work.saved[place] = _release(work, one.gated) if one.wait is None else _hold(work, one, before)
    anew = [visit for one in work.saved if before and isinstance(visit := one.record, Visit) and settles(one)]
    if closed := {visit.target.page_id for visit in anew} & before.keys():
        holds.supersede(conn, closed, anew[-1].at_ms, f"run {work.run.run_id} saw the page anew")


def count(gate: Gate, saved: Sequence[Saved]) -> None:
    """Have a run's gate count a batch that is committed."""
    gate.count(observed(saved))
    for one in saved:
        if isinstance(one.record, Visit) and (one.outcome is Outcome.HELD or (gate.open_pages and settles(one))):
            gate.note(one.record.target.page_id, held=one.outcome is Outcome.HELD)


def settles(one: Saved) -> bool:
    """Whether a visit says what is true of its page now, so that nothing older is to be decided."""
    moved = one.outcome is Outcome.MOVED and one.facts is not None
    return one.outcome is not None and (one.outcome.seen or one.outcome is Outcome.MISSING or moved)


def _release(work: _Work, gated: Gated) -> Saved:
    visit, compared, reason = gated.visit, gated.compared, gated.reason
    if gated.facts.kind is Kind.MOVED:
        reason = _follow(work, gated.page, visit)
    work.rows.take(gated.rows)
    _record(work, visit, gated.outcome, reason, compared)
    return Saved(visit, gated.outcome, compared.rows_written, compared.changes, reason, facts=gated.facts)


def _hold(work: _Work, decided: Decided, before: Mapping[int, AnyRow]) -> Saved:
    """Keep a visit whole, in the transaction of its row in the ledger; its page stays as it is, and is read again."""
    gated, run, conn = decided.gated, work.run, work.conn
    visit, page = gated.visit, gated.page
    if gated.facts.kind in (Kind.MISSING, Kind.MOVED):
        gated.active = gating.active_of(listings.by_page(conn, [page.id]).get(page.id, {}))
    row = _ledger_row(work, visit, Outcome.HELD, decided.reason, Compared())
    (visit_id,) = conn.execute(insert(ledger).values(row)).inserted_primary_key or (0,)
    _note_blocks(work, visit)
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


def _published(work: _Work, row: AnyRow) -> Saved:
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
    if row.kind == Kind.MOVED and (moved := _follow(own, page, visit)):
        return Saved(None, Outcome.MOVED, reason=moved, instead_of=Outcome.HELD)
    found = _accept(own, page, visit) if visit.outcome is None else _unparsed(own, page, visit)
    outcome, reason, compared = found
    return Saved(None, outcome, compared.rows_written, compared.changes, reason, instead_of=Outcome.HELD)


def _record(work: _Work, visit: Visit, outcome: Outcome, reason: str, compared: Compared) -> None:
    work.rows.add("visit", _ledger_row(work, visit, outcome, reason, compared))
    _note_blocks(work, visit)


def _ledger_row(work: _Work, visit: Visit, outcome: Outcome, reason: str, compared: Compared) -> dict[str, Any]:
    return {
        **_who_and_when(work.run, visit),
        "page_type": visit.target.page_type.value,
        "outcome": outcome.value,
        "http_status": visit.status,
        "reason": reason[:_LONGEST_REASON],
        "requests": visit.requests,
        "bytes": visit.size_bytes,
        "elapsed_ms": visit.elapsed_ms,
        "browser_ms": visit.browser_ms,
        "billed": visit.billed,
        "cost_micro": visit.cost_micro,
        "steps": "\n".join(visit.steps)[:_LONGEST_REASON] or None,
        "rows_written": compared.rows_written,
        "changes": compared.changes,
        "lane": visit.target.lane or (Lane.LISTING.value if visit.source else ""),
    }


def _note_blocks(work: _Work, visit: Visit) -> None:
    for signal in visit.blocks:
        found = {"kind": signal.kind, "value": signal.value[:_LONGEST_REASON], "vendor": signal.vendor[:64]}
        found["tier"] = signal.tier or visit.tier
        row = {**_who_and_when(work.run, visit), **found, "url": visit.final_url or visit.target.url}
        work.rows.add("block", row)


def _who_and_when(run: RunContext, visit: Visit) -> dict[str, Any]:
    return {
        "run_id": run.run_id,
        "store": run.store,
        "page_id": visit.target.page_id,
        "tier": visit.tier,
        "at": visit.at_ms,
    }
