"""Quiet hours: times of day in which nobody is told what can wait."""

from __future__ import annotations

import re
from datetime import UTC, datetime, time, tzinfo
from typing import NamedTuple, Self

_SPAN = re.compile(r"([01]\d|2[0-3]):([0-5]\d)-([01]\d|2[0-3]):([0-5]\d)")


class QuietHours(NamedTuple):
    """From a time of the local clock until another, each day; over midnight where the end comes first.

    What counts is what the clock on the wall shows, on the days on which clocks are changed, too.
    """

    start: time
    end: time
    zone: tzinfo = UTC

    @classmethod
    def read(cls, text: str, zone: tzinfo) -> Self:
        """Read ``22:00-07:00``. Raises ValueError."""
        found = _SPAN.fullmatch(text)
        if found is None:
            raise ValueError(f"expected times such as 22:00-07:00, got {text!r}")
        hour, minute, end_hour, end_minute = map(int, found.groups())
        if (hour, minute) == (end_hour, end_minute):
            raise ValueError(f"expected two different times, got {text!r}")
        return cls(time(hour, minute), time(end_hour, end_minute), zone)

    def cover(self, at_ms: int) -> bool:
        """Whether a time lies in them."""
        clock = datetime.fromtimestamp(at_ms / 1000, self.zone).time()
        if self.start < self.end:
            return self.start <= clock < self.end
        return clock >= self.start or clock < self.end
