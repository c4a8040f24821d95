"""The lowest price in the 30 days before the current one, and of all time, each with whether enough was observed.

The first is the "prior price" that a shop in the EU must show beside a reduction: the lowest one applied in at least
30 days before it (Directive 98/6/EC, article 6a, https://eur-lex.europa.eu/eli/dir/1998/6/2022-05-28). Days are 24
hours of UTC.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from storebot.core.enrich.series import DAY_MS, Span, believed, covered_ms, spans
from storebot.core.stage import Checks, Derived, PastOffer, Reads, Subject

WINDOW_MS = 30 * DAY_MS
_ALL_TIME_SHARE = 0.9  # of the time since the first look, that must have been observed


@dataclass(frozen=True, slots=True, kw_only=True)
class Low:
    """A lowest price and when it was first seen; ``enough`` says that a lower one can't well have been missed."""

    price_minor: int | None = None
    at: int | None = None
    enough: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PriceLows:
    """What the history of a listing says of its current price, in that price's currency."""

    price_minor: int
    currency: str
    since: int  # when the current price was first seen without interruption by another
    before_minor: int | None  # the price before it
    low_30d: Low
    all_time: Low
    observed_since: int
    unobserved_days: int  # of all days since then

    @property
    def reduced(self) -> bool:
        """Whether the current price is a reduction."""
        return self.before_minor is not None and self.price_minor < self.before_minor


class Lows:
    """The stage. Flagged: a price that is struck through and was never asked in the 30 days before the reduction."""

    version = "1"
    reads: frozenset[Reads] = frozenset({"offers", "checks"})

    def derive(self, subject: Subject) -> Derived:
        """Say what `price_lows` says, and whether the shop's own reference price is borne out."""
        found = price_lows(subject.offers, subject.checks, subject.last_seen_at)
        if found is None:
            return Derived()
        low, regular = found.low_30d, subject.listing.regular_price_minor
        inflated = bool(found.reduced and low.enough and low.price_minor and regular and regular > low.price_minor)
        return Derived(facts=_facts(found, inflated), number=low.price_minor, flagged=inflated)


def price_lows(offers: Sequence[PastOffer], checks: Checks, last_seen_at: int) -> PriceLows | None:
    """Return the lows before the current price; None where the listing has no price now.

    ``offers`` are oldest first; the last price is known to hold until ``last_seen_at``, and no longer.
    """
    series = believed(offers)
    if not series or series[-1].price_minor is None or series[-1].currency is None:
        return None
    price, currency = series[-1].price_minor, series[-1].currency
    found = spans(series, checks, last_seen_at)
    since, before = _current_since(series)
    end = max(span.end for span in found)
    observed = covered_ms(found, found[0].start, end, currency)
    return PriceLows(
        price_minor=price,
        currency=currency,
        since=since,
        before_minor=before,
        low_30d=_low_between(found, since - WINDOW_MS, since, currency),
        all_time=_all_time(found, end, observed, currency),
        observed_since=found[0].start,
        unobserved_days=(end - found[0].start - observed) // DAY_MS,
    )


def _current_since(series: Sequence[PastOffer]) -> tuple[int, int | None]:
    """Return when the current price began, and the one before it in the same currency.

    A row without a price (sold out, and the shop hides it) interrupts no price and is none.
    """
    price, currency = series[-1].price_minor, series[-1].currency
    since = series[-1].at
    for offer in reversed(series):
        if offer.price_minor is None:
            continue
        if (offer.price_minor, offer.currency) != (price, currency):
            return since, offer.price_minor if offer.currency == currency else None
        since = offer.at
    return since, None


def _low_between(found: Sequence[Span], start: int, end: int, currency: str) -> Low:
    seen = [span for span in found if span.currency == currency and span.within(start, end)]
    enough = covered_ms(found, start, end, currency) == end - start
    return _lowest(seen, enough)


def _all_time(found: Sequence[Span], end: int, observed_ms: int, currency: str) -> Low:
    """Return the lowest price ever seen; enough are 30 observed days, and nine tenths of the time since the first."""
    enough = observed_ms >= WINDOW_MS and observed_ms >= _ALL_TIME_SHARE * (end - found[0].start)
    return _lowest([span for span in found if span.currency == currency], enough)


def _lowest(seen: Sequence[Span], enough: bool) -> Low:
    prices = [(span.price_minor, span.start) for span in seen if span.price_minor is not None]
    if not prices:
        return Low(enough=False)
    price_minor, at = min(prices)
    return Low(price_minor=price_minor, at=at, enough=enough)


def _facts(found: PriceLows, inflated: bool) -> dict[str, Any]:
    return {
        "price_minor": found.price_minor,
        "currency": found.currency,
        "since": found.since,
        "before_minor": found.before_minor,
        "reduced": found.reduced,
        "low_30d_minor": found.low_30d.price_minor,
        "low_30d_at": found.low_30d.at,
        "low_30d_enough": found.low_30d.enough,
        "all_time_low_minor": found.all_time.price_minor,
        "all_time_low_at": found.all_time.at,
        "all_time_enough": found.all_time.enough,
        "observed_since": found.observed_since,
        "unobserved_days": found.unobserved_days,
        "reference_inflated": inflated,
    }
