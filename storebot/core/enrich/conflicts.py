"""Which listings of one number can't be one product: clearly another brand, or a price ten times another's."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from storebot.core.enrich.numbers import brand_key, words

_PRICE_RATIO = 10  # a carton that was given the number of the piece, or minor units read as whole ones
_SHOWN = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """What is compared of one listing that has a number."""

    id: int
    store: str
    page_id: int
    gtin: str | None = None
    part: str | None = None  # brand and part number
    brand: str | None = None
    name: str = ""
    price_minor: int | None = None
    currency: str | None = None


def conflicts(group: Sequence[Member]) -> dict[int, tuple[str, ...]]:
    """Return those that more than half of the shops don't agree with, and how they differ, by id.

    Each shop has one voice, shared by its listings. So of two that differ neither is believed, and of three the one
    that differs from both isn't. Empty for a single listing; the order of the group doesn't matter.
    """
    if len(group) < 2:
        return {}
    voices = Counter(member.store for member in group)
    found: dict[int, tuple[str, ...]] = {}
    for member in group:
        against = [(other, why) for other in group if (why := _difference(member, other))]
        if not against:
            continue
        lost = sum(Fraction(1, voices[other.store]) for other, _ in against)
        if 2 * (len(voices) - lost) <= len(voices):
            found[member.id] = tuple(sorted({f"{why} at {other.store}" for other, why in against})[:_SHOWN])
    return found


def _difference(one: Member, other: Member) -> str:
    """Return how two listings contradict each other; "" where they don't, or can't be compared."""
    if one.brand and other.brand and _another_brand(one, other):
        return f"brand {one.brand!r} here, {other.brand!r}"
    if one.currency == other.currency and one.price_minor and other.price_minor:
        low, high = sorted((one.price_minor, other.price_minor))
        if high >= _PRICE_RATIO * low:
            return f"price {one.price_minor} here, {other.price_minor} (minor units, {one.currency})"
    return ""


def _another_brand(one: Member, other: Member) -> bool:
    """Whether neither listing names the other's brand: "Bosch" and "Bosch Professional" are one, and "HP" may be.

    A name is no reason to match; here it's an excuse for a brand that is written otherwise ("Hewlett Packard" sells
    the "HP LaserJet").
    """
    if brand_key(one.brand) == brand_key(other.brand):
        return False
    return not (words(one.brand) <= _named(other) or words(other.brand) <= _named(one))


def _named(member: Member) -> frozenset[str]:
    return words(f"{member.brand} {member.name}")
