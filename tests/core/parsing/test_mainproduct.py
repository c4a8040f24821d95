"""Which product is the page's own."""

from __future__ import annotations

from typing import Any

import pytest

from tests.core.parsing.pages import URL, offers, only, product, read

RELATED = product(name="Related", sku="R9", offers=offers({"price": "5.00"}))


@pytest.mark.parametrize(
    ("main", "body"),
    [
        ({"url": "http://www.shop.example/p/a1/"}, ""),
        ({"url": "https://shop.example/p/a1?ref=x"}, ""),
        ({"@id": "/p/a1#product"}, ""),
        ({"mainEntityOfPage": {"@id": URL}}, ""),
        ({"offers": offers({"price": "99.00", "url": URL})}, ""),
        ({}, "<h1> Drill </h1>"),
        ({"name": "Drill 500"}, "<title>Drill 500 | Shop</title>"),
    ],
)
@pytest.mark.parametrize("first", [True, False])
def test_the_main_product_is_chosen_by_evidence_x05(main: dict[str, Any], body: str, first: bool) -> None:
    blocks = [product(**main), RELATED]
    found = only(read(*(blocks if first else reversed(blocks)), body=body))
    assert (found.values["sku"], found.values["price"]) == ("A1", "99.00")


def test_a_main_entity_wins() -> None:
    assert only(read(RELATED, {"@type": "WebPage", "mainEntity": product()})).values["sku"] == "A1"
    referred = {"@graph": [RELATED, product(**{"@id": "#x"}), {"@type": "WebPage", "mainEntity": {"@id": "#x"}}]}
    assert only(read(referred)).values["sku"] == "A1"


def test_without_a_unique_match_there_is_no_price_x05() -> None:
    reading = read(RELATED, product())
    assert reading.extracted == ()
    assert [problem.field for problem in reading.problems] == ["price"]


def test_products_inside_of_the_product_and_lists_of_products_do_not_compete() -> None:
    inner = product(isRelatedTo=[RELATED], isSimilarTo=RELATED)
    listed = {"@type": "ItemList", "itemListElement": [{"@type": "ListItem", "item": RELATED}]}
    assert only(read(listed, inner)).values["sku"] == "A1"


def test_a_page_of_many_products_sells_none_of_them() -> None:
    reading = read([product(name=f"P{n}", sku=f"S{n}") for n in range(150)], body="<h1>P7</h1>")
    assert reading.extracted == ()


def test_microdata_scopes_compete_likewise() -> None:
    scope = '<div itemscope itemtype="https://schema.org/Product"><b itemprop=name>{}</b><i itemprop=sku>{}</i></div>'
    cards = scope.format("Other", "O1") + scope.format("Drill", "A1")
    assert only(read(body="<h1>Drill</h1>" + cards)).values["sku"] == "A1"
    assert read(body=cards).extracted == ()
