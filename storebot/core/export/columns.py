"""The columns of an export: what each holds, and how a row is made of a record (DESIGN §6)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from enum import StrEnum
from typing import Any, NamedTuple

from storebot.core.money import from_minor
from storebot.items import Listing

Row = Mapping[str, Any]
"""Values by column, of the type that the column's `Kind` names; None where nothing is known."""


class Kind(StrEnum):
    """What a column holds, and as what Python value a row has it."""

    TEXT = "text"  # str
    MONEY = "money"  # Decimal, with exactly the decimals of the row's currency
    INTEGER = "integer"  # int
    TIME = "time"  # datetime with UTC as its time zone
    LIST = "list"  # list of str
    MAP = "map"  # dict of str -> str
    FIELDS = "fields"  # list of {field, before, after}, as changes have it


class Column(NamedTuple):
    name: str
    kind: Kind
    about: str


def _columns(*rows: tuple[str, Kind, str]) -> tuple[Column, ...]:
    return tuple(Column(*row) for row in rows)


_WHOSE = (
    ("store", Kind.TEXT, "the store's name"),
    ("url_key", Kind.TEXT, "the key that the page is known by"),
    ("variant_id", Kind.TEXT, "the variant on the page; empty: the product itself"),
)
LISTINGS = _columns(
    ("store", Kind.TEXT, "the store's name"),
    ("name", Kind.TEXT, "the product's name"),
    ("brand", Kind.TEXT, "the brand"),
    ("price", Kind.MONEY, "what it costs now"),
    ("regular_price", Kind.MONEY, "what it costs when it isn't reduced"),
    ("price_min", Kind.MONEY, "the lowest price of a range"),
    ("price_max", Kind.MONEY, "the highest price of a range"),
    ("currency", Kind.TEXT, "ISO 4217"),
    ("availability", Kind.TEXT, "schema.org ItemAvailability"),
    ("condition", Kind.TEXT, "schema.org OfferItemCondition"),
    ("status", Kind.TEXT, "active, missing or delisted"),
    ("url", Kind.TEXT, "the page's address"),
    ("options", Kind.MAP, "what makes the variant: name -> value"),
    ("category_path", Kind.LIST, "from the widest category to the narrowest"),
    ("gtin", Kind.TEXT, "14 digits, the check digit is valid"),
    ("mpn", Kind.TEXT, "the manufacturer's part number"),
    ("sku", Kind.TEXT, "the shop's number"),
    ("product_id", Kind.TEXT, "the shop's number of the product"),
    ("item_group_id", Kind.TEXT, "what variants of one product share"),
    ("url_key", Kind.TEXT, "the key that the page is known by"),
    ("variant_id", Kind.TEXT, "the variant on the page; empty: the product itself"),
    ("canonical_url", Kind.TEXT, "the address that the page names as its own"),
    ("main_image", Kind.TEXT, "address of the first image"),
    ("images", Kind.LIST, "addresses of all images"),
    ("description", Kind.TEXT, "the description"),
    ("rating_value", Kind.TEXT, "average rating, decimal text"),
    ("review_count", Kind.INTEGER, "how many reviews there are"),
    ("seller", Kind.TEXT, "who sells it"),
    ("field_source", Kind.MAP, "which source each field is from"),
    ("disagreements", Kind.LIST, "fields whose sources disagree"),
    ("parser_version", Kind.TEXT, "by which the page was read"),
    ("run_id", Kind.INTEGER, "the run that wrote the record last"),
    ("tier", Kind.TEXT, "how the page was fetched"),
    ("first_seen_at", Kind.TIME, "when it was seen first"),
    ("last_seen_at", Kind.TIME, "when it was seen last"),
    ("last_checked_at", Kind.TIME, "when its page answered last"),
    ("last_changed_at", Kind.TIME, "when its record changed last"),
)
CHANGES = _columns(
    ("seq", Kind.INTEGER, "number of the change, rising"),
    ("id", Kind.TEXT, "the same change has the same id wherever it is told"),
    ("type", Kind.TEXT, "new, changed, delisted, relisted, missing, returned or corrected"),
    *_WHOSE,
    ("fields", Kind.FIELDS, "what changed: field, before, after"),
    ("run_id", Kind.INTEGER, "the run that found it"),
    ("at", Kind.TIME, "when it was found"),
)
OFFERS = _columns(
    *_WHOSE,
    ("price", Kind.MONEY, "the price from then on"),
    ("regular_price", Kind.MONEY, "what it costs when it isn't reduced"),
    ("currency", Kind.TEXT, "ISO 4217"),
    ("availability", Kind.TEXT, "schema.org ItemAvailability"),
    ("cause", Kind.TEXT, "seen, card, rebased or corrected"),
    ("run_id", Kind.INTEGER, "the run that found it"),
    ("at", Kind.TIME, "since when"),
)
COLUMNS: Mapping[str, tuple[Column, ...]] = {"listings": LISTINGS, "changes": CHANGES, "offers": OFFERS}
"""The columns of each thing that can be exported (``--what``), in their order."""

_AS_THEY_ARE = tuple(
    column.name
    for column in LISTINGS
    if column.name in Listing.__dataclass_fields__ and column.kind in (Kind.TEXT, Kind.INTEGER)
)


def listing_row(listing: Listing, status: str, provenance: Mapping[str, Any]) -> dict[str, Any]:
    """Return the row of a record; ``provenance`` has what only the database knows, times in milliseconds."""
    row: dict[str, Any] = {name: getattr(listing, name) for name in _AS_THEY_ARE}
    row["status"] = status
    row["availability"] = listing.availability.value if listing.availability else None
    for name in ("price", "regular_price", "price_min", "price_max"):
        row[name] = money(getattr(listing, f"{name}_minor"), listing.currency)
    row["options"] = dict(listing.options)
    row["category_path"] = list(listing.category_path)
    row["images"] = list(listing.images)
    row["field_source"] = dict(listing.field_source)
    row["disagreements"] = sorted({one.field for one in listing.disagreements})
    for name, value in provenance.items():
        row[name] = time(value) if name.endswith("_at") else value
    return row


def money(minor: int | None, currency: str | None) -> Decimal | None:
    """Return an amount with the decimals of its currency; None where either isn't known."""
    return from_minor(minor, currency) if minor is not None and currency else None


def time(at_ms: int | None) -> datetime | None:
    """Return milliseconds since the epoch as a time in UTC; None for None and for 0, which is never."""
    return datetime.fromtimestamp(at_ms / 1000, UTC) if at_ms else None


def iso(value: datetime) -> str:
    """Return a time as ISO 8601, with milliseconds and Z."""
    return value.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def chosen(what: str, names: Sequence[str]) -> tuple[Column, ...]:
    """Return the columns of these names, in this order; all for none. ValueError names what isn't one."""
    known = {column.name: column for column in COLUMNS[what]}
    if unknown := [name for name in names if name not in known]:
        raise ValueError(f"{what} have no column {unknown[0]!r}: choose of {', '.join(known)}")
    if doubled := sorted({name for name in names if names.count(name) > 1}):
        raise ValueError(f"column {doubled[0]!r} is asked for twice")
    return tuple(known[name] for name in names) or COLUMNS[what]
