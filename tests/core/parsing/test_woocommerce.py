"""WooCommerce's variations in a page: prices, options in words, stock, and forms that hold none."""

from __future__ import annotations

import json
from html import escape
from typing import Any

import pytest

from storebot.core.parsing import woocommerce
from storebot.core.parsing.reading import Reading, read_product
from storebot.core.parsing.rules import ProductRules
from storebot.core.parsing.schemaorg import Found
from tests.core.parsing.pages import URL, only, page, product, script

RANGE = {"@type": "AggregateOffer", "lowPrice": "8.00", "highPrice": "32.00", "priceCurrency": "USD"}
WORDS = """<label for="pa_size">Size:</label><select name="attribute_pa_size" id=x>
<option value="">Choose</option><option value="10-ml">10 mL</option>
<option value="50-ml">50 &amp; more</option></select>"""


def variation(number: int, size: str = "", **fields: Any) -> dict[str, Any]:
    attributes = {"attribute_pa_size": size, "attribute_level": ""}
    return {"variation_id": number, "attributes": attributes, "display_price": 8, "is_in_stock": True, **fields}


def form(*variations: dict[str, Any], action: str = URL, text: str | None = None, words: str = WORDS) -> str:
    data = escape(json.dumps(variations)) if text is None else text
    return f'<form class="variations_form" action="{action}" data-product_variations="{data}">{words}</form>'


def read(body: str) -> Found:
    return woocommerce.read(page(body))


def full(body: str, **fields: Any) -> Reading:
    return read_product(page(f"<h1>Drill</h1>{body}", script(product(**{"offers": RANGE, **fields}))), ProductRules())


def test_every_variation_is_a_record_with_its_options_in_words() -> None:
    small = variation(1, "10-ml", sku="D-10", display_regular_price=9.5)
    large = variation(2, "50-ml", sku="D-50", display_price=32.25, is_in_stock=False)
    assert read(form(small, large)).records == [
        {
            "price": "8",
            "regular_price": "9.5",
            "availability": "InStock",
            "sku": "D-10",
            "options": {"Size": "10 mL"},
            "variant_id": "D-10",
        },
        {
            "price": "32.25",
            "availability": "OutOfStock",
            "sku": "D-50",
            "options": {"Size": "50 & more"},
            "variant_id": "D-50",
        },
    ]


def test_a_form_without_words_gives_the_slugs() -> None:
    records = read(form(variation(1, "10-ml"), variation(2, "50-ml"), words="")).records
    assert [record["options"] for record in records] == [{"size": "10-ml"}, {"size": "50-ml"}]


def test_variations_with_the_parents_sku_are_told_apart_by_options_then_by_number() -> None:
    by_options = read(form(variation(1, "10-ml", sku="P"), variation(2, "50-ml", sku="P"))).records
    assert [record["variant_id"] for record in by_options] == ["Size=10 mL", "Size=50 & more"]
    by_number = read(form(variation(1, sku="P"), variation(2, sku="P"))).records
    assert [record["variant_id"] for record in by_number] == ["1", "2"]


def test_the_same_variations_in_another_order_are_the_same_records_a06() -> None:
    def visit(*numbers: int) -> list[Any]:
        sizes = sorted(zip(("S", "M", "L"), numbers, strict=True), key=lambda pair: pair[1])
        return read(form(*(variation(number, size, sku=f"D-{size}") for size, number in sizes))).records

    assert visit(1, 2, 3) == visit(9, 7, 8)


@pytest.mark.parametrize(
    ("fields", "availability"),
    [
        ({"availability_html": "<p class='stock'>Available on backorder</p>"}, "Available on backorder"),
        ({"availability_html": "<p>Ships when ready</p>"}, "InStock"),
        ({"availability_html": "<p>In stock</p>", "is_in_stock": False}, "OutOfStock"),
        ({"is_in_stock": None}, None),
    ],
)
def test_the_line_of_stock_counts_where_it_says_more(fields: dict[str, Any], availability: str | None) -> None:
    assert read(form(variation(1, **fields))).records[0].get("availability") == availability


def test_a_variation_without_a_price_or_one_that_is_switched_off_costs_nothing() -> None:
    assert "price" not in read(form(variation(1, display_price=""))).records[0]
    assert read(form(variation(1, variation_is_active=False))).records == []


def test_variations_are_the_listings_where_json_ld_has_a_range_only() -> None:
    reading = full(form(variation(1, "10-ml"), variation(2, "50-ml", display_price=32)))
    assert [(one.values["price"], one.values["currency"]) for one in reading.extracted] == [("8", "USD"), ("32", "USD")]
    assert all("price_min" not in one.values for one in reading.extracted)
    assert {one.values["item_group_id"] for one in reading.extracted} == {"A1"}
    assert reading.source_hash == ""


def test_variations_that_are_loaded_by_script_leave_the_range_and_are_told_a01() -> None:
    reading = full(form(text="false"))
    assert only(reading).values["price_min"] == "8.00"
    assert "price" not in only(reading).values
    assert [problem.field for problem in reading.problems] == ["variants"]
    assert reading.source_hash == ""


def test_price_and_old_price_come_from_the_same_variation_a05() -> None:
    single = variation(1, "10-ml", display_price=89, display_regular_price=89)
    multi = variation(2, "50-ml", display_price=399, display_regular_price=445)
    first, second = full(form(single, multi), offers={**RANGE, "lowPrice": "89", "highPrice": "399"}).extracted
    assert (first.values["price"], first.values.get("regular_price")) == ("89", None)
    assert (second.values["price"], second.values["regular_price"]) == ("399", "445")


def test_of_several_forms_the_one_that_leads_to_this_page_counts() -> None:
    other = form(variation(9, display_price=1), action="/p/other")
    assert [record["price"] for record in read(other + form(variation(1)) + other).records] == ["8"]
    assert read(other + other).records == []


def test_a_form_that_cannot_be_read_is_told() -> None:
    assert [problem.field for problem in read(form(text="[{&quot;a")).problems] == ["variants"]
    assert read(f"<!-- {form(variation(1))} -->").records == []
    assert read("<p>data-product_variations</p>").records == []
