"""A message to people: plain text, which each channel marks up in its own way."""

from __future__ import annotations

from datetime import datetime, tzinfo
from enum import StrEnum
from typing import NamedTuple


class Channel(StrEnum):
    """Whom a message is for."""

    OPERATOR = "operator"
    BUSINESS = "business"


class Severity(StrEnum):
    """How a message is marked, in the words of Apprise's notify types."""

    FAILURE = "failure"
    WARNING = "warning"
    SUCCESS = "success"
    INFO = "info"


class Message(NamedTuple):
    """What is to be said, once to each recipient of its channel."""

    channel: Channel
    key: str  # of the alert; of a digest, its watch
    severity: Severity
    title: str
    body: str


def clock(at_ms: int, zone: tzinfo) -> str:
    """Return a time as a message has it, in the zone of who reads it."""
    return datetime.fromtimestamp(at_ms / 1000, zone).strftime("%Y-%m-%d %H:%M %Z")
