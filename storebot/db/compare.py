"""The listings of a parsed page against the rows behind it: what is inserted, rewritten, appended and announced."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import orjson

from storebot.core.diff import changes_between, is_damaged, undamaged
from storebot.db.batch import Batch, renamed
from storebot.db.context import RunContext
from storebot.db.listings import listing_of, values_of, variant_key
from storebot.db.types import AnyRow
from storebot.items import CARD, VARIANTS, Listing, ListingStatus, Visit

Field = tuple[str, Any, Any]  # name, before, after: as JSON values

_ON_CARDS = {"price_minor", "price_min_minor"}
_OFFER = ("price_minor", "regular_price_minor", "currency", "availability")
_STATUS_LOST = ("status", ListingStatus.ACTIVE.value, ListingStatus.MISSING.value)
_STATUS_BACK = ("status", ListingStatus.MISSING.value, ListingStatus.ACTIVE.value)
_STATUS_RELISTED = ("status", ListingStatus.DELISTED.value, ListingStatus.ACTIVE.value)


@dataclass(slots=True)
class Known:
    """A claimed page as the database has it; what an earlier visit of the same batch did to it is noted here."""

    id: int
    url_key: str
    claim_token: str
    content_hash: str | None
    details_hash: str | None
    hash_version: int
    parser_version: str
    misses: int
    checked_at: int | None
    delisted_at: int | None
    unnamed_since: int | None
    etag: str | None
    last_modified: str | None
    change_credit: float
    exposure_h: float
    listed_at: int
    signal: int
    value: float
    category_id: int
    card_price_minor: int | None
    carded_at: int | None


class Compared(NamedTuple):
    """How many listing rows a visit writes, and how many change events it announces."""

    rows_written: int = 0
    changes: int = 0
    on_card: bool = False  # whether one is of a field that a catalogue page's card shows


def first_seen(batch: Batch, run: RunContext, page: Known, visit: Visit) -> Compared:
    """Insert the listings of a page that had none; they're announced only if the run announces new ones."""
    for listing in visit.listings:
        _insert(batch, run, page, visit, listing, cause="seen")
        if run.announce_new:
            _announce(batch, run, page, visit, variant_key(listing), "new", changes_between(_blank(listing), listing))
    return Compared(len(visit.listings), len(visit.listings) if run.announce_new else 0)


def compare(
    batch: Batch, run: RunContext, page: Known, visit: Visit, before: Mapping[str, AnyRow], *, silent: bool
) -> Compared:
    """Rewrite the listings that differ, insert those that appeared, note those that the page no longer names.

    Each is one change event with the fields that differ, but none if ``silent``: then the parser or the hash moved,
    not the market, and all rows are rewritten. Rows of variants stay as they are where the page has variants that it
    doesn't name: they weren't observed.
    """
    left, written, announced, on_card = dict(before), 0, 0, False
    unobserved = any(problem.field == VARIANTS for problem in visit.problems)
    fields: list[Field]
    for listing in visit.listings:
        row = left.pop(variant_key(listing), None)
        if row is None:
            _insert(batch, run, page, visit, listing, cause="rebased" if silent else "seen")
            kind, fields = "new", [*changes_between(_blank(listing), listing)]
        elif _same(row, listing := _spared(row, listing)) and not silent and not confirms_card(page, visit):
            continue
        else:
            kind, fields = _difference(row, listing)
            _rewrite(batch, run, page, visit, listing, row, changed=bool(fields) and not silent, silent=silent)
        written += 1
        if silent and kind == "relisted":  # the product came back to the market, whoever else moved
            fields = [_STATUS_RELISTED]
        elif silent:
            fields = []
        if fields:
            _announce(batch, run, page, visit, variant_key(listing), kind, fields)
            announced += 1
            on_card = on_card or (kind == "changed" and any(name in _ON_CARDS for name, _, _ in fields))
    for variant, row in left.items():
        if row.missing_why == "variant" or (variant and unobserved):
            continue
        if row.status == ListingStatus.DELISTED:
            batch.add("listing_left_out", {"of_listing": row.id})
            continue
        batch.add("variant_missing", {"of_listing": row.id, "seen_at": page.checked_at or row.last_seen_at})
        written += 1
        if not silent:
            _announce(batch, run, page, visit, variant, "missing", [_STATUS_LOST])
            announced += 1
    return Compared(written, announced, on_card)


