"""What the demo store was asked and what it gave: the proof of what was fetched, and what wasn't."""

from __future__ import annotations

from array import array
from collections import Counter
from typing import Any, NamedTuple

KINDS = ("product", "catalogue", "sitemap", "robots", "other")


class Facts(NamedTuple):
    """What the shop could see of who asked, and how it answered: requests are counted by it."""

    kind: str  # product | catalogue | sitemap | robots | other
    status: int
    http: str  # "1.1" or "2"
    address: str  # the client's, or its proxy's
    visitor: str  # the number in the cookie of the guard `blocks_first`; "" without one
    egress: str  # by which a scraping API showed itself; "" without
    agent: str  # User-Agent


class Ledger:
    """Counts of requests since the last reset; the switchboard's own requests are not counted."""

    def __init__(self) -> None:
        self._now = 0
        self.reset()

    def reset(self) -> None:
        """Forget everything but the requests that are being answered now."""
        self._counts: Counter[tuple[str, str, int]] = Counter()
        self._facts: Counter[Facts] = Counter()
        self._totals: dict[str, Counter[str]] = {kind: Counter() for kind in KINDS}
        self._arrivals: dict[str, array[float]] = {kind: array("d") for kind in KINDS}
        self._most = self._now

    def begin(self, kind: str, at_s: float) -> None:
        """Record that a request came, at a monotonic time."""
        self._arrivals[kind].append(at_s)
        self._now += 1
        self._most = max(self._most, self._now)

    def end(self, method: str, target: str, facts: Facts, size_bytes: int) -> None:
        """Record what was answered; ``target`` is the path with its query, ``size_bytes`` that of the body sent."""
        kind, status = facts.kind, facts.status
        self._now -= 1
        self._counts[method, target, status] += 1
        self._facts[facts] += 1
        totals = self._totals[kind]
        totals["requests"] += 1
        totals["bytes"] += size_bytes
        totals["not_modified" if status == 304 else "full" if status == 200 else "other"] += 1

    def report(self) -> dict[str, Any]:
        """Return all counts as JSON values; see `storebot.demo.client.Requests`."""
        return {
            "counts": [[*key, count] for key, count in self._counts.items()],
            "facts": [[*facts, count] for facts, count in self._facts.items()],
            "totals": {kind: dict(totals) for kind, totals in self._totals.items()},
            "arrivals": {kind: list(times) for kind, times in self._arrivals.items()},
            "max_concurrent": self._most,
        }
