"""One look at how things stand, and what follows: alerts and digests are written, and what waits is sent.

The worker does it each minute, ``scrapy alerts send`` for those who have a cron. Two at once are harmless: what is said
is decided under a lock, and a channel is sent to by one process at a time.
"""

from __future__ import annotations

import logging
import os
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, Self

from storebot.core.alerts.alerting import tend as tend_alerts
from storebot.core.alerts.conditions import findings
from storebot.core.alerts.digest import digest
from storebot.core.alerts.message import Channel, Message
from storebot.core.alerts.moves import moves
from storebot.core.alerts.retrying import GIVEN_UP_AFTER_MS
from storebot.db import alerts, channels, digests, outbox
from storebot.db.addresses import database_url
from storebot.db.database import Database, now_ms
from storebot.db.types import Connection
from storebot.notify.alerts_file import AlertsFile, read_alerts_file
from storebot.notify.looking import look
from storebot.notify.recipients import Recipient, read_recipients
from storebot.notify.sending import TIMEOUT_S, deliver

logger = logging.getLogger(__name__)

MOST_CHANGES = 20_000  # that one digest reads; the next goes on
MOST_SENT = 20  # to one recipient at a time: services count by the minute
_LEASE_MS = int(TIMEOUT_S * 2000)

Send = Callable[[Recipient, Message], str]


class Tended(NamedTuple):
    """What came of it."""

    opened: int  # alerts that weren't there before
    cleared: int
    written: int  # messages
    sent: int  # letters: a message to one recipient
    failed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Tending:
    """How it's done: what the alerts file, the environment and the settings say."""

    file: AlertsFile
    recipients: Mapping[Channel, tuple[Recipient, ...]]
    folders: tuple[str, ...] = ()  # of store files
    disks: Mapping[str, Path] = field(default_factory=dict)  # that are written to, by what for

    @classmethod
    def from_settings(cls, settings: Any, environ: Mapping[str, str]) -> Self:
        """Read it from Scrapy's settings and the environment. Raises ConfigurationError."""
        return cls(
            file=read_alerts_file(settings.get("STOREBOT_ALERTS")),
            recipients=read_recipients(environ),
            folders=tuple(folder for folder in settings.get("STOREBOT_STORES").split(os.pathsep) if folder),
            disks=disks(settings),
        )


def disks(settings: Any) -> dict[str, Path]:
    """Return the folders that are written to, by what for: the database, if it's a file, and the page archive."""
    found = {}
    url = database_url(settings.get("STOREBOT_DATABASE_URL"))
    if url.get_backend_name() == "sqlite":
        found["database"] = Path(str(url.database)).absolute().parent
    if (archive := settings.get("STOREBOT_ARCHIVE")) not in ("", "off"):
        found["page archive"] = Path(archive).absolute()
    return found


def tend(database: Database, tending: Tending, *, at_ms: int | None = None, send: Send = deliver) -> Tended:
    """Look once, write what is to be said, and send what waits. ``at_ms``: what time it is, if not now.

    A recipient that can't be reached raises nothing: its messages wait. Raises `DatabaseError` alone.
    """
    with database.explaining():
        with database.read() as conn:
            at = now_ms(conn) if at_ms is None else at_ms
            looked = look(conn, tending.folders, tending.disks, tending.file.limits.failures, at)
        found = findings(looked.facts, tending.file.limits, at)
        with database.write() as conn:
            channels.lock(conn, Channel.OPERATOR.value)
            before = alerts.load(conn)
            operators = tending.recipients[Channel.OPERATOR]
            after, messages = tend_alerts(
                before,
                found,
                at,
                tending.file.rules,
                outbox.waiting_keys(conn),
                looked.unobserved,
                mute=not operators,
            )
            alerts.save(conn, before, after)
            _put(conn, messages, operators, at)
        with database.write() as conn:
            written = _digest(conn, tending, at)
            outbox.forget(conn, at)
            waiting = outbox.waiting(conn)
        done = [
            _send(database, channel, recipients, at_ms, send)
            for channel, recipients in tending.recipients.items()
            if recipients and channel in waiting
        ]
        sent, failed = (sum(counts) for counts in zip((0, 0), *done, strict=True))
    was_open = {key for key, alert in before.items() if alert.open}
    is_open = {key for key, alert in after.items() if alert.open}
    return Tended(len(is_open - was_open), len(was_open - is_open), len(messages) + written, sent, failed)


def _put(conn: Connection, messages: list[Message], recipients: tuple[Recipient, ...], at: int) -> None:
    outbox.put(conn, messages, [(one.id, one.service) for one in recipients], at)
    for message in messages:
        logger.warning("%s: %s", message.title, message.body.partition("\n")[0])


def _digest(conn: Connection, tending: Tending, at: int) -> int:
    """Write the digests that are due; return how many. Without anybody to tell, what moves is passed over."""
    name, terms = Channel.BUSINESS.value, tending.file.terms
    channels.lock(conn, name)
    safe = channels.advance(conn, name, at)
    marks = channels.lock(conn, name)
    recipients = tending.recipients[Channel.BUSINESS]
    if not recipients:
        if safe > marks.done_seq:
            channels.digested(conn, name, safe, at)
        return 0
    if not terms.is_due(marks.digest_at, at):
        return 0
    found = digests.read(conn, marks.done_seq, safe, MOST_CHANGES)
    made = digest(moves(found), digests.load(conn), at, terms)
    digests.save(conn, made.told)
    channels.digested(conn, name, found[-1].seq if len(found) == MOST_CHANGES else max(safe, marks.done_seq), at)
    _put(conn, made.messages, recipients, at)
    return len(made.messages)


def _send(
    database: Database, channel: Channel, recipients: tuple[Recipient, ...], at_ms: int | None, send: Send
) -> tuple[int, int]:
    """Send what waits for a channel's recipients; return how many letters were taken, and how many weren't."""
    token = secrets.token_hex(16)
    sent = failed = 0
    for recipient in recipients:
        for place in range(MOST_SENT):
            with database.write() as conn:
                if not channels.take(conn, channel.value, token, _LEASE_MS):
                    return sent, failed
                at = now_ms(conn) if at_ms is None else at_ms
                letters = outbox.due(conn, channel, recipient.id, at, 1)
            if not letters:
                break
            error = send(recipient, letters[0].message)  # outside of any transaction: it may take half a minute
            with database.write() as conn:
                if not error:
                    outbox.sent(conn, letters[0], at)
                    sent += 1
                    continue
                status = outbox.failed(conn, letters[0], error, at)
            failed += 1
            if place == 0 or status is outbox.Status.DEAD:
                logger.warning("%s %s: not delivered, it is %s: %s", channel.value, recipient, status.value, error)
            break
    with database.write() as conn:
        at = now_ms(conn) if at_ms is None else at_ms
        outbox.bury(conn, channel, [one.id for one in recipients], at - GIVEN_UP_AFTER_MS, at)
        channels.release(conn, channel.value, token)
    return sent, failed
