"""The price of a listing over time, for a picture and its table: what was seen to hold, and when nobody could look."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import NamedTuple

from storebot.core.history import MISSING, OBSERVED, Look, Offer, Span, spans
from storebot.items import Outcome

CAUSES = {
    "seen": "seen on its page",
    "": "seen on its page",
    "card": "seen on its card in the catalogue; the page may say otherwise",
    "rebased": "read otherwise by a newer parser; the market didn't move",
    "corrected": "its kept page was read again; what was read before was wrong",
}


class Visited(NamedTuple):
    """One visit of the page, as the ledger has it."""

    at: int
    outcome: str
    reason: str


class Priced(NamedTuple):
    """One row of the price series, with the regular price beside it."""

    offer: Offer
    regular_minor: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """What held, or that nobody could look, from ``since`` to ``until``; it's drawn until ``drawn_until``.

    A price is drawn on until the look that saw another one; a gap is drawn from look to look.
    """

    kind: str  # of core.history
    since: int
    until: int
    drawn_since: int
    drawn_until: int
    looks: int  # 0: of before the first visit that is kept
    offer: Offer | None
    regular_minor: int | None
    note: str


def stretches(visits: Sequence[Visited], series: Sequence[Priced]) -> list[Stretch]:
    """Return the history, oldest first, of visits and the price series, both in the order of their time.

    Of the time before the first visit only the moments are known at which a price was first seen.
    """
    first = min((visit.at for visit in visits), default=None)
    offers = [one.offer for one in series]
    found = [
        Span(kind=OBSERVED, since=one.at, until=one.at, looks=0, offer=one)
        for one in offers
        if first is None or one.at < first
    ]
    found += spans((Look(visit.at, Outcome(visit.outcome)) for visit in visits), offers)
    regular = {one.offer: one.regular_minor for one in series}
    made = []
    for before, span, after in zip_longest([None, *found[:-1]], found, found[1:]):
        if span is None:
            continue
        ends = after.since if after and span.kind == OBSERVED == after.kind and span.looks else span.until
        gap = span.kind != OBSERVED
        made.append(
            Stretch(
                kind=span.kind,
                since=span.since,
                until=span.until,
                drawn_since=before.until if gap and before else span.since,
                drawn_until=after.since if gap and after else ends,
                looks=span.looks,
                offer=span.offer,
                regular_minor=regular.get(span.offer) if span.offer else None,
                note=_note(span, visits),
            )
        )
    return made


def since_when(series: Sequence[Priced], what: str) -> int | None:
    """Return since when the newest value of an offer's field is what it is, as far as the series goes."""
    since, value = None, None
    for one in reversed(series):
        found = getattr(one.offer, what)
        if since is not None and found != value:
            break
        since, value = one.offer.at, found
    return since


def _note(span: Span, visits: Sequence[Visited]) -> str:
    if span.kind == OBSERVED:
        return CAUSES.get(span.offer.cause, span.offer.cause) if span.offer else "seen; its price isn't kept"
    inside = [visit for visit in visits if span.since <= visit.at <= span.until]
    counts = Counter(visit.outcome for visit in inside)
    said = ", ".join(f"{outcome} {count} times" if count > 1 else outcome for outcome, count in counts.most_common())
    reason = next((visit.reason for visit in reversed(inside) if visit.reason), "")
    start = "the page wasn't there" if span.kind == MISSING else "nobody could look"
    return f"{start}: {said}" + (f" ({reason})" if reason else "")
