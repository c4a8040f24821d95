"""What a feed carries: whole products, each with the address of its page, so that the page needs no request."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from storebot.core.parsing.values import Value
from storebot.items import Extracted

MAX_VARIANTS = 2000
"""Of one product; a page with more can't be compared in one go."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CarriedProduct:
    """One product page as a feed tells it; ``url`` is absolute. Without a record it has to be fetched."""

    url: str
    extracted: tuple[Extracted, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Carried:
    """What one document carries, in its order."""

    products: tuple[CarriedProduct, ...]
    lost: int = 0  # entries without an address or a name: nothing is known of them
    truncated: bool = False  # the data stops in the middle
    total: int | None = None  # products that the shop says all pages of the listing have together


def is_too_many(variants: Sequence[object]) -> bool:
    """Say whether a product has more than `MAX_VARIANTS`: it gets no record then, so that its own page is asked."""
    return len(variants) > MAX_VARIANTS


def record(source: str, **values: Value | None) -> Extracted:
    """Return a record of the fields that have a value, all from one source."""
    found: dict[str, Value] = {name: value for name, value in values.items() if value}
    return Extracted(values=found, sources=dict.fromkeys(found, source))
