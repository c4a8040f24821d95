"""Saving visits: what each did to its page, its listings and their history, a batch in one transaction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from sqlalchemy import Connection, bindparam, select

from storebot.db import leases, listings, moves, walks
from storebot.db.batch import Batch, renamed
from storebot.db.compare import Compared, Known, compare, first_seen
from storebot.db.context import RunContext as RunContext
from storebot.db.discovery import discover, is_key
from storebot.db.schema import pages
from storebot.db.types import AnyRow
from storebot.db.validators import entity_tag, http_date
from storebot.items import NOT_OBSERVED, CatalogPage, Outcome, PageStatus, Record, Visit, WalkEnd

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
    )
    .where(pages.c.store == bindparam("of_store"), pages.c.id.in_(bindparam("ids", expanding=True)))
    .order_by(pages.c.id)
    .with_for_update()
)
_LONGEST_REASON = 1000
_STRUCK = frozenset({Outcome.ERROR, Outcome.INVALID, Outcome.MOVED})  # a page never parsed is then `error`


class Saved(NamedTuple):
    """What became of one record: for a visit its outcome, for a page of a walk how many pages it brought."""

    record: Record
    outcome: Outcome | None = None  # None for a page of a walk
    rows_written: int = 0  # listing rows, inserted or rewritten
    changes: int = 0  # change events
    reason: str = ""
    new_pages: int = 0


@dataclass(frozen=True, slots=True)
class _Work:
    """One batch: the pages and listings that it's about, and the rows that it makes."""

    conn: Connection
    run: RunContext
    known: Mapping[int, Known]
    before: Mapping[int, Mapping[str, AnyRow]]
    rows: Batch


def save(conn: Connection, run: RunContext, records: Sequence[Record]) -> list[Saved]:
    """Save a batch in the caller's transaction, and return what became of each record, in their order.

    Raises `LeaseLost` when another run has the store, `SaveFailed` for a walk's page out of order: nothing of the
    batch may then be committed. A visit whose claim another worker has by now writes nothing: its outcome is
    ``skipped`` with the reason.
    """
    leases.check(conn, run.store, run.lease_token)
    visits = [record for record in records if isinstance(record, Visit)]
    known = _claimed(conn, run.store, visits)
    before = listings.by_page(conn, _to_compare(run, known, visits))
    work = _Work(conn, run, known, before, Batch())
    saved = [_visited(work, record) if isinstance(record, Visit) else _walked(work, record) for record in records]
    work.rows.write(conn)
    return saved


def refused(record: Record, error: Exception) -> Visit | None:
    """Return the visit that takes the place of one whose values the database refuses; None where nothing can.

    Nothing of a walk has such a place: its checkpoint would claim rows that aren't stored.
    """
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
    return {row.id: Known(*row) for row in conn.execute(_CLAIMED, {"of_store": store, "ids": ids})}


def _to_compare(run: RunContext, known: Mapping[int, Known], visits: Sequence[Visit]) -> set[int]:
    """Return the pages whose listing rows have to be read: parsed, known, and not the same as before."""
    parsed = [(visit, known.get(visit.target.page_id)) for visit in visits if visit.outcome is None]
    return {page.id for visit, page in parsed if page and page.content_hash and not _unchanged(run, page, visit)}


def _unchanged(run: RunContext, page: Known, visit: Visit) -> bool:
    return (
        page.content_hash == visit.content_hash
        and (page.details_hash or "") == visit.details_hash
        and not _rebased(run, page)
    )


def _rebased(run: RunContext, page: Known) -> bool:
    return page.parser_version != run.parser_version or page.hash_version != run.hash_version


def _walked(work: _Work, page: CatalogPage | WalkEnd) -> Saved:
    if isinstance(page, WalkEnd):
        if page.checkpoint:
            walks.end_walk(work.conn, page.store, page.walk, page.state, page.reason)
        return Saved(page)
    new = discover(work.conn, page.store, page.found, page.at_ms)
    if page.checkpoint:
        walks.commit_page(work.conn, work.run.run_id, page)
    return Saved(page, new_pages=new)


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
        outcome, reason, compared = (
            _parsed(work, page, visit) if visit.outcome is None else _unparsed(work, page, visit)
        )
    _record(work, visit, outcome, reason, compared)
    return Saved(visit, outcome, compared.rows_written, compared.changes, reason)


