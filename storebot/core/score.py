"""How far a listing can be believed: 0 to 100, with every point that was taken off and why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from statistics import median_low
from typing import NamedTuple

from storebot.core.enrich.series import believed
from storebot.core.offer import is_machine
from storebot.core.score_signs import is_no_name, is_stand_in
from storebot.core.stage import Derived, PastOffer, Reads, Subject
from storebot.core.validate import has
from storebot.items import Listing

LOW = 50  # below it a listing is flagged

# Points that a field loses by its source: structured data, its lesser kin, a rule of the store, text on show.
_SOURCE_POINTS: dict[str, tuple[int, int, int, int]] = {
    "price": (0, 3, 6, 15),
    "currency": (0, 2, 2, 8),
    "name": (0, 1, 2, 6),
    "availability": (0, 1, 3, 8),
}
_KINDS = ("structured data", "a page's meta data", "a rule of the store", "text on show")
_META = ("opengraph", "html")
_RULES = ("css:", "xpath:", "re:", "product.py", "declared")

_DISAGREEMENT_POINTS = {"price": 25, "currency": 25, "price_min": 10, "price_max": 10, "availability": 10, "gtin": 10}
_OTHER_DISAGREEMENT = 4
_MOST_DISAGREEMENT = 40

_MISSING_POINTS = {"name": 40, "price": 30, "currency": 30, "availability": 10, "brand": 3, "main_image": 3}
_NO_NUMBER_POINTS = 5

_MIN_PRICES = 3  # of its own before it's compared with their median
_BEYOND = 3  # times the median, or a third of it: the gate's limit (DESIGN §5)
_SHIFTED = (10, 100, 1000)  # a decimal point that moved
_DISCOUNT = 10  # times the price: a reference price that is none


class Reason(NamedTuple):
    """Points that were taken off, and why."""

    points: int
    part: str  # sources | disagreements | completeness | plausibility
    why: str


class Score(NamedTuple):
    """The confidence in a listing, and what it lacks to 100, the gravest first."""

    points: int
    reasons: tuple[Reason, ...]


class Confidence:
    """The stage. Flagged: a score below 50."""

    version = "1"
    reads: frozenset[Reads] = frozenset({"offers"})

    def derive(self, subject: Subject) -> Derived:
        """Say what `score` says."""
        found = score(subject.listing, subject.offers)
        facts = {"score": found.points, "reasons": [reason._asdict() for reason in found.reasons]}
        return Derived(facts=facts, number=found.points, flagged=found.points < LOW)


def score(listing: Listing, offers: Sequence[PastOffer] = ()) -> Score:
    """Return the confidence in a listing; ``offers`` are its own history, oldest first, the present one last."""
    reasons = chain(
        _by_source(listing), _by_disagreement(listing), _by_completeness(listing), _by_plausibility(listing, offers)
    )
    found = sorted(reasons, key=lambda reason: (-reason.points, reason))
    return Score(max(0, 100 - sum(reason.points for reason in found)), tuple(found))


def _by_source(listing: Listing) -> Iterator[Reason]:
    for name, points in _SOURCE_POINTS.items():
        source = listing.field_source.get(name)
        if source is None:
            continue
        kind = _kind(source)
        if points[kind]:
            yield Reason(points[kind], "sources", f"{name} comes from {_KINDS[kind]} ({source})")


def _kind(source: str) -> int:
    if source.startswith(_META):
        return 1
    if source.startswith(_RULES):
        return 2
    return 0 if is_machine(source) else 3


def _by_disagreement(listing: Listing) -> Iterator[Reason]:
    left = _MOST_DISAGREEMENT
    worst = sorted(listing.disagreements, key=lambda one: (-_DISAGREEMENT_POINTS.get(one.field, 0), one.field))
    for field, values in worst:
        points = min(left, _DISAGREEMENT_POINTS.get(field, _OTHER_DISAGREEMENT))
        left -= points
        said = ", ".join(f"{source} says {value[:60]!r}" for source, value in sorted(values.items()))
        if points:
            yield Reason(points, "disagreements", f"{field}: {said}")


def _by_completeness(listing: Listing) -> Iterator[Reason]:
    for name, points in _MISSING_POINTS.items():
        if not has(listing, name):
            yield Reason(points, "completeness", f"no {name.replace('_', ' ')}")
    if not (listing.gtin or listing.mpn or listing.sku):
        yield Reason(_NO_NUMBER_POINTS, "completeness", "no GTIN, MPN or SKU")


def _by_plausibility(listing: Listing, offers: Sequence[PastOffer]) -> Iterator[Reason]:
    if listing.name and (why := is_no_name(listing.name)):
        yield Reason(30, "plausibility", why)
    price = listing.price_minor
    if price is None:
        return
    if why := is_stand_in(price):
        yield Reason(40, "plausibility", why)
    if listing.regular_price_minor is not None and listing.regular_price_minor >= _DISCOUNT * price > 0:
        why = f"the regular price {listing.regular_price_minor} is {_DISCOUNT} times the price {price} or more"
        yield Reason(15, "plausibility", why)
    earlier = _earlier(offers)
    currencies = {offer.currency for offer in earlier} - {listing.currency, None}
    if currencies and earlier[-1].currency != listing.currency:
        yield Reason(25, "plausibility", f"it was priced in {earlier[-1].currency}, and is now in {listing.currency}")
    own = [offer.price_minor for offer in earlier if offer.price_minor and offer.currency == listing.currency]
    if len(own) >= _MIN_PRICES:
        yield from _against(price, median_low(own))


def _earlier(offers: Sequence[PastOffer]) -> list[PastOffer]:
    """Return the price points before the present one; rows that change only the stock are none."""
    points: list[PastOffer] = []
    for offer in believed(offers):
        money = (offer.price_minor, offer.currency)
        if offer.price_minor and (not points or money != (points[-1].price_minor, points[-1].currency)):
            points.append(offer)
    return points[:-1]


def _against(price: int, own: int) -> Iterator[Reason]:
    low, high = sorted((price, own))
    ratio = next((ratio for ratio in _SHIFTED if low * ratio == high), None)
    if ratio:
        yield Reason(40, "plausibility", f"the price {price} is {ratio} times off its own median {own}: a moved point?")
    elif high > _BEYOND * max(low, 0):
        yield Reason(25, "plausibility", f"the price {price} is beyond a third or three times its own median {own}")
