"""What a store's circuit breaker, and how slowly the store had to be asked, remember from run to run."""

from __future__ import annotations

from datetime import UTC, datetime

from sqlalchemy import Connection, select, update

from storebot.core.breaker import Breaker, State, Way, calmed, half_opened, way
from storebot.core.overrides import Override, forced
from storebot.core.pacing import Pace
from storebot.db.dialects import insert_missing, now_ms
from storebot.db.schema import stores
from storebot.db.types import AnyRow
from storebot.exceptions import BreakerOpen, ConfigurationError

_COLUMNS = (
    stores.c.breaker_state,
    stores.c.breaker_opened_at,
    stores.c.breaker_until,
    stores.c.breaker_trips,
    stores.c.breaker_reason,
)


def load(conn: Connection, store: str) -> Breaker:
    """Return what is saved of the store's breaker; a closed one for a store that never tripped it."""
    row = conn.execute(select(*_COLUMNS).where(stores.c.name == store)).one_or_none()
    return _breaker(row) if row else Breaker()


def ask(conn: Connection, store: str, kind: str, force: str = "") -> tuple[Breaker, tuple[Override, ...]]:
    """Return the breaker of a run that begins, half-open where one request has to work first, and what is overridden.

    ``force`` ("who: why") is somebody's word that the cool-down needn't be waited for. Raises `BreakerOpen` where the
    store is left alone; nothing is written then.
    """
    now, breaker = now_ms(conn), load(conn, store)
    allowed = way(breaker, now, forced=bool(force))
    if allowed is Way.NONE:
        until = datetime.fromtimestamp(breaker.until / 1000, UTC).strftime("%Y-%m-%d %H:%M")
        raise BreakerOpen(
            f"{store}: its circuit breaker is open until {until} UTC, because {breaker.reason}; no request was sent. "
            f"To ask it nevertheless, with one request at first: scrapy crawl {kind} -a store={store} "
            '-a force="WHO: WHY"'
        )
    if allowed is Way.FREE:
        return breaker, ()
    overridden = way(breaker, now) is Way.NONE
    record(conn, store, half_opened(breaker))
    return half_opened(breaker), (forced(force, breaker.reason),) if overridden else ()


def not_closed(conn: Connection, store: str | None = None) -> dict[str, Breaker]:
    """Return the breakers that are open or half-open, of one store or of all, by store."""
    query = select(stores.c.name, *_COLUMNS).where(
        stores.c.breaker_state.in_([State.OPEN.value, State.HALF_OPEN.value])
    )
    rows = conn.execute((query if store is None else query.where(stores.c.name == store)).order_by(stores.c.name))
    return {row.name: _breaker(row) for row in rows}


def record(conn: Connection, store: str, breaker: Breaker) -> None:
    """Save the state of the store's breaker."""
    insert_missing(conn, stores, [{"name": store}])
    values = {
        "breaker_state": breaker.state.value,
        "breaker_opened_at": breaker.opened_at,
        "breaker_until": breaker.until,
        "breaker_trips": breaker.trips,
        "breaker_reason": breaker.reason,
    }
    conn.execute(update(stores).where(stores.c.name == store).values(values))


def reset(conn: Connection, store: str, by: str, why: str) -> Breaker:
    """End a breaker's cool-down because a person says so, and forget how often it opened; return what it was.

    The next run asks at once, with one request, and its answer decides. Raises ConfigurationError where it isn't open.
    """
    before = load(conn, store)
    values = {
        "breaker_state": State.HALF_OPEN.value,
        "breaker_until": 0,
        "breaker_trips": 0,
        "breaker_reason": f"{before.reason}; reset by {by}: {why}",
    }
    as_it_was = (stores.c.name == store) & (stores.c.breaker_state == State.OPEN.value)
    if conn.execute(update(stores).where(as_it_was).values(values)).rowcount != 1:
        raise ConfigurationError(f"{store}: its circuit breaker is {before.state.value}: there is nothing to reset")
    return before


def pace(conn: Connection, store: str, now_ms: int) -> Pace:
    """Return how slowly a run that begins now has to ask the store, by what the last one met."""
    row = conn.execute(select(stores.c.slow_steps, stores.c.slow_at).where(stores.c.name == store)).one_or_none()
    return Pace(steps=row.slow_steps).remembered(now_ms - row.slow_at) if row else Pace()


def record_end(conn: Connection, store: str, token: str, slowed: Pace, *, calm: bool) -> None:
    """Save how slowly the store was asked; after a ``calm`` run a closed breaker forgets how often it opened.

    Does nothing where the lease is another run's by now.
    """
    ours = update(stores).where(stores.c.name == store, stores.c.lease_token == token)
    if conn.execute(ours.values(slow_steps=slowed.steps, slow_at=now_ms(conn))).rowcount == 1 and calm:
        record(conn, store, calmed(load(conn, store)))


def _breaker(row: AnyRow) -> Breaker:
    return Breaker(
        State(row.breaker_state or State.CLOSED),
        row.breaker_opened_at,
        row.breaker_until,
        row.breaker_trips,
        row.breaker_reason,
    )
