"""What moved in the market: change events of one listing, put together to what it was before and is now."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from enum import StrEnum
from typing import Any

from storebot.core.money import EXPONENTS, from_minor
from storebot.items import Availability

# Beside one of these a price of before isn't a price of the same thing (case N06).
_OTHER_OFFER = ("currency", "condition", "seller")
_FOR_SALE = frozenset(
    {
        Availability.IN_STOCK.value,
        Availability.LIMITED_AVAILABILITY.value,
        Availability.ONLINE_ONLY.value,
        Availability.IN_STORE_ONLY.value,
    }
)


class Event(StrEnum):
    """What may be told of a listing."""

    PRICE_DROP = "price_drop"
    PRICE_RISE = "price_rise"
    BACK_IN_STOCK = "back_in_stock"
    OUT_OF_STOCK = "out_of_stock"
    NEW = "new"
    GONE = "gone"
    RELISTED = "relisted"


_OF_TYPE = {
    "new": Event.NEW,
    "delisted": Event.GONE,
    "missing": Event.GONE,
    "relisted": Event.RELISTED,
    "returned": Event.RELISTED,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One row of ``changes``, with what its listing says now."""

    seq: int
    type: str
    store: str
    url_key: str
    variant_id: str
    fields: Sequence[Mapping[str, Any]]  # field, before, after
    at: int
    url: str = ""
    name: str = ""
    brand: str = ""
    price_minor: int | None = None
    currency: str | None = None
    availability: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """One thing of one listing, before and now: its ``price``, its ``stock``, or whether it's ``listed``."""

    what: str
    before: Any  # minor units; a schema.org name; whether it was listed
    after: Any
    at: int  # the last change of it
    store: str
    url_key: str
    variant_id: str
    url: str
    name: str
    brand: str
    price_minor: int | None  # now, whatever moved
    currency: str | None
    kind: str = ""  # where it's ``listed`` that moved: how it came about

    @property
    def subject(self) -> str:
        """What it is of, as a key of 64 characters."""
        parts = (self.what, self.store, self.url_key, self.variant_id)
        return hashlib.sha256("\0".join(parts).encode(errors="backslashreplace")).hexdigest()

    @property
    def event(self) -> Event | None:
        """What it is; None where nothing moved that is told."""
        if self.before == self.after:
            return None
        if self.what == "price":
            return Event.PRICE_DROP if self.after < self.before else Event.PRICE_RISE
        if self.what == "stock":
            was, now = self.before in _FOR_SALE, self.after in _FOR_SALE
            return None if was == now else Event.BACK_IN_STOCK if now else Event.OUT_OF_STOCK
        return _OF_TYPE[self.kind]

    @property
    def percent(self) -> Decimal:
        """By how much the price moved, in per cent of what it was; nought where another thing moved."""
        if self.what != "price" or not self.before:
            return Decimal(0)
        return (Decimal(self.after - self.before) * 100 / Decimal(self.before)).quantize(Decimal("0.1"))

    def sentence(self) -> str:
        """Return it in words, with before and after."""
        price = _money(self.price_minor, self.currency)
        match self.event:
            case Event.PRICE_DROP | Event.PRICE_RISE:
                moved = f"{_money(self.before, self.currency)} → {_money(self.after, self.currency)}"
                return f"price {moved} ({self.percent:+}%)"
            case Event.BACK_IN_STOCK | Event.OUT_OF_STOCK as event:
                return f"{event.replace('_', ' ')} ({self.before or 'unknown'} → {self.after or 'unknown'}), {price}"
            case Event.NEW:
                return f"new, {price}"
            case Event.GONE:
                return f"gone, it was {price}"
            case Event.RELISTED:
                return f"back on sale, {price}"
        return "as before"


def moves(changes: Iterable[Change]) -> list[Move]:
    """Return what moved on the whole: of each thing of each listing, from before its first change to after its last.

    What went back to what it was isn't there. ``changes`` are in their order.
    """
    found: dict[str, Move] = {}
    for change in changes:
        for move in _of(change):
            before = found.get(move.subject)
            found[move.subject] = joined(before, move) if before else move
    return [move for move in found.values() if move.before != move.after]


def joined(earlier: Move, later: Move) -> Move:
    """Return the two moves of one thing as one."""
    if earlier.currency != later.currency and earlier.what == "price":
        return later
    return replace(later, before=earlier.before)


def _of(change: Change) -> Iterable[Move]:
    shared: dict[str, Any] = {
        "at": change.at,
        "store": change.store,
        "url_key": change.url_key,
        "variant_id": change.variant_id,
        "url": change.url or change.url_key,
        "name": change.name,
        "brand": change.brand,
        "price_minor": change.price_minor,
        "currency": change.currency,
    }
    if change.type in _OF_TYPE:
        is_there = change.type not in ("delisted", "missing")
        yield Move(what="listed", before=not is_there, after=is_there, kind=change.type, **shared)
        return
    if change.type != "changed":  # a correction: the parser moved, not the market
        return
    moved = {one["field"]: (one["before"], one["after"]) for one in change.fields}
    if "price_minor" in moved and None not in moved["price_minor"] and not any(one in moved for one in _OTHER_OFFER):
        before, after = moved["price_minor"]
        yield Move(what="price", before=before, after=after, **shared)
    if "availability" in moved:
        before, after = moved["availability"]
        yield Move(what="stock", before=before, after=after, **shared)


def _money(minor: int | None, currency: str | None) -> str:
    if minor is None:
        return "without a price"
    if currency is None or currency not in EXPONENTS:
        return str(minor)
    return f"{from_minor(minor, currency)} {currency}"
