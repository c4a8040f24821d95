"""What is wrong now, as the operator has to know it."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class Kind(StrEnum):
    """What kind of thing is wrong."""

    FAILING = "failing"  # runs, or a job, that fail again and again
    BLOCKED = "blocked"
    BREAKER = "breaker"
    HELD = "held"
    SILENT = "silent"  # a store that nothing looks at any more
    OVERDUE = "overdue"  # jobs that no worker takes
    UNEXPECTED = "unexpected"
    BUDGET = "budget"
    DISK = "disk"
    STORE_FILE = "store_file"
    UNDELIVERED = "undelivered"  # a recipient that takes no messages
    WEBHOOK = "webhook"  # a receiver that takes no changes

    @property
    def headline(self) -> str:
        """What it is, for the title of a message."""
        return _TITLES[self]


_TITLES = {
    Kind.FAILING: "fails again and again",
    Kind.BLOCKED: "the shop blocks",
    Kind.BREAKER: "left alone (circuit breaker open)",
    Kind.HELD: "changes are held",
    Kind.SILENT: "nothing has run",
    Kind.OVERDUE: "jobs wait, and no worker takes them",
    Kind.UNEXPECTED: "not as expected",
    Kind.BUDGET: "the month's budget is used up",
    Kind.DISK: "the disk is nearly full",
    Kind.STORE_FILE: "the store file can't be read",
    Kind.UNDELIVERED: "messages can't be delivered",
    Kind.WEBHOOK: "a webhook isn't taken",
}


class Finding(NamedTuple):
    """One thing that is wrong. Two of one `key` are the same thing, whatever their texts say."""

    kind: Kind
    text: str  # what is wrong, in one sentence, with its numbers
    advice: str  # what to do
    store: str = ""
    of: str = ""  # what tells it from others of the kind and store

    @property
    def key(self) -> str:
        """What it goes by: kind, store, and what tells it from others."""
        return " ".join(filter(None, (self.kind.value, self.store, self.of)))
