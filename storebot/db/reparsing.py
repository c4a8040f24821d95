"""A run that reads kept pages again: its lease and row, and the pages whose records it may correct."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from sqlalchemy import BindParameter, ColumnElement, Connection, and_, bindparam, case, select, union_all

from storebot.core.gate_correction import correction_limits
from storebot.core.gate_limits import Declared
from storebot.core.gate_tally import Tally
from storebot.core.overrides import Override
from storebot.db import leases, listings, pages, runs
from storebot.db.context import RunContext
from storebot.db.gating import Gate, gate_note
from storebot.db.holders import is_alive, this_process
from storebot.db.schema import aliases
from storebot.db.schema import pages as table
from storebot.items import PageStatus, RunStatus, Target

KIND = "reparse"
_CHUNK = 500  # keys a statement
_IDS: BindParameter[Sequence[int]] = bindparam("ids", expanding=True)
_SUBJECT = (  # a page's row has five times as many columns
    table.c.id,
    table.c.url,
    table.c.url_key,
    table.c.content_hash,
    table.c.canonical_key,
    table.c.hash_version,
    table.c.parser_version,
    table.c.fetched_at,
    table.c.checked_at,
)


class Subject(NamedTuple):
    """A page with a record, and the keys that the page it was read from may be kept under: its own, then older ones."""

    target: Target
    keys: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Which pages: those with a record, fetched since a time. ``version`` and ``hash_version`` are those of today."""

    store: str
    version: str
    hash_version: int
    since_ms: int = 0

    def by_today(self) -> ColumnElement[bool]:
        """Return the condition for a page whose record is by today's parser."""
        return and_(table.c.parser_version == self.version, table.c.hash_version == self.hash_version)


def subject_ids(conn: Connection, wanted: Selection) -> array[int]:
    """Return the ids of the pages, those first whose record is by an older parser: a run that was killed goes on so."""
    query = (
        select(table.c.id)
        .where(
            table.c.store == wanted.store,
            table.c.content_hash.is_not(None),
            table.c.parser_version.not_like("%+%"),  # a feed carried it, and no page stands behind it
            table.c.carded_at.is_(None),  # a card brought a price that is newer than the kept page
            table.c.fetched_at >= wanted.since_ms,
            table.c.status != PageStatus.GONE.value,
        )
        .order_by(case((wanted.by_today(), 1), else_=0), table.c.id)
    )
    return array("q", conn.execute(query).scalars())


def subjects(conn: Connection, wanted: Selection, ids: Sequence[int]) -> list[Subject]:
    """Return some of these pages, in the order of their ids."""
    query = select(*_SUBJECT).where(table.c.store == wanted.store, table.c.id.in_(_IDS)).order_by(table.c.id)
    rows = conn.execute(query, {"ids": list(ids)}).all()
    older = _older_keys(conn, wanted.store, ids)
    return [
        Subject(
            Target(
                store=wanted.store,
                url=row.url,
                url_key=row.url_key,
                page_id=row.id,
                content_hash=row.content_hash,
                canonical_key=row.canonical_key,
                hash_version=row.hash_version,
                parser_version=row.parser_version,
                fetched_at=row.fetched_at,
                checked_at=row.checked_at or 0,
            ),
            (row.url_key, *older.get(row.id, ())),
        )
        for row in rows
    ]


def _older_keys(conn: Connection, store: str, page_ids: Sequence[int]) -> dict[int, list[str]]:
    query = select(aliases.c.page_id, aliases.c.old_key).where(aliases.c.store == store, aliases.c.page_id.in_(_IDS))
    found: dict[int, list[str]] = {}
    for page_id, key in conn.execute(query, {"ids": list(page_ids)}) if page_ids else ():
        found.setdefault(page_id, []).append(key)
    return found


def records_at(conn: Connection, store: str, keys: Sequence[str]) -> dict[str, int]:
    """Return, of those of these keys that a page goes by or went by, when its record's page was fetched."""
    named: BindParameter[Sequence[str]] = bindparam("keys", expanding=True)
    own = select(table.c.url_key, table.c.fetched_at).where(
        table.c.store == store, table.c.url_key.in_(named), table.c.fetched_at.is_not(None)
    )
    led = (
        select(aliases.c.old_key, table.c.fetched_at)
        .join(table, table.c.id == aliases.c.page_id)
        .where(aliases.c.store == store, aliases.c.old_key.in_(named), table.c.fetched_at.is_not(None))
    )
    found: dict[str, int] = {}
    for start in range(0, len(keys), _CHUNK):
        rows = conn.execute(union_all(led, own), {"keys": list(keys[start : start + _CHUNK])})
        found.update((key, at) for key, at in rows)
    return found


def begin(
    conn: Connection, wanted: Selection, token: str, lease_s: int, overrides: Sequence[Override] = ()
) -> RunContext:
    """Take the store's lease, close what dead runs left open, and start a run. Raises `StoreBusy`."""
    store = wanted.store
    leases.take(conn, store, token, this_process(), lease_s, is_alive)
    runs.mark_interrupted(conn, store)
    pages.release(conn, store, keep_token=token)
    run_id = runs.start(
        conn,
        store,
        KIND,
        parser_version=wanted.version,
        hash_version=wanted.hash_version,
        token=token,
        overrides=overrides,
    )
    return context(wanted, run_id, token)


def gate(declared: Declared, pages_read: int) -> Gate:
    """Return the write gate of a re-parse of so many pages."""
    return Gate(correction_limits(declared, pages_read), Tally(), ())


def context(wanted: Selection, run_id: int = 0, token: str = "") -> RunContext:
    """Return what the corrections of a run share; without a run, what they are compared by."""
    return RunContext(
        run_id=run_id,
        store=wanted.store,
        lease_token=token,
        kind=KIND,
        announce_new=False,
        revisit_after_ms=0,
        error_backoff_ms=0,
        parser_version=wanted.version,
        hash_version=wanted.hash_version,
    )


def extend(conn: Connection, run: RunContext, lease_s: int) -> None:
    """Keep the store's lease. Raises `LeaseLost`."""
    leases.extend(conn, run.store, run.lease_token, lease_s)


def finish(conn: Connection, run: RunContext, status: RunStatus, reason: str, gate: Gate | None) -> None:
    """Write the run's row, with what its visits add up to and how its gate stood, and give the lease back."""
    totals = runs.totals(conn, run.run_id)
    runs.finish(
        conn,
        run.run_id,
        status,
        reason,
        outcomes=totals.outcomes,
        rows_written=totals.rows_written,
        rows_skipped=totals.rows_skipped,
        change_events=totals.change_events,
        pages_known=sum(pages.counts(conn, run.store).values()),
        listings_known=listings.count(conn, run.store),
        gate=gate_note(gate) if gate is not None else None,
    )
    leases.release(conn, run.store, run.lease_token)
