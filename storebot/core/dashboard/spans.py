"""Spans of time put together, so that a picture has room for them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple


class Bar(NamedTuple):
    """What came in one stretch of time, by name."""

    at: int  # when it begins
    counts: Mapping[str, int]


def bars(found: Iterable[tuple[int, str, int]], span_ms: int, most: int) -> tuple[int, list[Bar]]:
    """Return how long a bar is, and the bars from the first to the last, of (begin of a span, name, count).

    A bar is a whole number of spans, so many that there are at most ``most``. Those in which nothing came are there,
    too.
    """
    rows = list(found)
    if not rows:
        return span_ms, []
    first, last = min(row[0] for row in rows), max(row[0] for row in rows)
    length = span_ms * -(-((last - first) // span_ms + 1) // most)
    counted: dict[int, dict[str, int]] = {at: {} for at in range(first, last + 1, length)}
    for at, name, count in rows:
        counts = counted[first + (at - first) // length * length]
        counts[name] = counts.get(name, 0) + count
    return length, [Bar(at, counts) for at, counts in counted.items()]
