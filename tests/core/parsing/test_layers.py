"""Sources laid over each other: who says which listings there are, who is paired with whom, what is flagged."""

from __future__ import annotations

from typing import Any

import pytest

from storebot.core.parsing.layers import lay
from storebot.core.parsing.schemaorg import Found
from storebot.items import Disagreement, Extracted


def found(source: str, *records: dict[str, Any]) -> Found:
    return Found(source, records=list(records))


def rows(*sources: Found) -> dict[object, Extracted]:
    return {one.values.get("variant_id"): one for one in lay(sources, {})}


SIZES = (
    {"variant_id": "S", "sku": "S", "price": "8", "options": {"size": "S"}},
    {"variant_id": "L", "sku": "L", "price": "9", "options": {"size": "L"}},
)


@pytest.mark.parametrize("source", ["shopify", "woocommerce"])
def test_variants_of_a_platforms_scripts_are_the_listings_of_a_product_that_others_give_as_one(source: str) -> None:
    whole = {"name": "Drill", "price": "8", "currency": "EUR", "availability": "InStock"}
    laid = rows(found("jsonld", whole), found(source, *SIZES))
    assert {key: one.values["price"] for key, one in laid.items()} == {"S": "8", "L": "9"}
    assert {one.values["name"] for one in laid.values()} == {"Drill"}
    assert {one.values["currency"] for one in laid.values()} == {"EUR"}
    assert all("availability" not in one.values for one in laid.values())


def test_variants_of_any_source_are_the_listings_beside_a_mere_range() -> None:
    whole = {"name": "Drill", "price_min": "8", "price_max": "9"}
    assert set(rows(found("jsonld", whole), found("microdata", *SIZES))) == {"S", "L"}


def test_variants_of_weaker_markup_do_not_replace_a_product_that_has_a_price() -> None:
    assert set(rows(found("jsonld", {"name": "Drill", "price": "8"}), found("microdata", *SIZES))) == {None}


def test_the_first_source_with_variants_says_which_there_are_and_the_others_fill_in() -> None:
    more = {"variant_id": "XL", "price": "10"}
    laid = rows(found("jsonld", *SIZES), found("shopify", {**SIZES[0], "regular_price": "12"}, more))
    assert set(laid) == {"S", "L"}
    assert laid["S"].values["regular_price"] == "12"
    assert "regular_price" not in laid["L"].values


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ({"sku": "A-S"}, {"sku": "A-S", "variant_id": "1"}),
        ({"url": "https://x.example/p?variant=17"}, {"url": "/p?a=1&variant=17"}),
        ({"options": {"Size": "S"}}, {"options": {"pa_size": "s"}}),
    ],
)
def test_two_names_for_one_variant_are_paired(ours: dict[str, Any], theirs: dict[str, Any]) -> None:
    base = found("jsonld", {"variant_id": "a", "price": "8", **ours}, {"variant_id": "b", "price": "9", "sku": "B"})
    laid = rows(base, found("shopify", {"gtin": "1", **theirs}, {"variant_id": "other", "gtin": "2"}))
    assert laid["a"].values.get("gtin") == "1"
    assert "gtin" not in laid["b"].values


def test_a_code_that_all_variants_share_pairs_none() -> None:
    base = found("woocommerce", *({**size, "sku": "P"} for size in SIZES))
    laid = rows(base, found("jsonld", {"name": "Drill", "sku": "P", "gtin": "1"}))
    assert all("gtin" not in one.values for one in laid.values())


def test_the_code_of_the_whole_product_is_the_group_of_its_variants() -> None:
    laid = rows(found("jsonld", {"name": "Drill", "sku": "P"}), found("woocommerce", *SIZES))
    assert {one.values["item_group_id"] for one in laid.values()} == {"P"}
    paired = rows(found("jsonld", {"name": "Drill", "sku": "S"}), found("woocommerce", *SIZES))
    assert all("item_group_id" not in one.values for one in paired.values())


@pytest.mark.parametrize(
    ("price", "flagged"), [("8", False), ("8.50", False), ("9,00", False), ("7", True), ("90", True)]
)
def test_a_price_of_the_whole_that_no_variant_can_have_is_flagged(price: str, flagged: bool) -> None:
    laid = rows(found("shopify", *SIZES), found("opengraph", {"name": "Drill", "price": price}))
    expected = (Disagreement("price", {"shopify": "8", "opengraph": price}),) if flagged else ()
    assert laid["S"].disagreements == expected
