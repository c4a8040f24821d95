"""Messages that are to be delivered: written with the alert that they are of, and kept until they are sent."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Any, NamedTuple

from sqlalchemy import Connection, Select, delete, func, insert, select, update

from storebot.core.alerts.message import Channel, Message, Severity
from storebot.core.alerts.retrying import is_given_up, next_try_at
from storebot.db.schema import outbox
from storebot.db.types import ALERT_LENGTH, AnyRow, bounded

SENT_KEPT_MS = 30 * 86_400_000
DEAD_KEPT_MS = 180 * 86_400_000


class Status(StrEnum):
    """Where a message stands."""

    WAITING = "waiting"
    SENT = "sent"
    DEAD = "dead"  # a dead letter: it was tried for days


class Letter(NamedTuple):
    """A message to one recipient. Times are milliseconds."""

    id: int
    channel: Channel
    recipient: str
    service: str
    message: Message
    status: Status
    created_at: int
    next_try_at: int
    attempts: int
    last_error: str


class Backlog(NamedTuple):
    """What one recipient hasn't got."""

    channel: str
    recipient: str
    service: str
    messages: int
    since: int  # the eldest of these was written then
    error: str  # of its last attempt


def put(conn: Connection, messages: Iterable[Message], recipients: Iterable[tuple[str, str]], now_ms: int) -> None:
    """Write messages for each of some recipients, given as their ids and services."""
    rows = [
        {
            "channel": message.channel.value,
            "recipient": recipient,
            "service": service,
            "alert_key": bounded(message.key, ALERT_LENGTH),
            "severity": message.severity.value,
            "title": message.title,
            "body": message.body,
            "status": Status.WAITING.value,
            "created_at": now_ms,
            "next_try_at": now_ms,
        }
        for message in messages
        for recipient, service in recipients
    ]
    if rows:
        conn.execute(insert(outbox), rows)


def due(conn: Connection, channel: Channel, recipient: str, now_ms: int, limit: int) -> list[Letter]:
    """Return the eldest messages that wait for a recipient; none while the first of them isn't to be tried yet.

    So they come in their order, and one that fails holds up the others: it's their recipient who is down.
    """
    waiting = _waiting(channel).where(outbox.c.recipient == recipient)
    rows = conn.execute(waiting.order_by(outbox.c.id).limit(limit)).all()
    return [_letter(row) for row in rows] if rows and rows[0].next_try_at <= now_ms else []


def sent(conn: Connection, letter: Letter, now_ms: int) -> None:
    """Note that a message was delivered."""
    values = {"status": Status.SENT.value, "done_at": now_ms, "attempts": letter.attempts + 1, "last_error": ""}
    _update(conn, letter, **values)


def failed(conn: Connection, letter: Letter, error: str, now_ms: int) -> Status:
    """Note that a message wasn't delivered, and why; return whether it still waits."""
    attempts = letter.attempts + 1
    values: dict[str, object] = {"attempts": attempts, "last_error": error}
    if is_given_up(attempts, letter.created_at, now_ms):
        _update(conn, letter, status=Status.DEAD.value, done_at=now_ms, **values)
        return Status.DEAD
    _update(conn, letter, next_try_at=next_try_at(attempts, now_ms), **values)
    return Status.WAITING


def bury(conn: Connection, channel: Channel, recipients: Sequence[str], before_ms: int, now_ms: int) -> int:
    """Give up what has waited since before a time for recipients that are no more; return how many messages.

    Not at once: a process whose environment lacks one of them must not decide for the others.
    """
    gone = (
        (outbox.c.channel == channel.value)
        & (outbox.c.status == Status.WAITING.value)
        & (outbox.c.created_at < before_ms)
        & outbox.c.recipient.not_in(list(recipients))
    )
    values = {"status": Status.DEAD.value, "done_at": now_ms, "last_error": "its recipient isn't configured any more"}
    return conn.execute(update(outbox).where(gone).values(values)).rowcount


def revive(conn: Connection, now_ms: int) -> int:
    """Have dead letters tried again; return how many."""
    values = {"status": Status.WAITING.value, "attempts": 0, "created_at": now_ms, "next_try_at": now_ms, "done_at": 0}
    return conn.execute(update(outbox).where(outbox.c.status == Status.DEAD.value).values(values)).rowcount


def waiting(conn: Connection) -> set[Channel]:
    """Return the channels in which messages wait."""
    query = select(outbox.c.channel).where(outbox.c.status == Status.WAITING.value).distinct()
    return {Channel(name) for name in conn.execute(query).scalars()}


def waiting_keys(conn: Connection) -> set[str]:
    """Return the keys of the alerts of which a message to the operator waits."""
    return set(conn.execute(_waiting(Channel.OPERATOR).with_only_columns(outbox.c.alert_key).distinct()).scalars())


def backlogs(conn: Connection) -> list[Backlog]:
    """Return what recipients haven't got although it was tried, those who wait longest first."""
    tried = select(
        outbox.c.channel,
        outbox.c.recipient,
        func.max(outbox.c.service).label("service"),
        func.count().label("messages"),
        func.min(outbox.c.created_at).label("since"),
        func.min(outbox.c.id).label("first"),
        func.max(outbox.c.attempts).label("attempts"),
    ).where(outbox.c.status == Status.WAITING.value)
    found = conn.execute(tried.group_by(outbox.c.channel, outbox.c.recipient)).all()
    failing = sorted((row for row in found if row.attempts), key=lambda row: row.since)
    errors = select(outbox.c.id, outbox.c.last_error).where(outbox.c.id.in_([row.first for row in failing]))
    by_id = {row.id: row.last_error for row in conn.execute(errors)} if failing else {}
    return [
        Backlog(row.channel, row.recipient, row.service, int(row.messages), int(row.since), by_id.get(row.first, ""))
        for row in failing
    ]


def counts(conn: Connection) -> dict[tuple[str, str], int]:
    """Count the messages by channel and status."""
    query = select(outbox.c.channel, outbox.c.status, func.count()).group_by(outbox.c.channel, outbox.c.status)
    return {(channel, status): int(count) for channel, status, count in conn.execute(query)}


def newest(conn: Connection, limit: int) -> list[Letter]:
    """Return the newest messages, the newest first."""
    return [_letter(row) for row in conn.execute(select(outbox).order_by(outbox.c.id.desc()).limit(limit))]


def forget(conn: Connection, now_ms: int) -> None:
    """Let go of what was sent a month ago, and of dead letters after half a year."""
    for status, kept_ms in ((Status.SENT, SENT_KEPT_MS), (Status.DEAD, DEAD_KEPT_MS)):
        old = (outbox.c.status == status.value) & (outbox.c.done_at < now_ms - kept_ms)
        conn.execute(delete(outbox).where(old))


def _waiting(channel: Channel) -> Select[Any]:
    return select(outbox).where(outbox.c.status == Status.WAITING.value, outbox.c.channel == channel.value)


def _update(conn: Connection, letter: Letter, **values: object) -> None:
    ours = (outbox.c.id == letter.id) & (outbox.c.status == Status.WAITING.value)
    conn.execute(update(outbox).where(ours).values(**values))


def _letter(row: AnyRow) -> Letter:
    channel = Channel(row.channel)
    return Letter(
        row.id,
        channel,
        row.recipient,
        row.service,
        Message(channel, row.alert_key, Severity(row.severity), row.title, row.body),
        Status(row.status),
        row.created_at,
        row.next_try_at,
        row.attempts,
        row.last_error,
    )
