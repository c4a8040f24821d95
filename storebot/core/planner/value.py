"""What a change of a page is worth beside one of another: the weights that a store file names."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Protocol

from storebot.core.money import from_minor

USUAL = 1.0  # of a page that no rule is about


class Sold(Protocol):
    """What a rule looks at of a listing."""

    @property
    def brand(self) -> str | None: ...
    @property
    def category_path(self) -> Sequence[str]: ...
    @property
    def price_minor(self) -> int | None: ...
    @property
    def currency(self) -> str | None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueRule:
    """A weight, and what a listing must be to have it: all that is named here."""

    weight: float
    category: tuple[str, ...] = ()  # the outermost levels of its path, in any letter case; (): any
    brand: str = ""  # in any letter case; "": any
    price_from: Decimal | None = None  # in whole units of the listing's own currency
    price_below: Decimal | None = None

    def is_about(self, listing: Sold) -> bool:
        """Whether a listing is all that the rule names. One without a price has none in any range."""
        if self.brand and _folded(listing.brand or "") != _folded(self.brand):
            return False
        levels = len(self.category)
        if levels and [*map(_folded, listing.category_path[:levels])] != [*map(_folded, self.category)]:
            return False
        return self._is_in_range(listing)

    def _is_in_range(self, listing: Sold) -> bool:
        if self.price_from is None and self.price_below is None:
            return True
        if listing.price_minor is None or listing.currency is None:
            return False
        price = from_minor(listing.price_minor, listing.currency)
        above = self.price_from is None or price >= self.price_from
        return above and (self.price_below is None or price < self.price_below)


def value_of(rules: Sequence[ValueRule], listings: Iterable[Sold]) -> float:
    """Return what a change of a page with these listings is worth: of its dearest listing.

    The first rule that is about a listing gives its weight, as the rules stand in the file.
    """
    return max((_weight(rules, listing) for listing in listings), default=USUAL)


def _weight(rules: Sequence[ValueRule], listing: Sold) -> float:
    return next((rule.weight for rule in rules if rule.is_about(listing)), USUAL)


def digest(rules: Sequence[ValueRule]) -> str:
    """Return a text that differs where the rules do; "" for none."""
    return hashlib.blake2b(repr(tuple(rules)).encode(), digest_size=16).hexdigest() if rules else ""


def _folded(text: str) -> str:
    return " ".join(text.split()).casefold()
