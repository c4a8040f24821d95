"""What one page adds to the tally by which the write gate judges its run: the facts of one comparison."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from statistics import median
from typing import NamedTuple, Protocol

from storebot.core.likeness import Sold, likeness
from storebot.core.text import comparable_text
from storebot.core.validate import NOT_BUYABLE

IDENTITY = ("name", "sku", "gtin", "brand")
WATCHED = ("name", "price_minor", "availability")  # what no redesign may take away unnoticed
VARIANTS = "variants"
_MONEY = ("price_minor", "regular_price_minor", "price_min_minor", "price_max_minor")
_STEPS = 100  # of a price ratio, in each factor e: its bucket is right to one per cent
_FAR = 3.0  # a price beyond a third, or three times, of what it usually is, is looked at twice
_SLIPS = (10, 100)  # a decimal separator lost, or read twice


class Compared(Sold, Protocol):
    """A listing, as a record or as a row, as far as it is compared here."""

    @property
    def brand(self) -> str | None: ...


class Kind(StrEnum):
    """What a visit does to what is published, if the gate lets it."""

    NEW = "new"
    CHANGED = "changed"
    REBASED = "rebased"  # the parser moved: no change of the market is announced, but all else counts
    MISSING = "missing"
    MOVED = "moved"  # it leads to a page that is known by itself, and would be retired


class Facts(NamedTuple):
    """How a page differs from what is published of it."""

    kind: Kind
    price_only: bool = False
    identity: bool = False  # name, SKU, GTIN or brand is another
    lost: tuple[str, ...] = ()  # fields that had a value
    ratio: int | None = None  # bucket of price after by price before: `bucket`
    currency: str = ""  # "GBP to EUR"
    replaced: bool = False  # number and name both differ: another product
    record: str = ""  # hash of the page's record, by which identical pages are found


def facts_of(
    before: Mapping[str, Compared],
    after: Mapping[str, Compared],
    *,
    rebased: bool,
    fields: Iterable[str],
    record: str,
    watched: Sequence[str] = WATCHED,
) -> Facts:
    """Compare the listings of a page, by variant, with those that are published and active.

    ``fields`` are the names of the fields that differ, ``watched`` those whose loss is counted.
    """
    pairs = [(before[variant], after[variant]) for variant in before.keys() & after.keys()]
    lost = [name for name in watched if any(loses(old, new, name) for old, new in pairs)]
    if before and not rebased and 2 * len(pairs) < len(before):
        lost.append(VARIANTS)
    differing = set(fields)
    replaced = bool(before) and not rebased and likeness(before.values(), after.values()).is_another_product
    return Facts(
        kind=Kind.REBASED if rebased else Kind.CHANGED,
        price_only=bool(differing) and differing <= set(_MONEY),
        identity=replaced or (not rebased and any(_is_another(old, new) for old, new in pairs)),
        lost=tuple(lost),
        ratio=_ratio(pairs),
        currency=next((found for old, new in pairs if (found := _switch(old, new))), ""),
        replaced=replaced,
        record=record,
    )


def bucket(after: int, before: int) -> int:
    """Return the bucket of a ratio, such that buckets order and add as the logarithms of ratios do."""
    return round(_STEPS * math.log(after / before))


def ratio_of(place: float) -> float:
    """Return the ratio that a bucket stands for."""
    return math.exp(place / _STEPS)


def outlier(price: int, before: int, history: Sequence[int]) -> str:
    """Say why a price is looked at twice before it's believed; "" where it need not be.

    ``before`` is the published price, ``history`` all that were, in the same currency and any order; minor units.
    """
    if not price or not before or price == before:
        return ""
    for times in _SLIPS:
        if price == before * times or price * times == before:
            slip = "more" if price > before else "less"
            return f"the price moved from {before} to {price}, exactly {times} times {slip}"
    usual = median([*history, before] if before not in history else history)
    if usual / _FAR <= price <= usual * _FAR:
        return ""
    return f"the price moved from {before} to {price}, and {usual:g} is usual"


def loses(old: Compared, new: Compared, name: str) -> bool:
    """Whether a field lost its value; a listing that can't be bought any more may go without a price."""
    may = name == "price_minor" and new.availability in NOT_BUYABLE
    return bool(getattr(old, name)) and not getattr(new, name) and not may


def _is_another(old: Compared, new: Compared) -> bool:
    return any(
        (mine := getattr(old, name)) and (theirs := getattr(new, name)) and not _equal(mine, theirs)
        for name in IDENTITY
    )


def _equal(mine: str, theirs: str) -> bool:
    return mine == theirs or comparable_text(mine) == comparable_text(theirs)


def _switch(old: Compared, new: Compared) -> str:
    if old.currency and new.currency and old.currency != new.currency:
        return f"{old.currency} to {new.currency}"
    return ""


def _ratio(pairs: Sequence[tuple[Compared, Compared]]) -> int | None:
    """Return the bucket of the middle one of a page's price moves; None where no price moved in its currency."""
    moved = [
        bucket(new.price_minor, old.price_minor)
        for old, new in pairs
        if old.price_minor and new.price_minor and old.price_minor != new.price_minor and not _switch(old, new)
    ]
    return sorted(moved)[len(moved) // 2] if moved else None
