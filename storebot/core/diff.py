"""What changed between two records of one listing, field by field."""

from __future__ import annotations

from typing import NamedTuple

from storebot.core.fingerprint import TRACKED, tracked_values
from storebot.items import Listing

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
