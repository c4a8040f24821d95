"""Which proxies a store has blocked, kept from run to run; without their passwords."""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import Connection, delete, insert, select

from storebot.core.proxy_pool import Rest
from storebot.db.schema import proxies


def load(conn: Connection, store: str) -> tuple[Rest, ...]:
    """Return the rests of a store's proxies, by name; times are milliseconds by the database's clock."""
    query = select(proxies.c.name, proxies.c.rests_until, proxies.c.blocks)
    rows = conn.execute(query.where(proxies.c.store == store).order_by(proxies.c.name))
    return tuple(Rest(row.name, row.rests_until, row.blocks) for row in rows)


def save(conn: Connection, store: str, rests: Iterable[Rest]) -> None:
    """Save these in the place of all that were saved of the store: one that served meanwhile isn't banned any more."""
    conn.execute(delete(proxies).where(proxies.c.store == store))
    rows = [{"store": store, "name": rest.name, "rests_until": rest.until_ms, "blocks": rest.blocks} for rest in rests]
    if rows:
        conn.execute(insert(proxies), rows)
