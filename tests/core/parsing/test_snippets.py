"""Structured data in every form that textbooks and broken shops give it, read without a store file."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from storebot.core.money import EXPONENTS
from storebot.core.normalise import Context, normalise
from storebot.core.page import Page
from storebot.core.parsing.reading import Reading, identity, read_product
from storebot.core.parsing.rules import ProductRules
from storebot.items import Listing
from tests.shared_data import shared

URL = "https://shop.example/p/x"
# Every file of the folder is in one of the lists below, or has a golden record.
NO_PRODUCT = {
    "extruct-JSONLD_with_JS_comment.html": "a news article",
    "extruct-null_ld_mock.html": "a local business, a review, and blocks that are `null`",
    "schemaorg-eg-0208-json.html": "a list of products",
    "schemaorg-eg-0208-microdata.html": "a list of products",
    "schemaorg-eg-0208-rdfa.html": "a list of products",
}
TEXTBOOK: dict[str, dict[str, Any]] = {
    "schemaorg-eg-0010-json": {"name": 'Kenmore White 17" Microwave', "price": "55.00", "currency": "USD"},
    "schemaorg-eg-0010-microdata": {"name": 'Kenmore White 17" Microwave', "price": "1000.00", "currency": "USD"},
    "schemaorg-eg-0010-rdfa": {"name": 'Kenmore White 17" Microwave', "price": "1000.00", "currency": "USD"},
    "schemaorg-eg-0011-json": {"name": 'Dell UltraSharp 30" LCD Monitor', "price": None, "currency": "USD"},
    "schemaorg-eg-0011-rdfa": {"name": 'Dell UltraSharp 30" LCD Monitor', "price": None, "currency": "USD"},
    "schemaorg-eg-0029-json": {"name": "ACME Racing Bike in black (2008)", "price": None},
    "schemaorg-eg-0029-microdata": {"name": "ACME Racing Bike in black (2008)", "price": None},
    "schemaorg-eg-0029-rdfa": {"name": "ACME Racing Bike in black (2008)", "price": None},
    "schemaorg-eg-0030-microdata": {"name": "Brother HL-2230 Compact Laser Printer", "gtin": "00012502627104"},
    "schemaorg-eg-0030-rdfa": {"name": "Brother HL-2230 Compact Laser Printer", "gtin": "00012502627104"},
    # Its code 1234567890128 is made up, and its check digit is right by chance.
    "schemaorg-eg-0031-microdata": {"name": "ACME Colorvision 123", "gtin": "01234567890128"},
    "schemaorg-eg-0462-microdata": {"name": "The Catcher in the Rye", "price": "6.99", "gtin": "09780316769488"},
    "extruct-product-ref": {"name": "Executive Anvil", "price": "119.99", "brand": "ACME", "mpn": "925872"},
}


def reading_of(name: str) -> Reading:
    return read_product(Page(url=URL, body=shared(f"products/snippets/{name}").read_bytes()), ProductRules())


def listing_of(name: str) -> Listing:
    (extracted,) = reading_of(name).extracted
    return normalise(extracted, Context(store="shop", url_key=URL, url=URL))[0]


def price_of(listing: Listing) -> Decimal | None:
    if listing.price_minor is None or listing.currency is None:
        return None
    return Decimal(listing.price_minor).scaleb(-EXPONENTS[listing.currency])


def agrees(listing: Listing, field: str, wanted: str | None) -> bool:
    if field == "price":
        return price_of(listing) == (None if wanted is None else Decimal(wanted))
    found = getattr(listing, field)
    return bool(found == (wanted.zfill(14) if field == "gtin" and wanted else wanted))


# The golden of single-quotes asks for no more than no crash, for that isn't JSON; it is read all the same.
MADE = [
    "bom",
    "cdata-block",
    "graph",
    "html-comment",
    "js-comment",
    "nan",
    "nested-main-entity",
    "price-with-symbol",
    "raw-newline-in-string",
    "single-quotes",
    "trailing-comma",
    "trailing-semicolon",
    "type-list",
]


@pytest.mark.parametrize("form", MADE)
def test_a_broken_form_gives_its_golden_record(form: str) -> None:
    name = f"made-{form}.html"
    golden = json.loads(shared(f"products/snippets/{name}.golden.json").read_text())["golden"]
    listing = listing_of(name)
    assert {field for field, wanted in golden.items() if not agrees(listing, field, wanted)} == set()


def test_a_block_that_is_cut_off_is_told_and_gives_nothing() -> None:
    reading = reading_of("made-truncated.html")
    assert not identity(reading)
    assert [problem.field for problem in reading.problems] == ["jsonld"]


@pytest.mark.parametrize("name", sorted(TEXTBOOK))
def test_a_textbook_example_is_read_in_every_syntax(name: str) -> None:
    listing = listing_of(f"{name}.html")
    assert {field for field, wanted in TEXTBOOK[name].items() if not agrees(listing, field, wanted)} == set()


@pytest.mark.parametrize("name", sorted(NO_PRODUCT))
def test_what_describes_no_single_product_gives_none(name: str) -> None:
    assert not identity(reading_of(name))
    assert reading_of(name).extracted == ()


def test_a_range_of_sellers_is_a_range_in_every_syntax() -> None:
    for syntax in ("json", "rdfa"):
        listing = listing_of(f"schemaorg-eg-0011-{syntax}.html")
        assert (listing.price_min_minor, listing.price_max_minor, listing.price_minor) == (125000, 149500, None)


def test_no_snippet_is_left_out() -> None:
    there = {path.name for path in Path(shared("products/snippets")).glob("*.html")}
    named = {f"made-{form}.html" for form in [*MADE, "truncated"]} | {f"{name}.html" for name in TEXTBOOK}
    assert there == named | set(NO_PRODUCT)
