"""Hashes: equal where nothing of worth changed, different where anything did."""

from __future__ import annotations

import hashlib
from dataclasses import fields
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storebot.core.fingerprint import HASH_VERSION, TRACKED, details_hash, page_hash, picture_address, record_hash
from storebot.items import Availability, Listing
from tests.core.listings import BASE, LISTINGS, changed


@pytest.mark.parametrize(
    "change",
    [
        {"name": "Drill 2"},
        {"price_minor": 14998},
        {"price_minor": 17999, "regular_price_minor": 14999},  # swapped within a listing
        {"price_minor": None},
        {"currency": "USD"},
        {"availability": Availability.OUT_OF_STOCK},
        {"options": {"Size": "M", "Color": "red"}},
        {"options": {"Color": "L", "Size": "red"}},
        {"category_path": ("Home",)},
        {"gtin": "04006381333931"},
        {"seller": "Bob"},
    ],
)
def test_a_change_of_a_tracked_field_changes_the_hash(change: dict[str, Any]) -> None:
    assert record_hash(changed(**change)) != record_hash(BASE)


@pytest.mark.parametrize(
    "change",
    [
        {"rating_value": "4.5"},
        {"review_count": 3},
        {"description": "other"},
        {"images": ()},
        {"url": "https://s.example/q"},
        {"product_id": "x9"},
        {"variant_id": "v"},
        {"options": {"Color": "red", "Size": "L"}},
        {"category_path": ("Tools", "Home", "Tools")},
        {"brand": ""},
        {"field_source": {"name": "css:h1"}},
    ],
)
def test_what_changes_by_itself_leaves_the_hash(change: dict[str, Any]) -> None:  # X12
    assert record_hash(changed(**change)) == record_hash(BASE)


def test_prices_swapped_between_two_listings_change_both_hashes_and_the_page() -> None:
    one, two = changed(name="A", price_minor=1), changed(name="B", price_minor=2)
    one_swapped, two_swapped = changed(name="A", price_minor=2), changed(name="B", price_minor=1)
    assert record_hash(one) != record_hash(one_swapped)
    assert record_hash(two) != record_hash(two_swapped)


def test_prices_swapped_between_variants_of_one_name_change_the_page() -> None:
    cheap, dear = record_hash(changed(price_minor=1)), record_hash(changed(price_minor=2))
    assert page_hash({"S": cheap, "L": dear}) != page_hash({"S": dear, "L": cheap})


@given(st.dictionaries(st.text(alphabet="abc", max_size=3), st.sampled_from(["1" * 64, "2" * 64]), max_size=5))
def test_the_order_of_variants_leaves_the_page(hashes: dict[str, str]) -> None:  # A06
    assert page_hash(hashes) == page_hash(dict(reversed(hashes.items())))


@given(LISTINGS)
def test_the_order_of_options_and_images_leaves_the_hashes(listing: Listing) -> None:
    shuffled = Listing(
        **{
            **{field.name: getattr(listing, field.name) for field in fields(listing)},
            "options": dict(reversed(listing.options.items())),
            "images": listing.images[::-1],
            "category_path": listing.category_path[::-1],
        }
    )
    assert record_hash(shuffled) == record_hash(listing)
    assert details_hash(shuffled) == details_hash(listing)


@pytest.mark.parametrize(
    "images",
    [
        ("https://cdn.example/1.jpg?v=1718&sig=xyz", "https://cdn.example/2.jpg"),
        ("http://cdn.example/2.jpg?w=800", "https://cdn.example/1.jpg#x"),
    ],
)
def test_what_a_cdn_appends_leaves_the_details(images: tuple[str, ...]) -> None:  # X12
    assert details_hash(changed(images=images)) == details_hash(BASE)


@pytest.mark.parametrize(
    "change", [{"description": "other"}, {"images": ()}, {"main_image": "https://cdn.example/3.jpg"}]
)
def test_other_details_change_their_hash(change: dict[str, Any]) -> None:
    assert details_hash(changed(**change)) != details_hash(BASE)


def test_a_picture_named_by_its_query_keeps_it() -> None:
    assert picture_address("https://s.example/image.php?id=5&ts=1") == "s.example/image.php?id=5"
    assert picture_address("https://s.example/is/image/Acme/1?wid=5") == "s.example/is/image/Acme/1"


def test_the_hash_is_that_of_canonical_json() -> None:
    listing = Listing(
        store="s", url_key="k", url="u", name="é", price_minor=5, currency="EUR", category_path=("b", "a")
    )
    text = '{"category_path":["a","b"],"currency":"EUR","name":"é","price_minor":5}'
    assert record_hash(listing) == hashlib.sha256(text.encode()).hexdigest()


def test_the_version_moves_with_the_fields() -> None:
    """Change this together with HASH_VERSION: a moved hash without it announces changes that never were."""
    assert HASH_VERSION == 1
    assert record_hash(BASE) == "932453411fbd8aa51416ba6c55f87475c3bc41ff0091ff5ec7110a3f86f24568"
    assert set(TRACKED) <= {field.name for field in fields(Listing)}
