"""What a store's circuit breaker remembers from run to run."""

from __future__ import annotations

from typing import NamedTuple

from sqlalchemy import Connection, select, update

from storebot.db.dialects import insert_missing
from storebot.db.schema import stores


class Breaker(NamedTuple):
    """The state that the breaker was left in; "" for a store that never tripped it."""

    state: str = ""
    opened_at: int = 0
    reason: str = ""


def load(conn: Connection, store: str) -> Breaker:
    """Return what is saved of the store's breaker."""
    columns = (stores.c.breaker_state, stores.c.breaker_opened_at, stores.c.breaker_reason)
    row = conn.execute(select(*columns).where(stores.c.name == store)).one_or_none()
    return Breaker(*row) if row else Breaker()


def record(conn: Connection, store: str, breaker: Breaker) -> None:
    """Save the state of the store's breaker."""
    insert_missing(conn, stores, [{"name": store}])
    values = {
        "breaker_state": breaker.state,
        "breaker_opened_at": breaker.opened_at,
        "breaker_reason": breaker.reason,
    }
    conn.execute(update(stores).where(stores.c.name == store).values(values))
