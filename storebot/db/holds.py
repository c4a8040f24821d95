"""Holds: visits that the write gate did not publish. A page has one open at most, its newest."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Any

from sqlalchemy import Connection, Select, bindparam, func, insert, select, update

from storebot.db.schema import holds, pages
from storebot.db.types import AnyRow

_CHUNK = 500  # pages a statement
_BRIEF = (
    holds.c.id,
    holds.c.page_id,
    holds.c.run_id,
    holds.c.kind,
    holds.c.status,
    holds.c.gate,
    holds.c.content_hash,
    holds.c.stale_since,
)
_TOLD = tuple(column for column in holds.c if column.name not in ("visit", "facts"))


class HoldStatus(StrEnum):
    """Where a hold stands. The first two are open: what was seen isn't published, and may yet be."""

    WAITING = "waiting"  # its run is young, or looks at the page once more
    HELD = "held"  # a gate tripped: somebody has to decide
    APPROVED = "approved"
    REJECTED = "rejected"
    SUPERSEDED = "superseded"  # the page was seen anew, and that counts


OPEN = (HoldStatus.WAITING.value, HoldStatus.HELD.value)
_IS_OPEN = holds.c.status.in_(OPEN)
_OPEN_OF = select(*_BRIEF, holds.c.facts).where(holds.c.page_id.in_(bindparam("ids", expanding=True)), _IS_OPEN)


def open_pages(conn: Connection, store: str) -> set[int]:
    """Return the ids of the store's pages that have an open hold."""
    return set(conn.execute(select(holds.c.page_id).where(holds.c.store == store, _IS_OPEN)).scalars())


def open_of(conn: Connection, page_ids: Collection[int]) -> dict[int, AnyRow]:
    """Return the open hold of each of these pages that has one."""
    if not page_ids:
        return {}
    return {row.page_id: row for row in conn.execute(_OPEN_OF, {"ids": sorted(page_ids)})}


def stale_since(conn: Connection, store: str) -> int | None:
    """Return since when something of the store isn't published as it was seen; None where all is. For exports.

    Milliseconds: the first observation of the oldest series of open holds.
    """
    query = select(func.min(holds.c.stale_since)).where(holds.c.store == store, _IS_OPEN)
    found: int | None = conn.execute(query).scalar()
    return found


def put(conn: Connection, row: Mapping[str, Any], before: AnyRow | None) -> None:
    """Hold a visit. ``before`` is the page's open hold: if that saw the same it stays, with this visit in it.

    ``row`` has all columns but the id and those of a decision; its ``stale_since`` is that of a first hold.
    """
    if before is None:
        conn.execute(insert(holds).values(**row))
    elif (before.kind, before.content_hash) == (row["kind"], row["content_hash"]):
        kept = {name: value for name, value in row.items() if name not in ("created_at", "stale_since")}
        conn.execute(update(holds).where(holds.c.id == before.id).values(**kept))
    else:
        why = f"run {row['run_id']} saw something else again"
        supersede(conn, [before.page_id], row["created_at"], why)
        conn.execute(insert(holds).values(**{**row, "stale_since": before.stale_since}))


def supersede(conn: Connection, page_ids: Iterable[int], at: int, why: str) -> None:
    """Close the open holds of pages that were seen anew."""
    wanted = sorted(page_ids)
    for start in range(0, len(wanted), _CHUNK):
        of_pages = holds.c.page_id.in_(wanted[start : start + _CHUNK])
        close(conn, of_pages & _IS_OPEN, HoldStatus.SUPERSEDED, at, why=why)


def close(conn: Connection, which: Any, status: HoldStatus, at: int, *, by: str = "", why: str = "") -> int:
    """Decide holds, and let go of what publishing them would take; return how many."""
    values = {"status": status.value, "decided_at": at, "decided_by": by, "why": why, "visit": "", "facts": ""}
    return conn.execute(update(holds).where(which).values(values)).rowcount


def trip(conn: Connection, store: str, run_id: int, gate: str, reason: str) -> int:
    """Have all that waits in a store be held by one gate, in the name of the run that judged; return how many."""
    waiting = (holds.c.store == store) & (holds.c.status == HoldStatus.WAITING.value)
    values = {"status": HoldStatus.HELD.value, "gate": gate, "reason": reason, "run_id": run_id}
    return conn.execute(update(holds).where(waiting).values(values)).rowcount


def waiting(conn: Connection, store: str, gate: str, *, after_id: int = 0, limit: int | None = None) -> list[AnyRow]:
    """Return what waits in one gate's name ("" for none), whole, by id; not those whose page is claimed."""
    query = (
        select(holds)
        .join(pages, pages.c.id == holds.c.page_id)
        .where(holds.c.store == store, holds.c.status == HoldStatus.WAITING.value, holds.c.gate == gate)
        .where(holds.c.id > after_id, pages.c.claim_token == "")
        .order_by(holds.c.id)
        .limit(limit)
    )
    return list(conn.execute(query))


def waiting_facts(conn: Connection, store: str) -> dict[int, str]:
    """Return the facts of all that waits in a store, by page."""
    mine = (holds.c.store == store) & (holds.c.status == HoldStatus.WAITING.value)
    return {row.page_id: row.facts for row in conn.execute(select(holds.c.page_id, holds.c.facts).where(mine))}


def mark(conn: Connection, ids: Sequence[int], **values: str) -> None:
    """Set columns of some holds."""
    if ids:
        conn.execute(update(holds).where(holds.c.id.in_(ids)).values(**values))


def remove(conn: Connection, ids: Sequence[int]) -> None:
    """Remove holds of a run that were published before it ended: they only waited."""
    if ids:
        conn.execute(holds.delete().where(holds.c.id.in_(ids)))


def held_by(conn: Connection, run_id: int) -> list[tuple[str, str, int]]:
    """Return (gate, reason, holds) of what a run left held, the most frequent reason first."""
    held = (holds.c.run_id == run_id) & (holds.c.status == HoldStatus.HELD.value)
    query = select(holds.c.gate, holds.c.reason, func.count().label("holds")).where(held)
    rows = conn.execute(query.group_by(holds.c.gate, holds.c.reason))
    return sorted(((row.gate, row.reason, row.holds) for row in rows), key=lambda row: (-row[2], row))


def find(
    conn: Connection,
    *,
    store: str | None = None,
    run_id: int | None = None,
    ids: Sequence[int] = (),
    closed: bool = False,
    limit: int | None = None,
) -> list[AnyRow]:
    """Return holds with the address of their page, oldest first, without what publishing takes: that is much.

    The open ones, or all with ``closed``.
    """
    query: Select[Any] = select(*_TOLD, pages.c.url).join(pages, pages.c.id == holds.c.page_id).order_by(holds.c.id)
    if not closed:
        query = query.where(_IS_OPEN)
    if store is not None:
        query = query.where(holds.c.store == store)
    if run_id is not None:
        query = query.where(holds.c.run_id == run_id)
    if ids:
        query = query.where(holds.c.id.in_(ids))
    return list(conn.execute(query.limit(limit)))
