"""The write gate of a run: what it has compared so far, and which of a batch's changes are published now.

`Gate` lives as long as its run and is used by one thread; it counts only what is committed. Why a change waits, and for
what: docs/decisions/0020-write-gate.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson
from sqlalchemy import Connection, bindparam, select

from storebot.core.diff import changes_between
from storebot.core.gate import State, Verdict, judge, readings
from storebot.core.gate_facts import WATCHED, Facts, Kind, facts_of, loses, outlier
from storebot.core.gate_limits import Limits
from storebot.core.gate_tally import Tally
from storebot.db.batch import Batch
from storebot.db.compare import Compared, Known
from storebot.db.listings import listing_of, variant_key
from storebot.db.schema import offers
from storebot.db.types import AnyRow
from storebot.items import CARD, Listing, ListingStatus, Outcome, Visit

YOUNG, OUTLIER, IDENTITY, IDENTICAL = "", "outlier", "identity", "identical"  # why a change waits
_TWICE = 3  # pages with one record, from which on a new one with it waits

_HISTORY = select(offers.c.page_id, offers.c.variant_id, offers.c.price_minor, offers.c.currency).where(
    offers.c.page_id.in_(bindparam("ids", expanding=True)), offers.c.price_minor.is_not(None)
)
_History = dict[tuple[int, str], list[tuple[int, str | None]]]


@dataclass(slots=True)
class Gated:
    """A visit that would change what is published, and what it would write: nothing of it is written yet."""

    place: int  # of its `Saved`
    visit: Visit
    page: Known
    outcome: Outcome
    reason: str
    compared: Compared
    rows: Batch
    facts: Facts
    active: Mapping[str, AnyRow]  # the listings that are published, by variant


@dataclass(frozen=True, slots=True)
class Decided:
    """What becomes of one of them: published if ``wait`` is None, else it waits for that."""

    gated: Gated
    wait: str | None = None
    reason: str = ""
    again: bool = False  # the page is looked at once more, at once


class Gate:
    """What a run is judged by, and what it has compared."""

    def __init__(self, limits: Limits, tally: Tally, open_pages: Iterable[int]) -> None:
        self.limits, self.tally = limits, tally
        self.open_pages = set(open_pages)  # with an open hold
        self.counted: set[int] = set()  # of these, those whose hold's facts are in the tally
        self.waiting = False  # whether something may wait for the run to grow older

    def is_repeated(self, record: str, in_batch: int) -> bool:
        """Whether so many pages of the run show one record that a new one with it waits; ``in_batch`` has this one."""
        return self.tally.records[record] + in_batch > _TWICE

    def judge(self, more: Tally | None = None, *, final: bool = False) -> Verdict:
        """Judge the run with ``more`` that isn't committed yet; the ``final`` verdict is never to wait."""
        tally = self.tally.plus(more) if more is not None else self.tally
        return judge(tally, self.limits, young=not final and tally.seen < self.limits.sample)

    def count(self, outcomes: Iterable[tuple[Outcome | None, Facts | None]]) -> None:
        """Count visits that are committed."""
        self.tally.add(tally_of(outcomes))

    def note(self, page_id: int, *, held: bool) -> None:
        """Note of a page with a committed visit whether it has an open hold now."""
        if held:
            self.open_pages.add(page_id)
            self.counted.add(page_id)
            self.waiting = True
        else:
            self.open_pages.discard(page_id)
            self.counted.discard(page_id)

    def replaced(self, holds: Mapping[int, AnyRow]) -> dict[int, Facts]:
        """Return what the tally has of these open holds, by page: of pages that were looked at again."""
        return {page_id: facts_from(row.facts) for page_id, row in holds.items() if page_id in self.counted}


def tally_of(outcomes: Iterable[tuple[Outcome | None, Facts | None]]) -> Tally:
    """Return the tally of visits of product pages, by their facts where they have some, else by their outcome."""
    tally = Tally()
    for outcome, facts in outcomes:
        if facts is not None:
            tally.add_facts(facts)
        elif outcome is not None:
            tally.count(outcome)
    return tally


def facts_of_visit(visit: Visit, rows: Batch, active: Mapping[str, AnyRow], *, rebased: bool) -> Facts:
    """Return the facts of a page that was read and differs from its ``active`` listings."""
    fields = [field["field"] for change in rows.rows["change"] for field in orjson.loads(change["fields"])]
    after = {variant_key(listing): listing for listing in visit.listings}
    return facts_of(active, after, rebased=rebased, fields=fields, record=visit.content_hash)


def active_of(before: Mapping[str, AnyRow]) -> dict[str, AnyRow]:
    """Return the listings that are published as on sale."""
    return {variant: row for variant, row in before.items() if row.status == ListingStatus.ACTIVE}


