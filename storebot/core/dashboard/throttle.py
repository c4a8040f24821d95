"""How often somebody may try a password."""

from __future__ import annotations

from collections import OrderedDict

SPAN_S = 900.0
MOST_NAMES = 10_000  # that are remembered: the oldest is forgotten first


class Throttle:
    """Counts failures by key; from ``free`` of them on one has to wait, twice as long each time, up to `SPAN_S`.

    What is older than `SPAN_S` counts no more. Time comes in as an argument, in seconds.
    """

    def __init__(self, free: int) -> None:
        self._free = free
        self._failed: OrderedDict[str, tuple[int, float]] = OrderedDict()

    def wait_s(self, key: str, now_s: float) -> float:
        """Return how long the next try has to wait; 0: it may come now."""
        count, last_s = self._failed.get(key, (0, 0.0))
        if count < self._free or now_s - last_s >= SPAN_S:
            return 0.0
        wait_s: float = min(2.0 ** min(count - self._free, 20), SPAN_S)
        return max(last_s + wait_s - now_s, 0.0)

    def failed(self, key: str, now_s: float) -> None:
        """Count a failure."""
        count, last_s = self._failed.pop(key, (0, 0.0))
        self._failed[key] = (count + 1 if now_s - last_s < SPAN_S else 1, now_s)
        while len(self._failed) > MOST_NAMES:
            self._failed.popitem(last=False)

    def succeeded(self, key: str) -> None:
        """Forget the failures."""
        self._failed.pop(key, None)
