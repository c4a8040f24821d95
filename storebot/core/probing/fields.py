"""Which fields the sampled product pages give, from where, and how far that can be believed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from storebot.core.money import from_minor
from storebot.core.probing.seen import Seen
from storebot.items import Listing

# In the order of the report; a field's value on the record, by the field's name in a store file.
FIELDS = {
    "name": "name",
    "price": "price_minor",
    "regular_price": "regular_price_minor",
    "price_min": "price_min_minor",
    "currency": "currency",
    "availability": "availability",
    "sku": "sku",
    "gtin": "gtin",
    "mpn": "mpn",
    "brand": "brand",
    "category_path": "category_path",
    "images": "images",
    "description": "description",
    "rating_value": "rating_value",
}
_MOST_SHOWN = 40  # characters of an example


class Confidence(StrEnum):
    """How far a field can be believed, by its sources."""

    HIGH = "high"  # said for machines
    MEDIUM = "medium"  # said for other machines, such as those of social networks
    LOW = "low"  # read off the page as a buyer reads it, or worked out

    @classmethod
    def of(cls, source: str) -> Confidence:
        """Return the confidence in one source of ``field_source``."""
        kind = source.partition(":")[0]
        if kind in ("jsonld", "microdata", "rdfa"):
            return cls.HIGH
        return cls.LOW if kind == "visible" else cls.MEDIUM


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldEvidence:
    """One field over the sample."""

    field: str
    pages: int  # that give it
    sources: tuple[tuple[str, int], ...]  # with the number of pages, most first
    confidence: Confidence  # of the weakest source
    example: str
    disagreements: int = 0  # pages on which two sources differ


def field_evidence(products: Sequence[Seen]) -> tuple[FieldEvidence, ...]:
    """Return the fields that some page gives, in the order of the report."""
    rows = (_row(name, products) for name in FIELDS)
    return tuple(row for row in rows if row.pages or row.disagreements)


def _row(name: str, products: Sequence[Seen]) -> FieldEvidence:
    sources: Counter[str] = Counter()
    example = ""
    disagreements = 0
    for page in products:
        giving = [one for one in page.listings if getattr(one, FIELDS[name]) not in (None, "", (), {})]
        disagreements += any(one.field == name for listing in page.listings for one in listing.disagreements)
        if giving:
            sources[giving[0].field_source.get(name, "worked out")] += 1
            example = example or _shown(giving[0], name)
    found = tuple(sources.most_common())
    confidence = min((Confidence.of(source) for source, _ in found), key=_ORDER.index, default=Confidence.LOW)
    return FieldEvidence(
        field=name,
        pages=sources.total(),
        sources=found,
        confidence=confidence,
        example=example,
        disagreements=disagreements,
    )


_ORDER = [Confidence.LOW, Confidence.MEDIUM, Confidence.HIGH]


def _shown(listing: Listing, name: str) -> str:
    value: Any = getattr(listing, FIELDS[name])
    if isinstance(value, int) and FIELDS[name].endswith("_minor"):
        return str(from_minor(value, listing.currency)) if listing.currency else str(value)
    text = " > ".join(value) if name == "category_path" else str(len(value)) if name == "images" else str(value)
    return text if len(text) <= _MOST_SHOWN else f"{text[: _MOST_SHOWN - 1]}…"
