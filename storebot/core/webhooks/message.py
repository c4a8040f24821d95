"""Messages: which changes go together, and what is posted. The same changes always make the same bytes and id."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import orjson

from storebot.core.export.cells import jsonable
from storebot.core.webhooks.subscription import Subscription

TYPE = "listing.changes"
TEST_TYPE = "storebot.test"
MOST_BYTES = 256_000  # of one message; a change that is larger goes alone

Change = Mapping[str, Any]


class Cut(NamedTuple):
    """The first message of some changes."""

    changes: Sequence[Change]  # empty: none of them is wanted
    through: int  # all changes up to this number are in it, or aren't wanted


def cut(subscription: Subscription, changes: Sequence[Change]) -> Cut:
    """Return what of some changes goes into the next message. They are at least one, of one store, in their order."""
    taken: list[Change] = []
    size, through = 0, 0
    for change in changes:
        if subscription.wanted.admits(change):
            size += len(orjson.dumps(jsonable(change)))
            if taken and (len(taken) == subscription.most_changes or size > MOST_BYTES):
                break
            taken.append(change)
        through = change["seq"]
    return Cut(taken, through)


def message_id(subscription_id: int, changes: Sequence[Change]) -> str:
    """Return the id of a message: the same changes for one receiver have one id, however often sent."""
    ids = "\n".join((str(subscription_id), *(change["id"] for change in changes)))
    return f"msg_{hashlib.sha256(ids.encode()).hexdigest()[:32]}"


def body(changes: Sequence[Change]) -> bytes:
    """Return what is posted of some changes of one store, as JSON."""
    data = {"store": changes[0]["store"], "changes": jsonable(list(changes))}
    return orjson.dumps({"type": TYPE, "timestamp": changes[-1]["at"], "data": data})


def trial_body(at: str) -> bytes:
    """Return what ``scrapy deliver test`` posts."""
    return orjson.dumps({"type": TEST_TYPE, "timestamp": at, "data": {"says": "This is a test of storebot."}})
