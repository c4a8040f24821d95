"""Microdata as nodes."""

from __future__ import annotations

import pytest
from lxml import html

from storebot.core.parsing import microdata
from storebot.core.parsing.microdata import items
from tests.core.parsing.pages import only, page, read

PRODUCT = """<div itemscope itemtype="http://schema.org/Product"><h1 itemprop="name">Nuts &amp;amp;
 Bolts</h1><span itemprop="brand" itemscope>Acme</span><img itemprop=image src="/1.jpg">
<a itemprop="url" href="/p/a1">x</a>
<meta itemprop="sku" content="A1"><div itemprop="offers" itemscope itemtype="http://schema.org/Offer">
<span itemprop="price" content="1299.00">1.299,00 €</span><meta itemprop="priceCurrency" content="EUR">
<link itemprop="availability" href="http://schema.org/InStock"></div>
<div itemprop="isRelatedTo" itemscope itemtype="http://schema.org/Product"><b itemprop=name>Other</b></div></div>"""


def test_a_product_is_read_with_its_offer() -> None:
    found = only(read(body=PRODUCT))
    expected = {
        "name": "Nuts &amp; Bolts",
        "brand": "Acme",
        "images": ["https://shop.example/1.jpg"],
        "url": "https://shop.example/p/a1",
        "sku": "A1",
        "price": "1299.00",
        "currency": "EUR",
        "availability": "http://schema.org/InStock",
    }
    assert found.values == expected
    assert set(found.sources.values()) == {"microdata"}


def test_properties_belong_to_the_nearest_item() -> None:
    found = items(html.fromstring(PRODUCT))
    assert [sorted(node) for node in found] == [
        sorted(["@type", "name", "brand", "image", "url", "sku", "offers", "isRelatedTo"])
    ]


def test_unfilled_templates_are_no_values() -> None:
    body = PRODUCT.replace('content="1299.00"', 'content="{{price}}"')
    assert "price" not in only(read(body=body)).values


def test_a_property_without_an_item_is_ignored() -> None:
    assert read(body="<b itemprop=price>5</b>").extracted == ()


def test_names_of_properties_in_another_letter_case_are_read() -> None:
    assert only(read(body=PRODUCT.replace("priceCurrency", "pricecurrency"))).values["currency"] == "EUR"


def test_a_brand_keeps_no_label_and_no_unfilled_variable() -> None:
    body = (
        "<div itemscope itemtype=https://schema.org/Product><h1 itemprop=name>Drill</h1><a itemprop=brand>{}</a></div>"
    )
    assert only(read(body=body.format("See all of the brand: Acme"))).values["brand"] == "Acme"
    assert "brand" not in only(read(body=body.format("$metabrand"))).values


def test_itemref_adds_what_stands_elsewhere_on_the_page() -> None:
    body = "<div itemscope itemtype=https://schema.org/Product itemref='price brand none'><b itemprop=name>Drill</b>"
    body += "</div><div id=price><p itemprop=offers itemscope><b itemprop=price>49</b></p></div>"
    body += "<i id=brand itemprop=brand>Acme</i>"
    (record,) = microdata.read(page(body), list).records
    assert (record["name"], record["price"], record["brand"]) == ("Drill", "49", "Acme")


def test_an_item_that_refers_to_itself_does_no_harm() -> None:
    body = "<div id=a><div id=b itemscope itemtype=https://schema.org/Product itemref='a b' itemprop=offers>"
    (record,) = microdata.read(page(body + "<b itemprop=name>Drill</b></div></div>"), list).records
    assert record["name"] == "Drill"


def test_an_address_is_nobodys_name() -> None:
    body = "<div itemscope itemtype=https://schema.org/Product><a itemprop=name href=/p>Drill</a>"
    (record,) = microdata.read(page(body + "<a itemprop=brand href=/acme>Acme</a></div>"), list).records
    assert (record["name"], record["brand"]) == ("Drill", "Acme")


@pytest.mark.parametrize("spelling", ["itemType", "ITEMTYPE", "itemtype"])
def test_the_letter_case_of_the_attributes_does_not_matter(spelling: str) -> None:
    body = f"<div itemScope {spelling}=https://schema.org/Product><b itemProp=name>Drill</b></div>"
    assert [record["name"] for record in microdata.read(page(body), list).records] == ["Drill"]


def test_microdata_that_types_no_product_builds_no_tree() -> None:
    bare = page("<ol itemscope itemtype=https://schema.org/BreadcrumbList><li itemprop=itemListElement></ol>")
    assert microdata.read(bare, list).records == []
    assert not bare.has_tree
