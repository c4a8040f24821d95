"""The robots.txt of a store's hosts, kept from run to run: it's good for a day (RFC 9309 §2.4)."""

from __future__ import annotations

from typing import NamedTuple

from sqlalchemy import Connection, select

from storebot.db.dialects import now_ms, upsert
from storebot.db.schema import robots


class KeptRobots(NamedTuple):
    """One answer to /robots.txt that says what is allowed. ``body`` is its text; "" where there is none."""

    url: str  # where it was read, after redirects
    status: int
    body: str
    age_ms: int = 0  # when it was loaded, by the database's clock


def load(conn: Connection, store: str, origin: str) -> KeptRobots | None:
    """Return the last one of an origin (scheme and authority), however old; None where none was kept."""
    columns = (robots.c.url, robots.c.status, robots.c.body, robots.c.fetched_at)
    row = conn.execute(select(*columns).where(robots.c.store == store, robots.c.origin == origin)).one_or_none()
    return KeptRobots(row.url, row.status, row.body, max(now_ms(conn) - row.fetched_at, 0)) if row else None


def texts(conn: Connection, store: str) -> dict[str, str]:
    """Return all that are kept of a store, however old: origin -> text; "" where there is none."""
    rows = conn.execute(select(robots.c.origin, robots.c.body).where(robots.c.store == store))
    return {row.origin: row.body for row in rows}


def record(conn: Connection, store: str, origin: str, kept: KeptRobots) -> None:
    """Save one, as fetched now."""
    row = {"url": kept.url, "status": kept.status, "body": kept.body, "fetched_at": now_ms(conn)}
    upsert(conn, robots, [{"store": store, "origin": origin, **row}])
