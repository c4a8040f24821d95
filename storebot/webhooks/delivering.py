"""Delivering what is due: each subscription gets its changes in their order, one message at a time.

At least once: a message that was taken is sent again, under the same id, where this process dies before that is saved.
"""

from __future__ import annotations

import logging
import secrets
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from functools import partial
from random import Random
from typing import NamedTuple, Protocol

from storebot.core.export.columns import iso
from storebot.core.secrets import shown_url
from storebot.core.webhooks.answers import Answer, Fate, fate
from storebot.core.webhooks.message import body, trial_body
from storebot.core.webhooks.signing import read_secrets, signed
from storebot.core.webhooks.subscription import Subscription
from storebot.db import deliveries, subscriptions
from storebot.db.database import Database, now_ms
from storebot.db.deliveries import Delivery, Status
from storebot.db.retry import retrying
from storebot.db.types import Connection
from storebot.exceptions import ConfigurationError
from storebot.webhooks.posting import TIMEOUT_S, post

logger = logging.getLogger(__name__)

AT_ONCE = 8  # receivers: one that is slow holds up no other
_LEASE_MS = int(TIMEOUT_S * 4000)


class Post(Protocol):
    """`posting.post`, or what stands for it."""

    def __call__(self, url: str, headers: Mapping[str, str], body: bytes, *, allow_private: bool) -> Answer: ...


class Delivered(NamedTuple):
    """What came of it."""

    messages: int = 0  # that were taken
    changes: int = 0  # that they had
    failed: int = 0  # messages that wait to be sent again
    dead: int = 0  # that were given up
    ended: int = 0  # subscriptions, by 410
    unsigned: int = 0  # subscriptions whose secret isn't in the environment

    def plus(self, other: Delivered) -> Delivered:
        """Return both together."""
        return Delivered(*(mine + theirs for mine, theirs in zip(self, other, strict=True)))


def deliver_due(
    database: Database,
    environ: Mapping[str, str],
    *,
    post: Post = post,
    clock: Callable[[Connection], int] = now_ms,
    chance: Callable[[], float] | None = None,
) -> Delivered:
    """Send each subscription what is due for it, until it has everything or a message isn't taken.

    Two processes at once are harmless: one of them sends to a subscription at a time. A receiver that can't be reached
    raises nothing: its message waits. Raises `SaveFailed` where the database can't serve.
    """
    rounds = _Rounds(database, environ, post, clock, chance or Random().random)
    active = [one for one in retrying(database, subscriptions.find, writes=False) if not one.ended]
    if not active:
        return Delivered()
    with ThreadPoolExecutor(min(AT_ONCE, len(active)), thread_name_prefix="storebot-deliver") as pool:
        done = Delivered()
        for one in pool.map(rounds.serve, active):
            done = done.plus(one)
    return done


def send_trial(subscription: Subscription, environ: Mapping[str, str], *, post: Post = post) -> Answer:
    """Post a signed message that says it's a test, past all that waits. Raises ConfigurationError without a secret."""
    keys = read_secrets(subscription.secret_env, environ.get(subscription.secret_env, ""))
    content = trial_body(iso(datetime.now(UTC)))
    headers = signed(f"msg_{secrets.token_hex(16)}", int(time.time()), content, keys)
    return post(subscription.url, headers, content, allow_private=subscription.allow_private)


class _Rounds:
    """One call of `deliver_due`; `serve` may run in several threads at once."""

    def __init__(
        self,
        database: Database,
        environ: Mapping[str, str],
        post: Post,
        clock: Callable[[Connection], int],
        chance: Callable[[], float],
    ) -> None:
        self._database, self._environ, self._post, self._clock, self._chance = database, environ, post, clock, chance

    def serve(self, subscription: Subscription) -> Delivered:
        """Send one subscription what is due."""
        try:
            keys = read_secrets(subscription.secret_env, self._environ.get(subscription.secret_env, ""))
        except ConfigurationError as error:
            logger.error("subscription %d: %s; nothing is sent to it", subscription.id, error)
            return Delivered(unsigned=1)
        token, done = secrets.token_hex(16), Delivered()
        if not retrying(self._database, partial(self._is_due, subscription=subscription), writes=False):
            return done
        if not retrying(self._database, partial(self._take, subscription=subscription, token=token)):
            return done
        try:
            while found := self._next(subscription, token):
                delivery, content = found
                headers = signed(delivery.message_id, int(time.time()), content, keys)
                answer = self._post(subscription.url, headers, content, allow_private=subscription.allow_private)
                settle = partial(self._settle, subscription=subscription, token=token, delivery=delivery, answer=answer)
                came = retrying(self._database, settle)
                done = done.plus(came)
                if not came.messages:
                    break
        finally:
            retrying(self._database, partial(subscriptions.release, subscription_id=subscription.id, token=token))
        return done

    def _is_due(self, conn: Connection, subscription: Subscription) -> bool:
        """Whether there may be something to send. A look that writes nothing: most looks find nothing."""
        waiting = deliveries.waiting(conn, subscription.id)
        if waiting:
            return waiting.next_try_at <= self._clock(conn)
        return deliveries.next_batch(conn, subscription) is not None

    def _take(self, conn: Connection, subscription: Subscription, token: str) -> bool:
        taken = subscriptions.take(conn, subscription.id, token, _LEASE_MS)
        if taken:
            deliveries.forget(conn, subscription.id, self._clock(conn))
        return taken

    def _next(self, subscription: Subscription, token: str) -> tuple[Delivery, bytes] | None:
        """Return the message that is due, and what it says; None where there is none, or it's another's to send."""
        while True:
            with self._database.explaining(), self._database.read() as conn:
                waiting = deliveries.waiting(conn, subscription.id)
                if waiting:
                    if waiting.next_try_at > self._clock(conn):
                        return None
                    return waiting, body(deliveries.changes_of(conn, subscription, waiting))
                batch = deliveries.next_batch(conn, subscription)
            if batch is None:
                return None

            def put(conn: Connection, batch: deliveries.Batch = batch) -> tuple[bool, Delivery | None]:
                mine = subscriptions.keep(conn, subscription.id, token, _LEASE_MS)
                return mine, deliveries.put(conn, subscription, batch, self._clock(conn)) if mine else None

            mine, made = retrying(self._database, put)
            if made:
                return made, body(batch.changes)
            if not mine:
                return None

    def _settle(
        self, conn: Connection, subscription: Subscription, token: str, delivery: Delivery, answer: Answer
    ) -> Delivered:
        """Save what came of a message, unless another process sends to the subscription by now, or it was removed."""
        if not subscriptions.keep(conn, subscription.id, token, _LEASE_MS):
            return Delivered()
        now, whom = self._clock(conn), f"subscription {subscription.id} ({shown_url(subscription.url)})"
        match fate(answer):
            case Fate.DELIVERED:
                deliveries.delivered(conn, delivery, answer, now)
                return Delivered(messages=1, changes=delivery.changes)
            case Fate.GONE:
                why = "its receiver answered 410 Gone"
                deliveries.failed(conn, delivery, answer, now, self._chance())
                subscriptions.end(conn, subscription.id, why)
                logger.warning("%s ended: %s", whom, why)
                return Delivered(ended=1)
            case Fate.FAILED:
                status = deliveries.failed(conn, delivery, answer, now, self._chance())
                logger.warning("%s: a message isn't delivered, it is %s: %s", whom, status.value, answer.reason)
                return Delivered(dead=1) if status is Status.DEAD else Delivered(failed=1)
