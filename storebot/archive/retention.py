"""Which generations of a page are let go."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

DAY_MS = 86_400_000


class Mark(NamedTuple):
    """What retention knows of one generation."""

    fetched_at_ms: int
    content_hash: bytes | str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Retention:
    """What is kept: a generation goes when none of the rules that are set asks for it.

    ``last``: so many of the newest. ``days``: what is younger. ``changed``: each whose record differed from the one
    before it. No rule at all keeps everything. The one that the record was read from never goes, and nothing after it.
    """

    last: int | None = None
    days: int | None = None
    changed: bool = False

    def __post_init__(self) -> None:
        if (self.last is not None and self.last < 1) or (self.days is not None and self.days < 0):
            raise ValueError("keep at least 1 generation, and 0 days or more")


def expired(marks: Sequence[Mark], retention: Retention, now_ms: int, record_at_ms: int | None = None) -> list[int]:
    """Return the times of the generations to let go. ``marks`` are the generations of one page, the oldest first.

    ``record_at_ms`` is the time of the generation that the page's record was read from; None where nobody knows: then
    it's taken for the newest.
    """
    if retention == Retention() or not marks:
        return []
    record_at = marks[-1].fetched_at_ms if record_at_ms is None else min(record_at_ms, marks[-1].fetched_at_ms)
    gone = []
    for place, mark in enumerate(marks):
        newest = retention.last is not None and place >= len(marks) - retention.last
        young = retention.days is not None and now_ms - mark.fetched_at_ms < retention.days * DAY_MS
        moved = retention.changed and (place == 0 or marks[place - 1].content_hash != mark.content_hash)
        if mark.fetched_at_ms < record_at and not (newest or young or moved):
            gone.append(mark.fetched_at_ms)
    return gone


@dataclass(frozen=True, slots=True)
class Expiry:
    """Retention at one time, with the generation that each page's record was read from: its time, by URL key."""

    retention: Retention
    now_ms: int
    record_at: Mapping[str, int]

    def of(self, url_key: str, marks: Sequence[Mark]) -> list[int]:
        """Return the times of a page's generations to let go; ``marks`` are all of them, the oldest first."""
        return expired(marks, self.retention, self.now_ms, self.record_at.get(url_key))