def decide(
    conn: Connection,
    gate: Gate,
    gated: Sequence[Gated],
    settled: Iterable[tuple[Outcome | None, Facts | None]],
    before: Mapping[int, AnyRow],
    *,
    replaced: Iterable[Facts],
    run_id: int,
    looks_again: bool,
) -> list[Decided]:
    """Decide on the changes of one batch, whose other visits are ``settled``; ``before`` are the pages' open holds.

    ``replaced`` are the facts of earlier looks that the gate has counted. ``looks_again`` is whether the run can fetch
    a page a second time.
    """
    batch = tally_of([*settled, *((None, one.facts) for one in gated)])
    for facts in replaced:
        batch.take_back(facts)
    verdict = gate.judge(batch)
    history = _history(conn, [one.page.id for one in gated if _moves(one)]) if not gate.limits.planned else {}
    found: list[Decided] = []
    for one in gated:
        earlier = before.get(one.page.id)
        wait, reason = _waits(one, history, gate, batch)
        confirmed = earlier is not None and earlier.content_hash == one.visit.content_hash
        if wait == OUTLIER and (confirmed or verdict.state is State.TRIP):
            wait = None
        first = earlier is None or earlier.run_id != run_id
        again = wait == OUTLIER and looks_again and first and one.visit.source in ("", CARD)
        if wait is None and verdict.state is not State.OPEN:
            wait, reason = YOUNG, verdict.sentence or "its run has compared too few pages yet"
        found.append(Decided(one, wait, reason, again))
    return found


def _waits(one: Gated, history: _History, gate: Gate, batch: Tally) -> tuple[str | None, str]:
    """Return for what a change waits by itself, whatever else the run saw; None for nothing."""
    record = one.facts.record
    if one.facts.kind is Kind.NEW and gate.is_repeated(record, batch.records[record]):
        return IDENTICAL, "other pages of this run show the very same record"
    if one.facts.replaced:
        return IDENTITY, "the page shows another product than before"
    if one.facts.kind is Kind.CHANGED and not gate.limits.planned and (reason := _outlier(one, history)):
        return OUTLIER, reason
    return None, ""


def _moves(one: Gated) -> bool:
    return one.facts.kind is Kind.CHANGED and one.facts.ratio is not None


def _outlier(one: Gated, history: _History) -> str:
    """Say what of a page is looked at twice before it's believed: a price far away, a value lost, another currency."""
    if one.facts.currency:
        return f"the currency switched from {one.facts.currency}"
    for listing in one.visit.listings:
        variant = variant_key(listing)
        row = one.active.get(variant)
        if row is None:
            continue
        for name in WATCHED:
            if loses(row, listing, name):
                return f"the {name.removesuffix('_minor')} was lost"
        known = [price for price, currency in history.get((one.page.id, variant), ()) if currency == listing.currency]
        if reason := outlier(listing.price_minor or 0, row.price_minor or 0, known):
            return reason
    return ""


def _history(conn: Connection, page_ids: Sequence[int]) -> _History:
    found: _History = {}
    for row in conn.execute(_HISTORY, {"ids": sorted(set(page_ids))}) if page_ids else ():
        found.setdefault((row.page_id, row.variant_id), []).append((row.price_minor, row.currency))
    return found


def facts_text(facts: Facts) -> str:
    """Return facts as text, for the run that judges what a dead one left."""
    return orjson.dumps(facts._asdict()).decode()


def facts_from(text: str) -> Facts:
    """Return facts that `facts_text` made text of."""
    found = orjson.loads(text)
    return Facts(**{**found, "kind": Kind(found["kind"]), "lost": tuple(found["lost"])})


def gate_note(gate: Gate) -> str:
    """Return how a run's gate stands, as text to be kept with the run: JSON, `core.gate.Reading` by gate and more."""
    limits, tally = gate.limits, gate.tally
    told = {"seen": tally.seen, "new": tally.new, "sample": limits.sample, "planned": limits.planned}
    return orjson.dumps({**told, "gates": [one._asdict() for one in readings(tally, limits)]}).decode()


def shown_fields(one: Gated) -> str:
    """Return what a person is shown of a change that waits: JSON, by listing, its type and its fields."""
    if one.facts.kind is Kind.MOVED:
        key = {"field": "url_key", "before": one.page.url_key, "after": one.visit.final_key}
        shown = [_shown(variant, "moved", [key]) for variant in one.active]
    elif one.facts.kind is Kind.MISSING:
        status = {"field": "status", "before": ListingStatus.ACTIVE.value, "after": ListingStatus.MISSING.value}
        shown = [_shown(variant, "missing", [status]) for variant in one.active]
    elif one.facts.kind is Kind.REBASED:
        pairs = [(one.active.get(variant_key(listing)), listing) for listing in one.visit.listings]
        shown = [_shown(row.variant_id, "rebased", _rebased(row, listing)) for row, listing in pairs if row]
    elif one.facts.kind is Kind.NEW:
        shown = [
            _shown(variant_key(listing), "new", [{"field": "name", "before": None, "after": listing.name}])
            for listing in one.visit.listings
        ]
    else:
        changes = one.rows.rows["change"]
        shown = [_shown(row["variant_id"], row["type"], orjson.loads(row["fields"])) for row in changes]
    return orjson.dumps(shown).decode()


def _shown(variant: str, kind: str, fields: list[dict[str, Any]]) -> dict[str, Any]:
    return {"variant_id": variant, "type": kind, "fields": fields}


def _rebased(row: AnyRow, listing: Listing) -> list[dict[str, Any]]:
    return [found._asdict() for found in changes_between(listing_of(row), listing)]
