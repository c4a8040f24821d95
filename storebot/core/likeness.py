"""Whether two pages show one product: what their records have in common, for pages that may be two names of one."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple, Protocol

# In order of power: the first that both pages have decides. Not product_id, which some shops invent on every visit.
_IDS = ("gtin", "sku", "mpn")
_WORD = re.compile(r"\w+")


class Sold(Protocol):
    """A listing, as a record or as a row."""

    @property
    def name(self) -> str | None: ...
    @property
    def gtin(self) -> str | None: ...
    @property
    def sku(self) -> str | None: ...
    @property
    def mpn(self) -> str | None: ...
    @property
    def price_minor(self) -> int | None: ...
    @property
    def currency(self) -> str | None: ...
    @property
    def availability(self) -> str | None: ...


class Likeness(NamedTuple):
    """What the listings of a page have in common with those of another."""

    ids: bool | None  # whether the other has all of the page's numbers of one kind; None: it can't be told
    names: bool  # a name of one has all the words of a name of the other
    same: bool  # the names, prices and stock are the very same

    @property
    def is_one_product(self) -> bool:
        """Whether a page may be folded into the other because it says so: its claim, and the record bears it out."""
        return bool(self.ids) and self.names

    @property
    def may_be_one_product(self) -> bool:
        """Whether nothing but a number of the product is missing for that."""
        return self.ids is None and self.same

    @property
    def is_another_product(self) -> bool:
        """Whether number and name both differ: a redirect from one to the other is no move."""
        return self.ids is False and not self.names


def likeness(page: Iterable[Sold], other: Iterable[Sold]) -> Likeness:
    """Compare the listings of two pages."""
    mine, theirs = list(page), list(other)
    return Likeness(_ids(mine, theirs), _names(mine, theirs), bool(mine) and _facts(mine) == _facts(theirs))


def _ids(mine: list[Sold], theirs: list[Sold]) -> bool | None:
    for kind in _IDS:
        ours, others = _numbers(mine, kind), _numbers(theirs, kind)
        if ours and others:
            return ours <= others
    return None


def _numbers(listings: list[Sold], kind: str) -> set[str]:
    return {value.casefold() for listing in listings if (value := getattr(listing, kind))}


def _names(mine: list[Sold], theirs: list[Sold]) -> bool:
    ours = [words for listing in mine if (words := _words(listing.name))]
    others = [words for listing in theirs if (words := _words(listing.name))]
    return any(one <= other or other <= one for one in ours for other in others)


def _words(name: str | None) -> frozenset[str]:
    return frozenset(_WORD.findall((name or "").casefold()))


def _facts(listings: list[Sold]) -> set[tuple[object, ...]]:
    return {(one.name, one.price_minor, one.currency, one.availability) for one in listings}