def relist(batch: Batch, run: RunContext, page: Known, visit: Visit, before: Mapping[str, AnyRow]) -> Compared:
    """Have the listings of a page that came back as it was be active again, each with an event."""
    back = [row for row in before.values() if row.status == ListingStatus.DELISTED and row.missing_why == "page"]
    for row in back:
        batch.add("listing_relisted", {"of_listing": row.id, "back_at": visit.at_ms})
        _announce(batch, run, page, visit, row.variant_id, "relisted", [_STATUS_RELISTED])
    return Compared(len(back), len(back))


def _spared(row: AnyRow, listing: Listing) -> Listing:
    return undamaged(listing_of(row), listing) if is_damaged(listing) else listing


def confirms_card(page: Known, visit: Visit) -> bool:
    """Whether the page itself gives what its card had brought: its record comes from it again."""
    return page.carded_at is not None and visit.source != CARD


def _same(row: AnyRow, listing: Listing) -> bool:
    return bool(
        row.record_hash == listing.record_hash
        and row.details_hash == listing.details_hash
        and row.missing_why != "variant"
        and row.status != ListingStatus.DELISTED
    )


def _difference(row: AnyRow, listing: Listing) -> tuple[str, list[Field]]:
    """Return the type of the change and its fields; no fields where only description or images differ."""
    fields: list[Field] = []
    if row.record_hash != listing.record_hash:
        fields += changes_between(listing_of(row), listing)
    if row.status == ListingStatus.DELISTED:
        return "relisted", [_STATUS_RELISTED, *fields]
    if row.missing_why == "variant":
        return "returned", [_STATUS_BACK, *fields]
    return "changed", fields


def _insert(batch: Batch, run: RunContext, page: Known, visit: Visit, listing: Listing, *, cause: str) -> None:
    values = values_of(listing)
    variant = variant_key(listing)
    row = {
        **values,
        **_provenance(run, visit),
        "page_id": page.id,
        "variant_id": variant,
        "store": run.store,
        "status": ListingStatus.ACTIVE.value,
        "first_seen_at": visit.at_ms,
        "last_changed_at": visit.at_ms,
    }
    batch.add("listing_new", row)
    _offer(batch, run, page, visit, variant, values, cause)


def _rewrite(
    batch: Batch,
    run: RunContext,
    page: Known,
    visit: Visit,
    listing: Listing,
    row: AnyRow,
    *,
    changed: bool,
    silent: bool,
) -> None:
    values = values_of(listing)
    changed_at = visit.at_ms if changed else row.last_changed_at
    new = {**values, **_provenance(run, visit), "last_changed_at": changed_at}
    batch.add("listing_rewritten", {"of_listing": row.id, **renamed(new)})
    if any(values[name] != getattr(row, name) for name in _OFFER):
        _offer(batch, run, page, visit, row.variant_id, values, "rebased" if silent else "seen")


def _provenance(run: RunContext, visit: Visit) -> dict[str, Any]:
    return {
        "parser": run.parser or run.store,
        "parser_version": run.version_of(visit),
        "page_sha256": visit.page_sha256,
        "run_id": run.run_id,
        "tier": visit.tier,
        "last_seen_at": visit.at_ms,
        "last_checked_at": visit.at_ms,
    }


def _offer(
    batch: Batch, run: RunContext, page: Known, visit: Visit, variant: str, values: Mapping[str, Any], cause: str
) -> None:
    offer = {name: values[name] for name in _OFFER}
    cause = CARD if visit.source == CARD and cause == "seen" else cause
    batch.add(
        "offer",
        {**offer, "page_id": page.id, "variant_id": variant, "cause": cause, "run_id": run.run_id, "at": visit.at_ms},
    )


def _announce(
    batch: Batch,
    run: RunContext,
    page: Known,
    visit: Visit,
    variant: str,
    kind: str,
    fields: Sequence[Field],
) -> None:
    batch.add("change", change_row(run.store, run.run_id, page.url_key, variant, visit.at_ms, kind, fields))


def change_row(
    store: str,
    run_id: int,
    url_key: str,
    variant: str,
    at: int,
    kind: str,
    fields: Sequence[Field],
) -> dict[str, Any]:
    """Return the row of a change event. Its id says what happened, when, in which run: a consumer drops what it had."""
    identity = "\n".join((store, url_key, variant, str(run_id), str(at), kind))
    return {
        "id": hashlib.sha256(identity.encode()).hexdigest(),
        "type": kind,
        "store": store,
        "url_key": url_key,
        "variant_id": variant,
        "fields": orjson.dumps(
            [dict(zip(("field", "before", "after"), found, strict=True)) for found in fields]
        ).decode(),
        "run_id": run_id,
        "at": at,
    }


def _blank(listing: Listing) -> Listing:
    return Listing(store=listing.store, url_key=listing.url_key, url=listing.url, variant_id=listing.variant_id)
