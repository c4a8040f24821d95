"""The price of one listing over time, as far as it was observed: nothing holds where nobody looked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

from storebot.core.stage import Checks, PastOffer

DAY_MS = 86_400_000
# Between two looks further apart than this a price isn't known to have held: a weekly refresh that came a day late.
MAX_GAP_MS = 8 * DAY_MS


class Span(NamedTuple):
    """A price that held from ``start`` until before ``end``; both are the same for a price that was seen once."""

    start: int  # ms, UTC
    end: int
    price_minor: int | None
    currency: str | None

    def within(self, start: int, end: int) -> bool:
        """Whether it was seen at any time from ``start`` until before ``end``."""
        return self.start < end and max(self.end, self.start + 1) > start


def believed(offers: Iterable[PastOffer]) -> list[PastOffer]:
    """Return the offers in their order, without what a newer parser read otherwise.

    A row that isn't "seen" corrects the one before it: that one's price was a misreading since it was written. If the
    price differs, what came before was read by the same rule, and can't be believed either.
    """
    kept: list[PastOffer] = []
    for offer in sorted(offers, key=lambda offer: offer.at):
        if offer.cause != "seen" and kept:
            wrong = kept.pop()
            if (wrong.price_minor, wrong.currency) != (offer.price_minor, offer.currency):
                kept = []
            kept.append(offer._replace(at=wrong.at, cause="seen"))
        else:
            kept.append(offer)
    return kept


def checks_of(seen: Iterable[tuple[int, int]]) -> dict[int, Checks]:
    """Return the checks of each page, of all times at which pages were seen: ``(page id, time)``, oldest first."""
    first: dict[int, int] = {}
    last: dict[int, int] = {}
    gaps: dict[int, tuple[tuple[int, int], ...]] = {}
    for page_id, at in seen:
        before = last.setdefault(page_id, at)
        first.setdefault(page_id, at)
        if at - before > MAX_GAP_MS:
            gaps[page_id] = (*gaps.get(page_id, ()), (before, at))
        last[page_id] = max(before, at)
    return {page_id: Checks(at, gaps.get(page_id, ())) for page_id, at in first.items()}


def spans(offers: Sequence[PastOffer], checks: Checks, until: int) -> list[Span]:
    """Return the spans of a listing that was last seen at ``until``; ``offers`` are `believed`.

    An offer holds until the next one, but not over a gap in the checks. Where offers are older than all checks (visits
    are kept for a time), the offers themselves are the only looks there were.
    """
    gaps = sorted([*checks.gaps, *_gaps_before(offers, checks, until)])
    found: list[Span] = []
    ends = [offer.at for offer in offers[1:]] + [until]
    for offer, end in zip(offers, ends, strict=True):
        for start, stop in _without(offer.at, max(end, offer.at), gaps):
            found.append(Span(start, stop, offer.price_minor, offer.currency))
    return found


def covered_ms(found: Iterable[Span], start: int, end: int, currency: str | None) -> int:
    """Return for how long, between two times, the listing was observed with no price in another currency."""
    return sum(
        max(0, min(span.end, end) - max(span.start, start))
        for span in found
        if span.price_minor is None or span.currency == currency
    )


def _gaps_before(offers: Sequence[PastOffer], checks: Checks, until: int) -> list[tuple[int, int]]:
    first = until if checks.first_at is None else checks.first_at
    looks = sorted({*(offer.at for offer in offers if offer.at <= first), first})
    return [(before, after) for before, after in pairwise(looks) if after - before > MAX_GAP_MS]


def _without(start: int, end: int, gaps: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return what is left of a span: the time before, between and after the gaps. Its start was seen in any case."""
    left: list[tuple[int, int]] = []
    at = start
    for away, back in gaps:
        if back <= at or away >= end:
            continue
        left.append((at, max(at, away)))
        at = back
    if at < end or not left:
        left.append((at, end))
    return left
