"""Messages to subscriptions: made of the changes that came, and kept until they are delivered or given up."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Any, NamedTuple

from sqlalchemy import Connection, delete, func, insert, select, update

from storebot.core.webhooks.answers import Answer, is_given_up, next_try_at
from storebot.core.webhooks.message import Change, cut, message_id
from storebot.core.webhooks.subscription import Subscription
from storebot.db import change_feed, subscriptions
from storebot.db.schema import deliveries
from storebot.db.types import AnyRow

DELIVERED_KEPT_MS = 30 * 86_400_000
DEAD_KEPT_MS = 180 * 86_400_000
_READ = 500  # changes at a time, where most may not be wanted


class Status(StrEnum):
    """Where a message stands."""

    WAITING = "waiting"
    DELIVERED = "delivered"
    DEAD = "dead"  # a dead letter: it was tried for days


class Delivery(NamedTuple):
    """A message to one subscription. Times are milliseconds."""

    id: int
    subscription_id: int
    store: str
    message_id: str
    after_seq: int
    last_seq: int
    changes: int
    status: Status
    created_at: int
    next_try_at: int
    attempts: int
    http_status: int
    done_at: int
    last_error: str


class Batch(NamedTuple):
    """What comes next for a subscription, of one store."""

    store: str
    after: int
    through: int
    changes: Sequence[Change]  # empty: what came isn't wanted


class Standing(NamedTuple):
    """How a subscription's messages stand."""

    delivered: int = 0  # of those that are still known
    dead: int = 0
    waiting: Delivery | None = None


def waiting(conn: Connection, subscription_id: int) -> Delivery | None:
    """Return the message that waits for a subscription: there is one at most, and nothing overtakes it."""
    mine = (deliveries.c.subscription_id == subscription_id) & (deliveries.c.status == Status.WAITING.value)
    row = conn.execute(select(deliveries).where(mine).order_by(deliveries.c.id).limit(1)).one_or_none()
    return _delivery(row) if row else None


def changes_of(conn: Connection, subscription: Subscription, delivery: Delivery) -> list[Change]:
    """Return the changes that a message has: the same ones each time."""
    found: list[Change] = []
    after = delivery.after_seq
    while len(found) < delivery.changes and after < delivery.last_seq:
        read = change_feed.after(conn, delivery.store, after, limit=_many(subscription))
        if not read:
            break
        found += [one for one in read if one["seq"] <= delivery.last_seq and subscription.wanted.admits(one)]
        after = read[-1]["seq"]
    return found


def next_batch(conn: Connection, subscription: Subscription) -> Batch | None:
    """Return what comes next for a subscription; None where it has everything. Read-only, and short."""
    for store, seq in subscriptions.places(conn, subscription):
        if found := change_feed.after(conn, store, seq, limit=_many(subscription)):
            taken = cut(subscription, found)
            return Batch(store, seq, taken.through, taken.changes)
    return None


def put(conn: Connection, subscription: Subscription, batch: Batch, now_ms: int) -> Delivery | None:
    """Write the message of a batch and return it; of one without a wanted change write only that it was passed."""
    if not batch.changes:
        subscriptions.move(conn, subscription.id, batch.store, batch.through)
        return None
    row: dict[str, Any] = {
        "subscription_id": subscription.id,
        "store": batch.store,
        "message_id": message_id(subscription.id, batch.changes),
        "after_seq": batch.after,
        "last_seq": batch.through,
        "changes": len(batch.changes),
        "status": Status.WAITING.value,
        "created_at": now_ms,
        "next_try_at": now_ms,
    }
    (number,) = conn.execute(insert(deliveries).values(row)).inserted_primary_key or (0,)
    row |= {"id": number, "status": Status.WAITING, "attempts": 0, "http_status": 0, "done_at": 0, "last_error": ""}
    return Delivery(**row)


def delivered(conn: Connection, delivery: Delivery, answer: Answer, now_ms: int) -> None:
    """Note that a message was taken: what comes after it is next."""
    _over(conn, delivery, Status.DELIVERED, answer, now_ms)


def failed(conn: Connection, delivery: Delivery, answer: Answer, now_ms: int, jitter: float) -> Status:
    """Note that a message wasn't taken, and why; return whether it still waits, or is a dead letter."""
    attempts = delivery.attempts + 1
    if is_given_up(attempts, delivery.created_at, now_ms):
        _over(conn, delivery, Status.DEAD, answer, now_ms)
        return Status.DEAD
    at = next_try_at(attempts, now_ms, answer, jitter)
    _update(conn, delivery, attempts=attempts, http_status=answer.status, last_error=answer.reason, next_try_at=at)
    return Status.WAITING


def standings(conn: Connection) -> dict[int, Standing]:
    """Return how the messages of each subscription stand that has some."""
    query = select(deliveries.c.subscription_id, deliveries.c.status, func.count())
    found: dict[int, Standing] = {}
    counts = conn.execute(query.group_by(deliveries.c.subscription_id, deliveries.c.status)).all()
    for subscription_id, status, count in counts:
        standing = found.get(subscription_id, Standing())
        if status == Status.WAITING.value:
            found[subscription_id] = standing._replace(waiting=waiting(conn, subscription_id))
        elif status == Status.DEAD.value:
            found[subscription_id] = standing._replace(dead=int(count))
        else:
            found[subscription_id] = standing._replace(delivered=int(count))
    return found


def lacking(conn: Connection) -> dict[int, int]:
    """Return up to which change each subscription has all, of those that have messages they didn't take."""
    untaken = deliveries.c.status.in_((Status.WAITING.value, Status.DEAD.value))
    query = select(deliveries.c.subscription_id, func.min(deliveries.c.after_seq)).where(untaken)
    return {number: int(seq) for number, seq in conn.execute(query.group_by(deliveries.c.subscription_id))}


def dead_letters(conn: Connection, subscription_id: int) -> list[Delivery]:
    """Return the messages that were given up, the eldest first."""
    mine = (deliveries.c.subscription_id == subscription_id) & (deliveries.c.status == Status.DEAD.value)
    return [_delivery(row) for row in conn.execute(select(deliveries).where(mine).order_by(deliveries.c.id))]


def forget(conn: Connection, subscription_id: int, now_ms: int) -> None:
    """Let go of what was delivered to a subscription a month ago, and of dead letters after half a year."""
    for status, kept_ms in ((Status.DELIVERED, DELIVERED_KEPT_MS), (Status.DEAD, DEAD_KEPT_MS)):
        mine = (deliveries.c.subscription_id == subscription_id) & (deliveries.c.status == status.value)
        conn.execute(delete(deliveries).where(mine, deliveries.c.done_at < now_ms - kept_ms))


def _many(subscription: Subscription) -> int:
    return _READ if subscription.wanted.is_choosy else subscription.most_changes


def _over(conn: Connection, delivery: Delivery, status: Status, answer: Answer, now_ms: int) -> None:
    error = "" if status is Status.DELIVERED else answer.reason
    values = {"status": status.value, "http_status": answer.status, "done_at": now_ms, "last_error": error}
    _update(conn, delivery, attempts=delivery.attempts + 1, **values)
    subscriptions.move(conn, delivery.subscription_id, delivery.store, delivery.last_seq)


def _update(conn: Connection, delivery: Delivery, **values: Any) -> None:
    conn.execute(update(deliveries).where(deliveries.c.id == delivery.id).values(**values))


def _delivery(row: AnyRow) -> Delivery:
    values = {name: getattr(row, name) for name in Delivery._fields}
    return Delivery(**{**values, "status": Status(row.status)})
