"""Checkpoints of walks: how far a catalogue or a sitemap is committed, and what its pages held."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from sqlalchemy import Connection, delete, insert, select, update

from storebot.db.dialects import now_ms, upsert
from storebot.db.schema import catalogue_pages, checkpoints
from storebot.db.types import WALK_LENGTH, AnyRow, bounded
from storebot.exceptions import SaveFailed
from storebot.items import CatalogPage, WalkState


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """Where a walk stands: all its pages up to ``page`` are committed; 0 is none."""

    page: int
    state: WalkState
    next_url: str | None = None
    fingerprints: Mapping[int, str] = field(default_factory=dict)  # page -> fingerprint of its keys
    restarted: str | None = None  # why a checkpoint was thrown away


class Walk(NamedTuple):
    """One walk of a store, for a report."""

    walk: str
    page: int
    state: WalkState
    reason: str


def open_walk(conn: Connection, store: str, walk: str, params: str) -> Checkpoint:
    """Return where the walk goes on. It starts anew, at 0, in a new cycle or where its parameters changed.

    Changed parameters (page size, order, filter) make "page 20" another page: ``restarted`` then says so. A walk whose
    end was proven in a backfill that isn't complete yet is returned as ``ended``: nothing of it has to be done again.
    """
    name = bounded(walk, WALK_LENGTH)
    row = _row(conn, store, name)
    if row is None:
        _begin(conn, store, name, params)
        return Checkpoint(page=0, state=WalkState.WALKING)
    if row.params != params:
        _forget(conn, store, name)
        _begin(conn, store, name, params)
        reason = f"{walk}: the walk's parameters changed after page {row.page}, so it starts again from its first page"
        return Checkpoint(page=0, state=WalkState.WALKING, restarted=reason)
    if row.state == WalkState.CLOSED:
        _forget(conn, store, name)
        _begin(conn, store, name, params)
        return Checkpoint(page=0, state=WalkState.WALKING)
    query = select(catalogue_pages.c.number, catalogue_pages.c.fingerprint).where(
        catalogue_pages.c.store == store, catalogue_pages.c.walk == name
    )
    prints = {number: fingerprint for number, fingerprint in conn.execute(query)}
    return Checkpoint(page=row.page, state=WalkState(row.state), next_url=row.next_url, fingerprints=prints)


def is_ended(conn: Connection, store: str, walk: str, params: str) -> bool:
    """Say whether a backfill that isn't complete yet proved the walk's end, by `open_walk`'s rule; open nothing."""
    row = _row(conn, store, bounded(walk, WALK_LENGTH))
    return row is not None and row.params == params and row.state == WalkState.ENDED


def commit_page(conn: Connection, run_id: int, page: CatalogPage) -> None:
    """Advance the checkpoint over a page whose rows are written in this transaction.

    Pages come in order: the next one, or the last one again (a resume steps back one, as catalogues shift). Another
    number, or other parameters, raise `SaveFailed`: the checkpoint would claim a page that isn't stored.
    """
    name = bounded(page.walk, WALK_LENGTH)
    row = _row(conn, page.store, name)
    done = row.page if row else 0
    if (done and page.number not in (done, done + 1)) or (row and row.params != page.params):
        why = "out of order" if done and page.number not in (done, done + 1) else "under other parameters"
        raise SaveFailed(
            f"store {page.store!r}, walk {page.walk!r}: page {page.number} came {why} after page {done}; "
            "it isn't saved, and the next run goes on from there"
        )
    step = {"store": page.store, "walk": name, "run_id": run_id, "at": page.at_ms}
    here = {"page": page.number, "params": page.params, "state": WalkState.WALKING.value, "reason": ""}
    upsert(conn, checkpoints, [{**step, **here, "next_url": page.next_url, "url": page.url}])
    seen = {"number": page.number, "fingerprint": page.fingerprint[:64], "entries": len(page.found)}
    upsert(conn, catalogue_pages, [{**step, **seen}])


def end_walk(conn: Connection, store: str, walk: str, state: WalkState, reason: str) -> None:
    """Note how a walk ended: ``ended`` with its proof, or ``incomplete`` with what was in the way."""
    name = bounded(walk, WALK_LENGTH)
    this = (checkpoints.c.store == store) & (checkpoints.c.walk == name)
    values = {"state": state.value, "reason": reason, "at": now_ms(conn)}
    if conn.execute(update(checkpoints).where(this).values(values)).rowcount != 1:
        raise SaveFailed(f"store {store!r}: walk {walk!r} can't be ended, it was never opened")


def close_walks(conn: Connection, store: str) -> int:
    """Close the ended walks of a complete backfill, so that the next one begins anew; return how many."""
    ended = (checkpoints.c.store == store) & (checkpoints.c.state == WalkState.ENDED.value)
    return conn.execute(update(checkpoints).where(ended).values(state=WalkState.CLOSED.value)).rowcount


def states(conn: Connection, store: str) -> list[Walk]:
    """Return the store's walks, by name."""
    columns = (checkpoints.c.walk, checkpoints.c.page, checkpoints.c.state, checkpoints.c.reason)
    rows = conn.execute(select(*columns).where(checkpoints.c.store == store).order_by(checkpoints.c.walk))
    return [Walk(walk, page, WalkState(state), reason) for walk, page, state, reason in rows]


def _row(conn: Connection, store: str, name: str) -> AnyRow | None:
    this = (checkpoints.c.store == store) & (checkpoints.c.walk == name)
    return conn.execute(select(checkpoints).where(this).with_for_update()).one_or_none()


def _begin(conn: Connection, store: str, name: str, params: str) -> None:
    row = {"store": store, "walk": name, "params": params, "state": WalkState.WALKING.value, "at": now_ms(conn)}
    conn.execute(insert(checkpoints), row)


def _forget(conn: Connection, store: str, name: str) -> None:
    for table in (checkpoints, catalogue_pages):
        conn.execute(delete(table).where(table.c.store == store, table.c.walk == name))
