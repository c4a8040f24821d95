"""A record as it was at a time: the one of now, with every later change undone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from storebot.items import Availability, Listing, ListingStatus

# What a listing was before each change of its state.
_BEFORE = {
    "delisted": ListingStatus.ACTIVE,
    "missing": ListingStatus.ACTIVE,
    "relisted": ListingStatus.DELISTED,
    "returned": ListingStatus.MISSING,
}


class Told(NamedTuple):
    """One change event: its type, and ``[{field, before, after}]``."""

    type: str
    fields: Sequence[Mapping[str, Any]]


def undone(listing: Listing, status: ListingStatus, later: Iterable[Told]) -> tuple[Listing, ListingStatus]:
    """Return record and status without these changes, given from the latest to the earliest.

    Only what changes are told of is undone: tracked fields and the state. Description and images are those of now, and
    so is what a better parser corrected.
    """
    values: dict[str, Any] = {}
    for change in later:
        status = _BEFORE.get(change.type, status)
        for one in change.fields:
            if one["field"] in Listing.__dataclass_fields__:
                values[one["field"]] = _value(one["field"], one["before"])
    return (replace(listing, **values) if values else listing), status


def _value(name: str, before: Any) -> Any:
    if name == "availability":
        return Availability(before) if before is not None else None
    if name in ("category_path", "images"):
        return tuple(before or ())
    return (before or {}) if name == "options" else before
