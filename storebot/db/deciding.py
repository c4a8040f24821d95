"""Somebody decides on holds: approve, reject, or have the pages looked at again; under the store's lease, as a run."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from itertools import groupby
from typing import NamedTuple

from sqlalchemy import Connection, select, update

from storebot.db import holds, leases
from storebot.db.database import Database, now_ms
from storebot.db.held_visit import unpacked
from storebot.db.holders import is_alive, this_process
from storebot.db.holds import HoldStatus
from storebot.db.publishing import publish
from storebot.db.retry import retrying
from storebot.db.schema import holds as table
from storebot.db.schema import pages
from storebot.db.types import AnyRow
from storebot.items import Outcome, PageStatus


class Decision(NamedTuple):
    """What became of one hold: ``refused`` says why it stays as it was, and is "" for one that was decided."""

    hold: AnyRow
    refused: str = ""
    rows_written: int = 0
    changes: int = 0


_Verb = Callable[[Connection, AnyRow, str, "Decider"], Decision]  # of a hold, under a lease's token


class Decider(NamedTuple):
    """Who decides, and why."""

    by: str
    why: str = ""


def approve(
    database: Database, rows: Sequence[AnyRow], by: str, lease_s: float, *, why: str = ""
) -> Iterator[Decision]:
    """Publish holds, each page in a transaction of its own; refuse one whose page was read or changed meanwhile.

    Raises `StoreBusy` where a run has the store.
    """
    return _decide(database, rows, _approve, Decider(by, why), lease_s)


def reject(database: Database, rows: Sequence[AnyRow], by: str, lease_s: float, *, why: str = "") -> Iterator[Decision]:
    """Drop holds: what is published stays. Raises `StoreBusy`."""
    return _decide(database, rows, _reject, Decider(by, why), lease_s)


def retry(database: Database, rows: Sequence[AnyRow], by: str, lease_s: float, *, why: str = "") -> Iterator[Decision]:
    """Have the pages of holds be due at once; the next run decides by what it sees. Raises `StoreBusy`."""
    return _decide(database, rows, _retry, Decider(by, why), lease_s)


def _decide(database: Database, rows: Sequence[AnyRow], verb: _Verb, by: Decider, lease_s: float) -> Iterator[Decision]:
    for store, of_store in groupby(sorted(rows, key=lambda row: (row.store, row.id)), key=lambda row: row.store):
        with _leased(database, store, lease_s) as token:
            for row in of_store:
                yield retrying(database, partial(_decide_one, row=row, verb=verb, token=token, by=by, lease_s=lease_s))


@contextmanager
def _leased(database: Database, store: str, lease_s: float) -> Iterator[str]:
    token = secrets.token_hex(16)
    retrying(database, lambda conn: leases.take(conn, store, token, this_process(), lease_s, is_alive))
    try:
        yield token
    finally:
        retrying(database, lambda conn: leases.release(conn, store, token))


def _decide_one(conn: Connection, row: AnyRow, verb: _Verb, token: str, by: Decider, lease_s: float) -> Decision:
    leases.extend(conn, row.store, token, lease_s)
    if conn.execute(select(table.c.status).where(table.c.id == row.id)).scalar() not in holds.OPEN:
        return Decision(row, "it was decided meanwhile")
    return verb(conn, row, token, by)


def _approve(conn: Connection, row: AnyRow, token: str, by: Decider) -> Decision:
    whole = conn.execute(select(table).where(table.c.id == row.id)).one()
    try:
        run = replace(unpacked(whole.visit).run, lease_token=token)
    except ValueError as error:
        return Decision(row, f"{error}: retry it")
    (saved,) = publish(conn, run, [whole])
    if saved.outcome is Outcome.SKIPPED:
        return Decision(row, f"{saved.reason}: retry it")
    holds.close(conn, table.c.id == row.id, HoldStatus.APPROVED, now_ms(conn), by=by.by, why=by.why)
    return Decision(row, "", saved.rows_written, saved.changes)


def _reject(conn: Connection, row: AnyRow, token: str, by: Decider) -> Decision:
    holds.close(conn, table.c.id == row.id, HoldStatus.REJECTED, now_ms(conn), by=by.by, why=by.why)
    return Decision(row)


def _retry(conn: Connection, row: AnyRow, token: str, by: Decider) -> Decision:
    free = (pages.c.id == row.page_id) & (pages.c.claim_token == "") & (pages.c.status != PageStatus.GONE.value)
    due = conn.execute(update(pages).where(free).values(next_due_at=0)).rowcount
    return Decision(row, "" if due else "its page isn't visited any more: reject it")
