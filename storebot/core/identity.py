"""Who a shop takes us for: what is changed together when it has had enough of one visitor."""

from __future__ import annotations

from dataclasses import dataclass

from storebot.core.proxy import Proxy


@dataclass(frozen=True, slots=True)
class Identity:
    """One visitor: a number that no other identity of the run has, and the proxy that it comes through.

    The number names its cookie jar, and its context or profile in a browser. It's in ``request.meta["identity"]``; a
    request without one is of `FIRST`.
    """

    number: int
    proxy: Proxy | None = None  # None: directly


FIRST = Identity(1)
"""The identity of a run without proxies, until it's blocked."""
