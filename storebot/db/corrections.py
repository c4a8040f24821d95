"""Corrections: records read again from kept pages, against the rows that an earlier parser made of the same bytes.

The market didn't move, the parser did. So status, times and validators stay; prices and availability that differ are
appended to the history under the time of the page that they were read from, with the cause ``corrected``.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import orjson
from sqlalchemy import Connection, bindparam, select

from storebot.core.diff import FieldChange, changes_between
from storebot.core.gate_correction import correction_facts
from storebot.core.gate_facts import Facts
from storebot.db import leases, listings
from storebot.db.batch import Batch, renamed
from storebot.db.context import RunContext
from storebot.db.dialects import now_ms
from storebot.db.gating import active_of
from storebot.db.listings import listing_of, values_of, variant_key
from storebot.db.schema import pages
from storebot.db.types import AnyRow
from storebot.items import VARIANTS, Listing, ListingStatus, Outcome, Visit

CAUSE = "corrected"
_OFFER = ("price_minor", "regular_price_minor", "currency", "availability")
_PROVENANCE = frozenset({"field_source", "record_hash", "details_hash"})
_LONGEST_REASON = 1000
_PAGES = (
    select(
        pages.c.id,
        pages.c.url_key,
        pages.c.content_hash,
        pages.c.details_hash,
        pages.c.source_hash,
        pages.c.hash_version,
        pages.c.parser_version,
        pages.c.fetched_at,
    )
    .where(pages.c.store == bindparam("of_store"), pages.c.id.in_(bindparam("ids", expanding=True)))
    .order_by(pages.c.id)
)


class Difference(NamedTuple):
    """One value of a listing as the row has it and as the kept page gives it."""

    url_key: str
    variant_id: str
    field: str
    before: Any  # None where there is no row, or no value
    after: Any


@dataclass(slots=True)
class Corrected:
    """What a kept page says beside the rows: the outcome of its visit, and what differs."""

    visit: Visit
    outcome: Outcome
    reason: str = ""
    differences: list[Difference] = field(default_factory=list)
    appeared: int = 0  # listings without a row
    vanished: int = 0  # rows that the page doesn't name
    rows_written: int = 0
    changes: int = 0
    facts: Facts | None = None  # by which the write gate judges it, where it differs


def correct(conn: Connection, run: RunContext, visits: Sequence[Visit], *, announce: bool) -> list[Corrected]:
    """Save the corrections of some pages in the caller's transaction; return what became of each.

    A page that was read again since is ``skipped``. Raises `LeaseLost`. Done twice, it's as if done once. With
    ``announce`` each listing that was corrected is a change event of the type ``corrected``.
    """
    leases.check(conn, run.store, run.lease_token)
    work = _Work(run, Batch(), announce, now_ms(conn))
    found = _compared(conn, run, visits, work, lock=True)
    work.rows.write(conn)
    return found


def compare(conn: Connection, run: RunContext, visits: Sequence[Visit]) -> list[Corrected]:
    """Return what `correct` would do, and write nothing."""
    return _compared(conn, run, visits, _Work(run, Batch(), announce=False, now_ms=0), lock=False)


@dataclass(slots=True)
class _Work:
    run: RunContext
    rows: Batch
    announce: bool
    now_ms: int


def _compared(
    conn: Connection, run: RunContext, visits: Sequence[Visit], work: _Work, *, lock: bool
) -> list[Corrected]:
    ids = sorted({visit.target.page_id for visit in visits})
    query = _PAGES.with_for_update() if lock else _PAGES
    known = {row.id: row for row in conn.execute(query, {"of_store": run.store, "ids": ids})} if ids else {}
    before = listings.by_page(conn, ids)
    return [_page(work, visit, known.get(visit.target.page_id), before) for visit in visits]


def _page(work: _Work, visit: Visit, page: AnyRow | None, before: Mapping[int, Mapping[str, AnyRow]]) -> Corrected:
    found = Corrected(visit, visit.outcome or Outcome.UNCHANGED, visit.reason)
    if page is None or page.fetched_at != visit.target.fetched_at:
        found.outcome, found.reason = Outcome.SKIPPED, "the page was read again meanwhile"
    elif visit.outcome is None:
        rows = before.get(page.id, {})
        _listings(work, found, page, rows)
        if found.rows_written or found.differences:
            found.outcome = Outcome.CHANGED
            after = {variant_key(listing): listing for listing in visit.listings}
            found.facts = correction_facts(active_of(rows), after, vanished=found.vanished, record=visit.content_hash)
        _vouch(work, visit, page)
    _enter(work, found)
    return found


def _listings(work: _Work, found: Corrected, page: AnyRow, before: Mapping[str, AnyRow]) -> None:
    visit, left = found.visit, dict(before)
    unobserved = any(problem.field == VARIANTS for problem in visit.problems)
    for listing in visit.listings:
        row = left.pop(variant_key(listing), None)
        if row is None:
            _insert(work, found, page, listing, before)
        else:
            _rewrite(work, found, page, listing, row)
    for variant, row in left.items():
        if row.status == ListingStatus.ACTIVE.value and not (variant and unobserved):
            found.vanished += 1
            found.rows_written += 1
            work.rows.add("variant_missing", {"of_listing": row.id, "seen_at": row.last_seen_at})
            _differs(work, found, page, variant, [("status", row.status, ListingStatus.MISSING.value)])


def _rewrite(work: _Work, found: Corrected, page: AnyRow, listing: Listing, row: AnyRow) -> None:
    values = values_of(listing)
    changed = {name: value for name, value in values.items() if value != getattr(row, name)}
    fields = [(name, getattr(row, name), value) for name, value in changed.items() if name not in _PROVENANCE]
    if row.missing_why == "variant" and row.status == ListingStatus.MISSING.value:
        work.rows.add("variant_found", {"of_listing": row.id})
        fields.append(("status", row.status, ListingStatus.ACTIVE.value))
    if changed or row.parser_version != work.run.parser_version:
        work.rows.add("listing_corrected", {"of_listing": row.id, **renamed({**values, **_provenance(work, found)})})
    if not fields:
        return
    found.rows_written += 1
    if any(name in changed for name in _OFFER):
        _offer(work, found, page, row.variant_id, values)
    _differs(work, found, page, row.variant_id, fields, changes_between(listing_of(row), listing))


def _insert(work: _Work, found: Corrected, page: AnyRow, listing: Listing, before: Mapping[str, AnyRow]) -> None:
    """Add a listing that the page had all along. One of a page that went missing since is missing like the others."""
    values, variant, at_ms = values_of(listing), variant_key(listing), found.visit.at_ms
    gone = next((row for row in before.values() if row.missing_why == "page"), None)
    row = {
        **values,
        **_provenance(work, found),
        "page_id": page.id,
        "variant_id": variant,
        "store": work.run.store,
        "status": gone.status if gone else ListingStatus.ACTIVE.value,
        "missing_why": "page" if gone else "",
        "tier": found.visit.tier,
        "first_seen_at": at_ms,
        "last_seen_at": at_ms,
        "last_checked_at": at_ms,
        "last_changed_at": at_ms,
    }
    work.rows.add("listing_new", row)
    found.appeared += 1
    found.rows_written += 1
    _offer(work, found, page, variant, values)
    fields = [(name, None, value) for name, value in values.items() if value is not None and name not in _PROVENANCE]
    blank = Listing(store=listing.store, url_key=listing.url_key, url=listing.url, variant_id=listing.variant_id)
    _differs(work, found, page, variant, fields, changes_between(blank, listing))


def _provenance(work: _Work, found: Corrected) -> dict[str, Any]:
    return {
        "parser": work.run.parser or work.run.store,
        "parser_version": work.run.parser_version,
        "page_sha256": found.visit.page_sha256,
        "run_id": work.run.run_id,
    }


def _offer(work: _Work, found: Corrected, page: AnyRow, variant: str, values: Mapping[str, Any]) -> None:
    offer = {name: values[name] for name in _OFFER}
    of_page = {"page_id": page.id, "variant_id": variant, "run_id": work.run.run_id, "at": found.visit.at_ms}
    work.rows.add("offer", {**offer, **of_page, "cause": CAUSE})


def _differs(
    work: _Work,
    found: Corrected,
    page: AnyRow,
    variant: str,
    fields: Sequence[tuple[str, Any, Any]],
    tracked: Sequence[FieldChange] | None = None,
) -> None:
    """Note what differs; where it's announced, the tracked fields are (None: all of these)."""
    found.differences += [Difference(page.url_key, variant, *one) for one in fields]
    told = fields if tracked is None else tracked
    if not (work.announce and told):
        return
    found.changes += 1
    run = work.run
    identity = "\n".join((run.store, page.url_key, variant, str(run.run_id), str(found.visit.at_ms), CAUSE))
    work.rows.add(
        "change",
        {
            "id": hashlib.sha256(identity.encode()).hexdigest(),
            "type": CAUSE,
            "store": run.store,
            "url_key": page.url_key,
            "variant_id": variant,
            "fields": orjson.dumps(
                [dict(zip(("field", "before", "after"), one, strict=True)) for one in told]
            ).decode(),
            "run_id": run.run_id,
            "at": work.now_ms,
        },
    )


def _vouch(work: _Work, visit: Visit, page: AnyRow) -> None:
    """Have the page say which parser its record is by: the validators that came with these bytes may be sent again."""
    now = {
        "content_hash": visit.content_hash,
        "details_hash": visit.details_hash,
        "source_hash": visit.source_hash or None,
        "hash_version": work.run.hash_version,
        "parser_version": work.run.parser_version,
    }
    if any(getattr(page, name) != value for name, value in now.items()):
        work.rows.add("page_corrected", {"of_page": page.id, **renamed(now)})


def _enter(work: _Work, found: Corrected) -> None:
    visit, run = found.visit, work.run
    work.rows.add(
        "visit",
        {
            "run_id": run.run_id,
            "store": run.store,
            "page_id": visit.target.page_id,
            "tier": visit.tier,
            "at": work.now_ms,
            "page_type": visit.target.page_type.value,
            "outcome": found.outcome.value,
            "http_status": visit.status,
            "reason": found.reason[:_LONGEST_REASON],
            "requests": 0,
            "bytes": 0,
            "elapsed_ms": 0,
            "rows_written": found.rows_written,
            "changes": found.changes,
        },
    )
