"""The lease of a store: one run works a store at a time, so that its delays are kept and its rows have one writer."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import NamedTuple

from sqlalchemy import Connection, bindparam, select, update

from storebot.db.dialects import insert_missing, now_ms
from storebot.db.holders import Holder
from storebot.db.schema import stores
from storebot.db.types import AnyRow
from storebot.exceptions import LeaseLost, StoreBusy

_TOKEN = select(stores.c.lease_token).where(stores.c.name == bindparam("store")).with_for_update()


class Taken(NamedTuple):
    """A lease that was taken, with the run of a holder that didn't give it back (dead or expired)."""

    previous_run_id: int | None


def take(
    conn: Connection, store: str, token: str, holder: Holder, ttl_s: float, alive: Callable[[Holder], bool]
) -> Taken:
    """Take the store's lease for ``ttl_s`` by the database's clock, or raise `StoreBusy` saying who has it until when.

    It's free if nobody has it, if it expired, or if ``alive`` says that its holder is certainly dead.
    """
    insert_missing(conn, stores, [{"name": store}])
    row = conn.execute(select(stores).where(stores.c.name == store).with_for_update()).one()
    now = now_ms(conn)
    if row.lease_token not in ("", token) and row.lease_expires_at > now and _may_live(row, alive):
        raise StoreBusy(_busy(store, row))
    values = {
        "lease_token": token,
        "lease_expires_at": now + _ms(ttl_s),
        "lease_holder": str(holder),
        "lease_run_id": 0,
    }
    conn.execute(update(stores).where(stores.c.name == store).values(values))
    return Taken(previous_run_id=row.lease_run_id or None)


def is_held(conn: Connection, store: str, alive: Callable[[Holder], bool]) -> bool:
    """Whether a run works on the store: its lease hasn't expired, and its holder isn't certainly dead."""
    row = conn.execute(select(stores).where(stores.c.name == store)).one_or_none()
    return row is not None and row.lease_token != "" and row.lease_expires_at > now_ms(conn) and _may_live(row, alive)


def note_run(conn: Connection, store: str, token: str, run_id: int) -> None:
    """Note which run works under the lease. Raises `LeaseLost`."""
    _update(conn, store, token, lease_run_id=run_id)


def extend(conn: Connection, store: str, token: str, ttl_s: float) -> None:
    """Keep the lease for ``ttl_s`` from now; call it well before it ends. Raises `LeaseLost`."""
    _update(conn, store, token, lease_expires_at=now_ms(conn) + _ms(ttl_s))


def release(conn: Connection, store: str, token: str) -> None:
    """Give the lease back. Harmless if another run has it by now."""
    ours = (stores.c.name == store) & (stores.c.lease_token == token)
    free = {"lease_token": "", "lease_expires_at": 0, "lease_holder": "", "lease_run_id": 0}
    conn.execute(update(stores).where(ours).values(free))


def check(conn: Connection, store: str, token: str) -> None:
    """Raise `LeaseLost` unless the lease is still ours; no other run can take it before this transaction ends."""
    if not token or conn.execute(_TOKEN, {"store": store}).scalar() != token:
        raise LeaseLost(_lost(store))


def _update(conn: Connection, store: str, token: str, **values: int) -> None:
    ours = (stores.c.name == store) & (stores.c.lease_token == token)
    if conn.execute(update(stores).where(ours).values(values)).rowcount != 1:
        raise LeaseLost(_lost(store))


def _may_live(row: AnyRow, alive: Callable[[Holder], bool]) -> bool:
    holder = Holder.read(row.lease_holder)
    return holder is None or alive(holder)


def _busy(store: str, row: AnyRow) -> str:
    holder = Holder.read(row.lease_holder)
    who = f"process {holder.pid} on {holder.host}" if holder else "another process"
    run = f" (run {row.lease_run_id})" if row.lease_run_id else ""
    until = datetime.fromtimestamp(row.lease_expires_at / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    return f"store {store!r} is being worked by {who}{run}: wait for it, or until {until}, when its lease expires"


def _lost(store: str) -> str:
    return (
        f"the lease of store {store!r} was lost to another run: this one stops, and nothing of its last batch is saved"
    )


def _ms(seconds: float) -> int:
    return round(seconds * 1000)
