"""How often a run may ask again, over all its pages: a store in trouble isn't asked several times for everything.

A share of the requests, as in the client's budget of https://sre.google/sre-book/handling-overload/ (10 per cent there)
and Finagle's RetryBudget (20 per cent, https://twitter.github.io/finagle/guide/Clients.html#retries), with so many free
that a short run may have a bad minute.
"""

from __future__ import annotations

from collections import Counter

FREE = 50
"""Retries that a run has whatever their share is."""


class RetryBudget:
    """The retries of one run. A page that isn't tried again is as it was answered: the failure is final."""

    def __init__(self, *, most: int, share: float) -> None:
        self.most, self.share = most, share
        self.used: Counter[str] = Counter()  # by kind, granted ones
        self.refused = 0

    def take(self, kind: str, requests: int) -> bool:
        """Say whether one more retry of a kind is granted; ``requests`` is how many the run has sent so far."""
        used = self.used.total()
        granted = used < self.most and (used < FREE or used < self.share * requests)
        if granted:
            self.used[kind] += 1
        else:
            self.refused += 1
        return granted

    @property
    def told(self) -> str:
        """Say how many there were, of which kinds."""
        kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(self.used.items()))
        return f"{self.used.total()} retries were made ({kinds})" if kinds else "no retry was made"
