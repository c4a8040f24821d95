"""The way of one page's records from what was extracted to what is compared: normalised, judged, hashed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from storebot.core.fingerprint import details_hash, page_hash, record_hash
from storebot.core.normalise import Context, normalise
from storebot.core.parsing.rules import ProductRules
from storebot.core.validate import validate
from storebot.items import Extracted, Listing, Problem


class Hashed(NamedTuple):
    """The listings of a page with their hashes, and those of the page."""

    listings: tuple[Listing, ...]
    content_hash: str
    details_hash: str


def normalised(extracted: Iterable[Extracted], context: Context) -> tuple[tuple[Listing, ...], tuple[Problem, ...]]:
    """Return the listings of a page, and what of it couldn't be believed. Never raises for any text."""
    listings: list[Listing] = []
    problems: list[Problem] = []
    for one in extracted:
        listing, found = normalise(one, context)
        listings.append(listing)
        problems += found
    return tuple(listings), tuple(problems)


def refusal(fatal: Iterable[Problem]) -> str:
    """Return why a page is invalid, in one sentence; "" where there is no such problem."""
    return "; ".join(dict.fromkeys(f"{problem.field}: {problem.reason}" for problem in fatal))


def missing_fields(
    extracted: Iterable[Extracted], context: Context, required: Sequence[str], rules: ProductRules
) -> tuple[str, ...]:
    """Return the fields for want of which the listings of a page would be refused; () where none would."""
    listings, problems = normalised(extracted, context)
    found = (problem.field for listing in listings for problem in validate(listing, required, problems, rules))
    return tuple(dict.fromkeys(found))


def hashed(listings: Sequence[Listing]) -> Hashed:
    """Return the listings with the hashes of their tracked fields: two visits are equal when the hashes are."""
    found = tuple(
        replace(listing, record_hash=record_hash(listing), details_hash=details_hash(listing)) for listing in listings
    )
    return Hashed(
        found,
        page_hash({listing.variant_id: listing.record_hash for listing in found}),
        page_hash({listing.variant_id: listing.details_hash for listing in found}),
    )
