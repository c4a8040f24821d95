"""What storebot makes of one page, as one JSON-able object: for `scrapy inspect`, and for whoever asks why."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from storebot.core.blocks import Block, classify
from storebot.core.money import from_minor
from storebot.core.normalise import Context, normalise
from storebot.core.page import Page
from storebot.core.parsing.reading import identity, read_product
from storebot.core.parsing.rules import ProductRules
from storebot.items import Listing, PageType


def inspection(page: Page, rules: ProductRules, context: Context, markers: Iterable[str] = ()) -> dict[str, Any]:
    """Return ``{key, block, listings, problems}``.

    ``block`` is None or vendor, kind and signals; a block page has no listings, nor has one that broke the store's own
    code. A listing is the record of DESIGN §6, with prices as decimal text beside their minor units.
    """
    reading = read_product(page, rules) if page.status < 400 else None
    block = classify(
        page,
        page_type=PageType.PRODUCT,
        identity=reading is not None and identity(reading),
        markers=markers,
    )
    listings, problems = [], list(reading.problems) if reading else []
    if reading and block is None and not reading.failure:
        for extracted in reading.extracted:
            listing, found = normalise(extracted, context)
            listings.append(_record(listing))
            problems += found
    return {
        "key": context.url_key,
        "block": _block(block),
        "listings": listings,
        "problems": [problem._asdict() for problem in problems],
    }


def _block(block: Block | None) -> dict[str, Any] | None:
    if block is None:
        return None
    return {
        "vendor": block.vendor,
        "kind": str(block.kind),
        "signals": [{"kind": one.kind, "value": one.value, "vendor": one.vendor} for one in block.signals],
    }


def _record(listing: Listing) -> dict[str, Any]:
    record = asdict(listing)
    record["disagreements"] = [{"field": one.field, "values": one.values} for one in listing.disagreements]
    for name in ("price", "regular_price", "price_min", "price_max"):
        minor = record[f"{name}_minor"]
        known = minor is not None and listing.currency
        record[name] = str(from_minor(minor, listing.currency or "")) if known else None
    del record["record_hash"], record["details_hash"]
    return record
