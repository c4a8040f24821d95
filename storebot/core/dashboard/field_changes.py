"""What changed of a listing, in words: each field before and after, and by how much."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any, NamedTuple

from storebot.core.money import EXPONENTS, from_minor
from storebot.items import Availability

UP, DOWN = "up", "down"
MONEY = ("price_minor", "regular_price_minor", "price_min_minor", "price_max_minor")
FOR_SALE = frozenset(
    {
        Availability.IN_STOCK.value,
        Availability.LIMITED_AVAILABILITY.value,
        Availability.ONLINE_ONLY.value,
        Availability.IN_STORE_ONLY.value,
    }
)
_LABELS = {
    "price_minor": "price",
    "regular_price_minor": "regular price",
    "price_min_minor": "lowest price of its range",
    "price_max_minor": "highest price of its range",
    "gtin": "GTIN",
    "mpn": "part number",
    "sku": "shop's number",
}
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")
_LONGEST = 200


class Moved(NamedTuple):
    """One field of one change."""

    field: str
    label: str
    before: str  # in words, "" for nothing
    after: str
    direction: str  # up | down; "" where neither is said
    percent: Decimal | None  # of a price: by how much it moved, of what it was


def moved(fields: Iterable[Mapping[str, Any]], currency: str | None) -> list[Moved]:
    """Return the fields of a change; ``currency`` is what its listing is priced in, where the change doesn't say."""
    rows = list(fields)
    money = next((row for row in rows if row["field"] == "currency"), None)
    before, after = (money["before"], money["after"]) if money else (currency, currency)
    return [_moved(row, before, after) for row in rows]


def matches(found: Sequence[Moved], *, field: str = "", direction: str = "", least: Decimal | None = None) -> bool:
    """Whether one of the fields is the one that is looked for, moved that way, and by so many per cent."""
    return any(
        (not field or one.field == field)
        and (not direction or one.direction == direction)
        and (least is None or (one.percent is not None and abs(one.percent) >= least))
        for one in found
    )


def label(field: str) -> str:
    """Return what a person calls a field."""
    return _LABELS.get(field) or field.replace("_", " ")


def stock(value: str | None) -> str:
    """Return an availability in words: "OutOfStock" is out of stock."""
    return _HUMP.sub(" ", value).lower() if value else "not said"


def price(minor: int | None, currency: str | None) -> str:
    """Return an amount with its currency; in minor units where that isn't known."""
    if minor is None:
        return ""
    if currency not in EXPONENTS or currency is None:
        return f"{minor} (minor units, of no known currency)"
    return f"{from_minor(minor, currency):,} {currency}"


def change_of(before: Any, after: Any) -> Decimal | None:
    """Return by how many per cent an amount moved; None where one of the two isn't there."""
    if not isinstance(before, int) or not isinstance(after, int) or before <= 0:
        return None
    return (Decimal(after - before) * 100 / Decimal(before)).quantize(Decimal("0.1"))


def _moved(row: Mapping[str, Any], before_in: str | None, after_in: str | None) -> Moved:
    field, before, after = str(row["field"]), row.get("before"), row.get("after")
    if field in MONEY:
        percent = change_of(before, after) if before_in == after_in else None
        way = "" if not percent else UP if percent > 0 else DOWN
        return Moved(field, label(field), _money(before, before_in), _money(after, after_in), way, percent)
    if field == "availability":
        was, now = before in FOR_SALE, after in FOR_SALE
        way = "" if was == now else UP if now else DOWN
        return Moved(field, label(field), stock(before), stock(after), way, None)
    if field == "status":
        return Moved(field, label(field), _words(before), _words(after), UP if after == "active" else DOWN, None)
    return Moved(field, label(field), _words(before), _words(after), "", None)


def _money(value: Any, currency: str | None) -> str:
    return price(value, currency) if isinstance(value, int) else _words(value)


def _words(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, Mapping):
        value = ", ".join(f"{name}: {text}" for name, text in value.items())
    elif isinstance(value, list | tuple):
        value = " › ".join(str(one) for one in value)
    text = " ".join(str(value)[: _LONGEST * 4].split())
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
