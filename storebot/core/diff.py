"""What changed between two records of one listing, field by field."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from storebot.core.fingerprint import TRACKED, details_hash, record_hash, tracked_values
from storebot.core.text import REPLACEMENT
from storebot.items import Listing

_TEXTS = ("name", "brand", "seller", "description")
JSONValue = str | int | list[str] | dict[str, str] | None


class FieldChange(NamedTuple):
    """One field before and after, as JSON values: None where there's no value."""

    field: str
    before: JSONValue
    after: JSONValue


def changes_between(before: Listing, after: Listing) -> tuple[FieldChange, ...]:
    """Return the tracked fields that differ, in the order of `TRACKED`; none where the record hashes are equal."""
    old, new = tracked_values(before), tracked_values(after)
    if old == new:
        return ()
    return tuple(
        FieldChange(name, _json(before, name), _json(after, name)) for name in TRACKED if old.get(name) != new.get(name)
    )


def is_damaged(listing: Listing) -> bool:
    """Whether a text of a record lost characters to a wrong decoding."""
    return any(REPLACEMENT in (getattr(listing, name) or "") for name in _TEXTS)


def undamaged(before: Listing, after: Listing) -> Listing:
    """Return the later record, with the earlier text wherever its own lost characters to a wrong decoding (case E02).

    A page that once comes with the wrong charset must not overwrite a clean name; the visit has a problem that says so.
    """
    kept = {
        name: old
        for name in _TEXTS
        if REPLACEMENT in (getattr(after, name) or "") and (old := getattr(before, name)) and REPLACEMENT not in old
    }
    if not kept:
        return after
    listing = replace(after, **kept)
    return replace(listing, record_hash=record_hash(listing), details_hash=details_hash(listing))


def _json(listing: Listing, name: str) -> JSONValue:
    """Return the published value, not the comparable one: a reader wants the order of the breadcrumbs."""
    value = getattr(listing, name)
    if isinstance(value, tuple):
        return list(value) or None
    if isinstance(value, dict):
        return dict(value) or None
    if isinstance(value, int):
        return value
    return str(value) if value else None
