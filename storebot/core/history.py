"""The history of one listing as spans of time: what was observed to hold, and when nobody could look.

*Unchanged* and *not observed* are never the same thing: a price holds from one look to the next that saw the same, and
a look that saw nothing in between is a span of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from storebot.items import Outcome

OBSERVED, UNOBSERVED, MISSING = "observed", "not observed", "missing"
_GONE = frozenset({Outcome.MISSING, Outcome.MOVED})


class Offer(NamedTuple):
    """What a listing cost from a time on. ``cause`` "seen" is the market; anything else corrects what was read before.

    Money is minor units of the currency.
    """

    at: int
    price_minor: int | None
    currency: str | None
    availability: str | None
    cause: str


class Look(NamedTuple):
    """One visit of the listing's page."""

    at: int
    outcome: Outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """From its first look to its last, both included, in milliseconds; ``offer`` is None where nothing was observed."""

    kind: str
    since: int
    until: int
    looks: int
    offer: Offer | None = None


def spans(looks: Iterable[Look], offers: Sequence[Offer]) -> list[Span]:
    """Return a listing's history, oldest first. Both are in the order of their time.

    A correction stands under the time of the page that it was read from: it's what holds from there on, with its cause.
    """
    found: list[Span] = []
    place = -1
    for look in looks:
        while place + 1 < len(offers) and offers[place + 1].at <= look.at:
            place += 1
        kind = OBSERVED if look.outcome.seen else MISSING if look.outcome in _GONE else UNOBSERVED
        offer = offers[place] if kind == OBSERVED and place >= 0 else None
        if found and (found[-1].kind, found[-1].offer) == (kind, offer):
            found[-1] = replace(found[-1], until=look.at, looks=found[-1].looks + 1)
        else:
            found.append(Span(kind=kind, since=look.at, until=look.at, looks=1, offer=offer))
    return found
