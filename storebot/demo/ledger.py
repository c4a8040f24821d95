"""What the demo store was asked and what it gave: the proof of what was fetched, and what wasn't."""

from __future__ import annotations

from array import array
from collections import Counter
from typing import Any

KINDS = ("product", "catalogue", "sitemap", "robots", "other")


class Ledger:
    """Counts of requests since the last reset; the switchboard's own requests are not counted."""

    def __init__(self) -> None:
        self._now = 0
        self.reset()

    def reset(self) -> None:
        """Forget everything but the requests that are being answered now."""
        self._counts: Counter[tuple[str, str, int]] = Counter()
        self._totals: dict[str, Counter[str]] = {kind: Counter() for kind in KINDS}
        self._arrivals: dict[str, array[float]] = {kind: array("d") for kind in KINDS}
        self._most = self._now

    def begin(self, kind: str, at_s: float) -> None:
        """Record that a request came, at a monotonic time."""
        self._arrivals[kind].append(at_s)
        self._now += 1
        self._most = max(self._most, self._now)

    def end(self, method: str, target: str, kind: str, status: int, size_bytes: int) -> None:
        """Record what was answered; ``target`` is the path with its query, ``size_bytes`` that of the body sent."""
        self._now -= 1
        self._counts[method, target, status] += 1
        totals = self._totals[kind]
        totals["requests"] += 1
        totals["bytes"] += size_bytes
        totals["not_modified" if status == 304 else "full" if status == 200 else "other"] += 1

    def report(self) -> dict[str, Any]:
        """Return all counts as JSON values; see `storebot.demo.client.Requests`."""
        return {
            "counts": [[*key, count] for key, count in self._counts.items()],
            "totals": {kind: dict(totals) for kind, totals in self._totals.items()},
            "arrivals": {kind: list(times) for kind, times in self._arrivals.items()},
            "max_concurrent": self._most,
        }