def _parsed(work: _Work, page: Known, visit: Visit) -> tuple[Outcome, str, Compared]:
    if not visit.listings and (page.content_hash is None or not _unchanged(work.run, page, visit)):
        raise ValueError(f"{visit.target.url_key}: a visit without an outcome needs listings")
    if moved := _follow(work, page, visit):
        return Outcome.MOVED, moved, Compared()
    if page.content_hash is None:
        outcome, compared = Outcome.NEW, first_seen(work.rows, work.run, page, visit)
    elif _unchanged(work.run, page, visit):
        outcome, compared = Outcome.UNCHANGED, Compared()
    else:
        before = work.before.get(page.id, {})
        compared = compare(work.rows, work.run, page, visit, before, silent=_rebased(work.run, page))
        outcome = Outcome.CHANGED if compared.changes else Outcome.UNCHANGED
    _bring_back(work, page)
    accepted = {
        "content_hash": visit.content_hash,
        "details_hash": visit.details_hash,
        "source_hash": visit.source_hash or None,
        "hash_version": work.run.hash_version,
        "parser_version": work.run.parser_version,
        "etag": entity_tag(visit.etag),
        "last_modified": http_date(visit.last_modified),
        "fetched_at": visit.at_ms,
        "checked_at": visit.at_ms,
        "next_due_at": visit.at_ms + work.run.revisit_after_ms,
    }
    work.rows.add("page_parsed", {"of_page": page.id, **renamed(accepted)})
    return outcome, visit.reason, compared


def _follow(work: _Work, page: Known, visit: Visit) -> str:
    """Let the page follow an accepted redirect; return why nothing is saved where another page is there."""
    to = visit.final_key
    if not to or to == page.url_key or not is_key(to):
        return ""
    store, old = work.run.store, page.url_key
    other = moves.holder_of(work.conn, store, to)
    if other is None or other.id == page.id:
        moves.rename(work.conn, store, page.id, old, to, visit.final_url or visit.target.url, visit.at_ms)
        page.url_key = to
        return ""
    moves.merge(work.conn, store, page.id, old, other, visit.at_ms)
    return f"redirects to {to}, a page that has its own visits"


def _unparsed(work: _Work, page: Known, visit: Visit) -> tuple[Outcome, str, Compared]:
    outcome, reason = visit.outcome or Outcome.ERROR, visit.reason
    if outcome is Outcome.NOT_MODIFIED:
        if page.content_hash is not None and not _rebased(work.run, page):
            _bring_back(work, page)
            times = {"checked_at": visit.at_ms, "next_due_at": visit.at_ms + work.run.revisit_after_ms}
            work.rows.add("page_not_modified", {"of_page": page.id, **renamed(times)})
            return outcome, reason, Compared()
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
        "next_due_at": visit.at_ms + work.run.error_backoff_ms,
        "last_error": reason[:_LONGEST_REASON] or outcome.value,
        "last_failure": outcome.value if outcome in NOT_OBSERVED else "",
    }
    if outcome is Outcome.MISSING:
        if page.content_hash:
            work.rows.add("page_missing_listings", {"of_page": page.id})
        work.rows.add("page_missing", {"of_page": page.id, **renamed({**values, "checked_at": visit.at_ms})})
    else:
        work.rows.add("page_failed", {"of_page": page.id, **renamed(values)})
    return outcome, reason, Compared()


def _bring_back(work: _Work, page: Known) -> None:
    """Have the listings that went missing with their page be active again."""
    if page.misses:
        work.rows.add("page_back_listings", {"of_page": page.id})


def _record(work: _Work, visit: Visit, outcome: Outcome, reason: str, compared: Compared) -> None:
    target, run = visit.target, work.run
    common = {
        "run_id": run.run_id,
        "store": run.store,
        "page_id": target.page_id,
        "tier": visit.tier,
        "at": visit.at_ms,
    }
    work.rows.add(
        "visit",
        {
            **common,
            "page_type": target.page_type.value,
            "outcome": outcome.value,
            "http_status": visit.status,
            "reason": reason[:_LONGEST_REASON],
            "requests": visit.requests,
            "bytes": visit.size_bytes,
            "elapsed_ms": visit.elapsed_ms,
            "rows_written": compared.rows_written,
            "changes": compared.changes,
        },
    )
    for signal in visit.blocks:
        found = {"kind": signal.kind, "value": signal.value[:_LONGEST_REASON], "vendor": signal.vendor[:64]}
        work.rows.add("block", {**common, **found, "url": visit.final_url or target.url})
