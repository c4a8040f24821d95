"""Calendar months and days of UTC, by which spending is added up."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import NamedTuple, Self

DAY_MS = 86_400_000
_NAME = re.compile(r"(\d{4})-(0[1-9]|1[0-2])")


class Month(NamedTuple):
    """A month: its first millisecond, and the first of the one after it."""

    start_ms: int
    end_ms: int

    @classmethod
    def at(cls, at_ms: int) -> Self:
        """Return the month that a time is in."""
        moment = datetime.fromtimestamp(at_ms // 1000, UTC)
        return cls(_start(moment.year, moment.month), _start(moment.year, moment.month + 1))

    @classmethod
    def named(cls, name: str) -> Self:
        """Return the month of a text such as ``2026-07``. Raises `ValueError`."""
        found = _NAME.fullmatch(name)
        if found is None or not 1 <= int(found[1]) <= 9998:
            raise ValueError(f"expected a month such as 2026-07, got {name!r}")
        return cls(_start(int(found[1]), int(found[2])), _start(int(found[1]), int(found[2]) + 1))

    @property
    def name(self) -> str:
        """Its text, such as ``2026-07``."""
        return datetime.fromtimestamp(self.start_ms // 1000, UTC).strftime("%Y-%m")

    @property
    def days(self) -> range:
        """Its days, counted from the epoch."""
        return range(self.start_ms // DAY_MS, self.end_ms // DAY_MS)

    def passed(self, at_ms: int) -> float:
        """Return which share of it has passed at a time, from 0 to 1."""
        return min(1.0, max(0.0, (at_ms - self.start_ms) / (self.end_ms - self.start_ms)))


def day_name(day: int) -> str:
    """Return the date of a day that is counted from the epoch, such as ``2026-07-04``."""
    return datetime.fromtimestamp(day * DAY_MS // 1000, UTC).strftime("%Y-%m-%d")


def _start(year: int, month: int) -> int:
    year, month = (year + 1, 1) if month > 12 else (year, month)
    return int(datetime(year, month, 1, tzinfo=UTC).timestamp()) * 1000
