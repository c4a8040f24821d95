"""Messages to subscribers as they are looked at, and how far each subscription is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from sqlalchemy import Connection, Select, func, select

from storebot.core.dashboard.paging import Cursor
from storebot.db.deliveries import Delivery, Status
from storebot.db.paging import go_on
from storebot.db.schema import changes, cursors, deliveries, outbox


class Place(NamedTuple):
    """How far a subscription has the changes of a store, and how many numbers there are beyond."""

    store: str
    seq: int
    behind: int


def listed(
    conn: Connection, choices: Mapping[str, str], after: Cursor | None, *, descending: bool, limit: int
) -> list[Delivery]:
    """Return messages, one more than ``limit``; ``choices``: subscription, store, status."""
    query: Select[Any] = select(*(deliveries.c[name] for name in Delivery._fields))
    for name, column in (("store", deliveries.c.store), ("status", deliveries.c.status)):
        if value := choices.get(name):
            query = query.where(column == value)
    if number := choices.get("subscription"):
        query = query.where(deliveries.c.subscription_id == int(number))
    rows = conn.execute(go_on(query, [deliveries.c.id], after, descending=descending, limit=limit))
    return [Delivery(**{**row._mapping, "status": Status(row.status)}) for row in rows]


def places(conn: Connection) -> dict[int, list[Place]]:
    """Return by subscription how far it is in each store that it has a place in; the newest change tells the rest."""
    newest = {
        store: int(seq)
        for store in conn.execute(select(cursors.c.store).distinct()).scalars().all()
        for seq in [conn.execute(select(func.max(changes.c.seq)).where(changes.c.store == store)).scalar() or 0]
    }
    found: dict[int, list[Place]] = {}
    rows = conn.execute(select(cursors.c.subscription_id, cursors.c.store, cursors.c.seq).order_by(cursors.c.store))
    for number, store, seq in rows:
        found.setdefault(number, []).append(Place(store, seq, max(newest[store] - seq, 0)))
    return found


def dead_messages(conn: Connection) -> int:
    """Count the alerts that were given up."""
    return int(conn.execute(select(func.count()).select_from(outbox).where(outbox.c.status == "dead")).scalar_one())
