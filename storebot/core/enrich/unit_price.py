"""The price of a kilogram, litre, metre or piece, from the amount that a listing's own texts state."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal

from storebot.core.enrich.amount import Amount, labelled, read_amount
from storebot.core.money import EXPONENTS, MAX_MINOR
from storebot.core.stage import Derived, Reads, Subject
from storebot.items import Listing

_IMPERIAL = "GBP"  # where it is paid with, a fluid ounce is the British one
_FINE = 100  # below one whole unit of money two more decimals are kept: a screw costs 1.25 cents


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitPrice:
    """``price`` has ``exponent`` decimals: those of the currency, or two more for less than one whole unit of it."""

    price: int
    exponent: int
    currency: str
    amount: Amount
    read_from: str  # options | description | name


class UnitPrices:
    """The stage: a unit price for each listing whose amount is plain; its number is in minor units of the currency."""

    version = "1"
    reads: frozenset[Reads] = frozenset()

    def derive(self, subject: Subject) -> Derived:
        """Say what `unit_price` says."""
        found = unit_price(subject.listing)
        if found is None:
            return Derived()
        digits = EXPONENTS[found.currency]
        facts = {
            "price": found.price,
            "exponent": found.exponent,
            "currency": found.currency,
            "per": found.amount.unit,
            "quantity": f"{found.amount.quantity.normalize():f}",
            "read_from": found.read_from,
        }
        return Derived(facts=facts, number=_rounded(Decimal(found.price).scaleb(digits - found.exponent)))


def unit_price(listing: Listing) -> UnitPrice | None:
    """Return the price of one unit; None without a price, and where the amount is unknown or ambiguous."""
    if not listing.price_minor or listing.price_minor < 0 or listing.currency not in EXPONENTS:
        return None
    stated = amount_of(listing)
    if stated is None:
        return None
    amount, read_from = stated
    digits = EXPONENTS[listing.currency]
    exact = Decimal(listing.price_minor) / amount.quantity
    if exact < _FINE:
        exact, digits = exact * 100, digits + 2
    if not 1 <= (price := _rounded(exact)) <= MAX_MINOR:
        return None
    return UnitPrice(price=price, exponent=digits, currency=listing.currency, amount=amount, read_from=read_from)


def amount_of(listing: Listing) -> tuple[Amount, str] | None:
    """Return how much is sold, and where it is said.

    A variant's own options win: the name may be that of its sister. Else the name and what the description says behind
    "net weight:" and its like must agree, where both say something.
    """
    imperial = listing.currency == _IMPERIAL
    context = " ".join([listing.name or "", *listing.category_path, *listing.options])
    chosen = read_amount(" ; ".join(listing.options.values()), imperial=imperial, context=context)
    if chosen is not None:
        return chosen, "options"
    label = read_amount(labelled(listing.description or ""), imperial=imperial, context=context)
    named = read_amount(listing.name or "", imperial=imperial, context=context)
    if label and named:
        return (named, "name") if label.agrees(named) else None
    if label:
        return label, "description"
    return (named, "name") if named else None


def _rounded(value: Decimal) -> int:
    return int(value.to_integral_value(ROUND_HALF_UP))
