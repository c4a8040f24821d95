"""Real pages read without any store file, field by field against their golden records."""

from __future__ import annotations

import gzip
import json
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from storebot.core.money import EXPONENTS
from storebot.core.normalise import Context, normalise
from storebot.core.page import Page
from storebot.core.parsing.reading import identity, read_product
from storebot.core.parsing.rules import ProductRules
from storebot.items import Listing
from tests.shared_data import shared

FIELDS = ("name", "price", "currency", "availability", "sku", "gtin", "brand", "mpn")
FIELDS_FLOOR = 0.95
PRICES_FLOOR = 0.97

# Fields that a page states and the reading doesn't find, each with the reason.
MISSED = {
    "agem-sk-1": {"sku", "mpn"},  # only a hidden input and the address; "Kód: PC APPLE …" mixes three codes
    "agem-sk-2": {"sku", "mpn"},
    "amazon-it-1": {"name", "sku", "brand"},  # sold by others, no price: nothing on show proves a product
    "ar-sa-namshi-com-1": {"sku"},  # the JSON-LD gives the colour's own SKU, the golden the one in the address
    "ar-sa-namshi-com-2": {"mpn"},  # a table cell, and the JSON-LD is enough: no tree is built
    "argos-co-uk-1": {"brand"},  # in the state of a script, nowhere on show
    "argos-co-uk-2": {"brand"},
    "ebay-com-1": {"name"},  # "Details about" is hidden by a style sheet inside of itemprop=name
    "getit-co-il-1": {"name"},  # the JSON-LD itself ends in the label "דגם:"
    "i3fresh-tw-1": {"name", "price", "currency"},  # "from $29 a can" beside boxes of 839 to 3495: no one price
    "pcstore-com-tw-1": {"sku", "brand"},  # only in the address; a list of all brands
    "shop-bestseller-com-1": {"brand"},  # only in a script's data layer
    "shop-bestseller-com-2": {"brand"},
}


@dataclass(frozen=True)
class Row:
    """One page: what is right, and what the reading gives."""

    about: dict[str, Any]
    listings: tuple[Listing, ...]
    is_flagged: bool

    def is_right(self, name: str) -> bool:
        golden = self.about["golden"]
        wanted = [golden[name], *self.about["accept"].get(name, [])]
        if name == "price" and "low" in golden and self._bounds() == (golden["low"], golden["high"]):
            return True  # a comparison of shops has a range, and no price of its own
        if name == "sku" and len(self.listings) > 1:
            # Each variant has its own; the golden has the parent's, or accepts none.
            wanted += [None] if None in wanted else []
            if None in wanted or any(one.item_group_id == golden[name] for one in self.listings):
                return True
        found = [value_of(one, name) for one in self.listings] or [None]
        return any(same(name, value, want) for value in found for want in wanted)

    def has_price(self) -> bool:
        return any(one.price_minor is not None for one in self.listings)

    def _bounds(self) -> tuple[str | None, str | None]:
        one = self.listings[0]
        return in_units(one.price_min_minor, one.currency), in_units(one.price_max_minor, one.currency)


@cache
def rows() -> tuple[Row, ...]:
    return tuple(map(_row, sorted(shared("products/pages").glob("*.golden.json"))))


def _row(path: Path) -> Row:
    about = json.loads(path.read_text())
    body = gzip.decompress((path.parent / Path(about["file"]).name).read_bytes())
    reading = read_product(Page(url=about["url"], body=body), ProductRules())
    context = Context(store="shop", url_key=about["url"], url=about["url"])
    read = [normalise(one, context) for one in reading.extracted]
    problems = [*reading.problems, *(problem for _, found in read for problem in found)]
    doubts = [one.field for one in problems] + [one.field for listing, _ in read for one in listing.disagreements]
    return Row(about, tuple(listing for listing, _ in read), bool({"price", "currency"} & set(doubts)))


def in_units(minor: int | None, currency: str | None) -> str | None:
    return None if minor is None or currency is None else str(Decimal(minor).scaleb(-EXPONENTS[currency]))


def value_of(listing: Listing, name: str) -> str | None:
    if name == "price":
        return in_units(listing.price_minor, listing.currency)
    value = getattr(listing, name)
    return None if value is None else str(getattr(value, "value", value))


def same(name: str, found: str | None, wanted: str | None) -> bool:
    if found is None or wanted is None:
        return found is wanted
    if name == "price":
        return Decimal(found) == Decimal(wanted)
    if name == "gtin":
        return found == re.sub(r"\D", "", wanted).zfill(14)
    return folded(found) == folded(wanted)


def folded(text: str) -> str:
    """Return text without what typography and white space change."""
    text = unicodedata.normalize("NFC", text)
    text = re.sub("[\u2018\u2019\u2032\u00b4`]", "'", re.sub("[\u201c\u201d\u201e\u2033]", '"', text))
    return " ".join(re.sub("[\u2010-\u2015]", "-", text).split()).casefold()


def stated() -> Iterator[tuple[Row, str]]:
    """Yield each field that a page states."""
    for row in rows():
        yield from ((row, name) for name in FIELDS if row.about["golden"].get(name) is not None)


def test_the_fields_that_pages_state_are_found_without_a_store_file() -> None:
    found = [row.is_right(name) for row, name in stated()]
    assert sum(found) / len(found) >= FIELDS_FLOOR


def test_every_field_that_is_missed_is_one_that_is_argued() -> None:
    missed: dict[str, set[str]] = {}
    for row, name in stated():
        if not row.is_right(name):
            missed.setdefault(row.about["id"], set()).add(name)
    assert missed == MISSED


def test_the_prices_are_found_without_a_store_file() -> None:
    right = [row.is_right("price") for row in rows()]
    assert sum(right) / len(right) >= PRICES_FLOOR


def test_no_price_is_wrong_without_being_flagged() -> None:
    assert [
        row.about["id"] for row in rows() if row.has_price() and not row.is_right("price") and not row.is_flagged
    ] == []


def test_a_price_that_is_crossed_out_beside_a_lower_one_is_the_regular_price() -> None:
    row = next(row for row in rows() if row.about["id"] == "elkor-lv-2")
    assert (row.listings[0].price_minor, row.is_flagged) == (11000, True)


@pytest.mark.parametrize("name", ["category-argon40", "home-shopify", "listing-tunisianet", "listing-woo", "tiny-page"])
def test_a_page_that_sells_no_single_product_is_none(name: str) -> None:
    body = gzip.decompress(shared(f"products/nonproduct/{name}.html.gz").read_bytes())
    reading = read_product(Page(url="https://shop.example/", body=body), ProductRules())
    assert not identity(reading)
    assert not any("price" in listing.values for listing in reading.extracted)
