from __future__ import annotations

from typing import Any

from storebot.core.export.cells import Notes
from storebot.core.export.columns import listing_row
from storebot.core.export.merchant import product
from storebot.items import Availability, Listing
from tests.core.listings import changed


def row(listing: Listing, status: str = "active") -> dict[str, Any]:
    return listing_row(listing, status, {})


def test_a_reduced_listing_has_googles_names_and_forms() -> None:
    listing = changed(
        main_image="https://cdn.example/1.jpg",
        images=("https://cdn.example/1.jpg", "https://cdn.example/2.jpg"),
        condition="NewCondition",
        gtin="04006381333931",
        description="A\ndrill",
    )
    found = product(row(listing), Notes())
    assert found is not None
    assert len(found.pop("id")) == 20
    assert found == {
        "title": "Drill",
        "description": "A drill",
        "link": "https://s.example/p",
        "image_link": "https://cdn.example/1.jpg",
        "additional_image_link": ["https://cdn.example/2.jpg"],
        "availability": "in_stock",
        "price": "179.99 EUR",
        "sale_price": "149.99 EUR",
        "gtin": "04006381333931",
        "condition": "new",
        "product_type": "Home > Tools",
    }


def test_what_google_refuses_is_left_out_and_counted() -> None:
    notes = Notes()
    assert product(row(changed(), "delisted"), notes) is None
    assert product(row(changed(price_minor=None, regular_price_minor=None)), notes) is None
    assert product(row(changed(name=None)), notes) is None
    assert notes == {"not active": 1, "without price": 1, "without title": 1}


def test_a_variants_id_is_its_own() -> None:
    ids = {product(row(changed(variant_id=variant)), Notes())["id"] for variant in ("", "a", "b")}  # type: ignore[index]
    assert len(ids) == 3


def test_availability_in_googles_words() -> None:
    said = {one: product(row(changed(availability=one)), Notes()) for one in Availability}
    assert {one: found["availability"] for one, found in said.items() if found} == {
        **dict.fromkeys(Availability, "out_of_stock"),
        Availability.IN_STOCK: "in_stock",
        Availability.LIMITED_AVAILABILITY: "in_stock",
        Availability.ONLINE_ONLY: "in_stock",
        Availability.IN_STORE_ONLY: "in_stock",
        Availability.PRE_ORDER: "preorder",
        Availability.PRE_SALE: "preorder",
        Availability.BACK_ORDER: "backorder",
        Availability.MADE_TO_ORDER: "backorder",
    }
