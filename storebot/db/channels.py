"""The channels of messages: who tends one now, and which changes a digest may tell of."""

from __future__ import annotations

from typing import NamedTuple

from sqlalchemy import Connection, func, or_, select, update

from storebot.db.dialects import insert_missing, now_ms
from storebot.db.schema import changes, channels

SETTLED_MS = 60_000
"""So long after a change was seen, all that have a lower number are committed, or never will be: transactions that
write changes take seconds. On MariaDB and PostgreSQL a number is given before its transaction commits."""


class Marks(NamedTuple):
    """How far the changes are told."""

    safe_seq: int  # all up to this one are there
    done_seq: int  # up to this one they are told
    digest_at: int  # when that was; 0: never


def lock(conn: Connection, name: str) -> Marks:
    """Hold a channel until the transaction ends, so that two processes don't say the same; return its marks."""
    insert_missing(conn, channels, [{"name": name}])
    row = conn.execute(select(channels).where(channels.c.name == name).with_for_update()).one()
    return Marks(row.safe_seq, row.done_seq, row.digest_at)


def advance(conn: Connection, name: str, now: int) -> int:
    """Look at the newest change; return up to which one all are certainly there. Call it under `lock`."""
    row = conn.execute(select(channels).where(channels.c.name == name)).one()
    if row.seen_at and now - row.seen_at < SETTLED_MS:
        return int(row.safe_seq)
    newest = int(conn.execute(select(func.coalesce(func.max(changes.c.seq), 0))).scalar_one())
    safe = row.seen_seq if row.seen_at else 0
    values = {"safe_seq": safe, "seen_seq": newest, "seen_at": now}
    if not row.seen_at:  # a new channel begins with what comes from now on
        values["done_seq"] = newest
    conn.execute(update(channels).where(channels.c.name == name).values(values))
    return int(safe)


def digested(conn: Connection, name: str, done_seq: int, at: int) -> None:
    """Note that a digest was made of all changes up to one."""
    conn.execute(update(channels).where(channels.c.name == name).values(done_seq=done_seq, digest_at=at))


def take(conn: Connection, name: str, token: str, ttl_ms: int) -> bool:
    """Take the right to send to a channel, or extend it; False while another process has it."""
    insert_missing(conn, channels, [{"name": name}])
    now = now_ms(conn)
    free = or_(channels.c.lease_token.in_(["", token]), channels.c.lease_expires_at <= now)
    claim = update(channels).where(channels.c.name == name, free)
    return conn.execute(claim.values(lease_token=token, lease_expires_at=now + ttl_ms)).rowcount == 1


def release(conn: Connection, name: str, token: str) -> None:
    """Give it back. Harmless if another process has it by now."""
    ours = (channels.c.name == name) & (channels.c.lease_token == token)
    conn.execute(update(channels).where(ours).values(lease_token="", lease_expires_at=0))
