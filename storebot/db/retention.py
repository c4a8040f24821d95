"""How long the ledger of visits is kept: what they spent stays, by day, in `storebot.db.spending`."""

from __future__ import annotations

from functools import partial

from sqlalchemy import ColumnElement, Connection, delete, func, select

from storebot.db.database import Database
from storebot.db.holds import OPEN
from storebot.db.retry import retrying
from storebot.db.schema import holds, runs, visits

_CHUNK = 5_000  # rows a transaction: a crawl of another store waits no longer than for those


def forget(database: Database, store: str | None, before_ms: int, *, most: int | None = None) -> int:
    """Delete the visits of runs that ended before a time, of one store or of all, and return how many.

    Whole runs at a time, the oldest first, and not those that an open hold is about: publishing it counts them anew.
    Stops when ``most`` visits are gone; the next call goes on. Runs, block pages and price history stay.
    """
    with database.read() as conn:
        old = list(conn.execute(select(runs.c.id).where(_is_over(store, before_ms)).order_by(runs.c.id)).scalars())
    gone = 0
    for run_id in old:
        while deleted := retrying(database, partial(_delete_some, run_id=run_id)):
            gone += deleted
            if most is not None and gone >= most:
                return gone
    return gone


def forgettable(conn: Connection, store: str | None, before_ms: int) -> int:
    """Count the visits that `forget` would delete."""
    old = select(runs.c.id).where(_is_over(store, before_ms))
    query = select(func.count()).select_from(visits).where(visits.c.run_id.in_(old))
    return int(conn.execute(query).scalar_one())


def _is_over(store: str | None, before_ms: int) -> ColumnElement[bool]:
    is_open = holds.c.status.in_(OPEN)
    seen_in = select(visits.c.run_id).join(holds, holds.c.visit_id == visits.c.id).where(is_open)
    over = (
        (runs.c.finished_at < before_ms)
        & select(visits.c.id).where(visits.c.run_id == runs.c.id).exists()
        & runs.c.id.not_in(select(holds.c.run_id).where(is_open))
        & runs.c.id.not_in(seen_in)
    )
    return over if store is None else over & (runs.c.store == store)


def _delete_some(conn: Connection, run_id: int) -> int:
    of_run = visits.c.run_id == run_id
    ids = list(conn.execute(select(visits.c.id).where(of_run).order_by(visits.c.id).limit(_CHUNK)).scalars())
    if not ids:
        return 0
    return conn.execute(delete(visits).where(of_run, visits.c.id.between(ids[0], ids[-1]))).rowcount
