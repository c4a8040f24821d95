"""Subscriptions to changes: who is posted to, how far each is, and which process posts now."""

from __future__ import annotations

from typing import Any

import orjson
from sqlalchemy import Connection, delete, func, insert, or_, select, true, update

from storebot.core.webhooks.subscription import Subscription, Wanted
from storebot.db.dialects import now_ms, upsert
from storebot.db.schema import changes, cursors, deliveries, stores, subscriptions
from storebot.db.types import AnyRow

_UNDELIVERED = ("waiting", "dead")  # db.deliveries.Status


def add(conn: Connection, subscription: Subscription, *, by: str, after: int | None = None) -> int:
    """Save a new subscription and return its number; its own ``id`` doesn't count.

    It begins with what comes from now on, or with the change after ``after``.
    """
    wanted = subscription.wanted
    row = {
        "url": subscription.url,
        "secret_env": subscription.secret_env,
        "stores": orjson.dumps(wanted.stores).decode(),
        "types": orjson.dumps(wanted.types).decode(),
        "fields": orjson.dumps(wanted.fields).decode(),
        "most_changes": subscription.most_changes,
        "allow_private": int(subscription.allow_private),
        "created_at": now_ms(conn),
        "created_by": by[:255],
    }
    (added,) = conn.execute(insert(subscriptions).values(row)).inserted_primary_key or (0,)
    # A store that has no change yet gets no row: its first one is wanted.
    last = select(changes.c.store, func.max(changes.c.seq).label("seq")).group_by(changes.c.store)
    rows = [
        {"subscription_id": added, "store": store, "seq": seq if after is None else min(after, seq)}
        for store, seq in conn.execute(last)
    ]
    upsert(conn, cursors, rows)
    return int(added)


def find(conn: Connection, ids: tuple[int, ...] = ()) -> list[Subscription]:
    """Return the subscriptions, or those of these numbers, by number."""
    query = select(subscriptions).order_by(subscriptions.c.id)
    return [_read(row) for row in conn.execute(query.where(subscriptions.c.id.in_(ids)) if ids else query)]


def remove(conn: Connection, subscription_id: int) -> bool:
    """Remove a subscription and all that is known of its messages; False where there is none."""
    conn.execute(delete(deliveries).where(deliveries.c.subscription_id == subscription_id))
    conn.execute(delete(cursors).where(cursors.c.subscription_id == subscription_id))
    return conn.execute(delete(subscriptions).where(subscriptions.c.id == subscription_id)).rowcount == 1


def end(conn: Connection, subscription_id: int, why: str) -> None:
    """Send nothing more to a subscription. Its place is kept: `replay` begins again."""
    conn.execute(update(subscriptions).where(subscriptions.c.id == subscription_id).values(ended=why))


def replay(conn: Connection, subscription_id: int, after: int, store: str = "", *, dry_run: bool = False) -> int:
    """Have all changes after a number sent again, of one store or all; return how many these are, wanted or not.

    One that ended is active again, and dead letters of these changes are forgotten. What was never sent is sent as
    well: nothing is passed over. A process that sends to it now finds that it lost it, and writes nothing.
    """
    ours = cursors.c.subscription_id == subscription_id
    undelivered = deliveries.c.status.in_(_UNDELIVERED) & (deliveries.c.last_seq > after)
    waits = (deliveries.c.subscription_id == subscription_id) & undelivered
    later = (changes.c.seq > after) & _of_stores(conn, subscription_id)
    if store:
        ours &= cursors.c.store == store
        waits &= deliveries.c.store == store
        later &= changes.c.store == store
    if not dry_run:
        free = {"ended": "", "lease_token": "", "lease_expires_at": 0}
        conn.execute(update(subscriptions).where(subscriptions.c.id == subscription_id).values(free))
        conn.execute(update(cursors).where(ours & (cursors.c.seq > after)).values(seq=after))
        conn.execute(delete(deliveries).where(waits))
    return int(conn.execute(select(func.count()).select_from(changes).where(later)).scalar_one())


def take(conn: Connection, subscription_id: int, token: str, ttl_ms: int) -> bool:
    """Take the right to send to a subscription, or keep it; False while another process has it, or where it ended."""
    now = now_ms(conn)
    free = or_(subscriptions.c.lease_token.in_(["", token]), subscriptions.c.lease_expires_at <= now)
    active = (subscriptions.c.id == subscription_id) & (subscriptions.c.ended == "")
    values = {"lease_token": token, "lease_expires_at": now + ttl_ms}
    return conn.execute(update(subscriptions).where(active, free).values(values)).rowcount == 1


def keep(conn: Connection, subscription_id: int, token: str, ttl_ms: int) -> bool:
    """Keep the right that `take` gave; False where it is another's by now, or nobody's."""
    ours = (subscriptions.c.id == subscription_id) & (subscriptions.c.lease_token == token)
    values = {"lease_expires_at": now_ms(conn) + ttl_ms}
    return conn.execute(update(subscriptions).where(ours).values(values)).rowcount == 1


def release(conn: Connection, subscription_id: int, token: str) -> None:
    """Give it back. Harmless if another process has it by now."""
    ours = (subscriptions.c.id == subscription_id) & (subscriptions.c.lease_token == token)
    conn.execute(update(subscriptions).where(ours).values(lease_token="", lease_expires_at=0))


def places(conn: Connection, subscription: Subscription) -> list[tuple[str, int]]:
    """Return the stores whose changes a subscription may want, with how far it is: the furthest behind first."""
    known = conn.execute(select(stores.c.name)).scalars()
    mine = select(cursors.c.store, cursors.c.seq).where(cursors.c.subscription_id == subscription.id)
    reached = {row.store: int(row.seq) for row in conn.execute(mine)}
    wanted = [name for name in known if not subscription.wanted.stores or name in subscription.wanted.stores]
    return sorted(((name, reached.get(name, 0)) for name in wanted), key=lambda place: (place[1], place[0]))


def move(conn: Connection, subscription_id: int, store: str, seq: int) -> None:
    """Note that a subscription needs no change of a store any more up to this one."""
    upsert(conn, cursors, [{"subscription_id": subscription_id, "store": store, "seq": seq}])


def _of_stores(conn: Connection, subscription_id: int) -> Any:
    (subscription,) = find(conn, (subscription_id,))
    wanted = subscription.wanted.stores
    return changes.c.store.in_(wanted) if wanted else true()


def _read(row: AnyRow) -> Subscription:
    wanted = Wanted(*(tuple(orjson.loads(getattr(row, name))) for name in Wanted._fields))
    return Subscription(row.id, row.url, row.secret_env, wanted, row.most_changes, bool(row.allow_private), row.ended)
