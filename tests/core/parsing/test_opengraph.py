"""The product metas of a head."""

from __future__ import annotations

import pytest

from storebot.core.page import Page
from storebot.core.parsing import opengraph
from storebot.core.parsing.reading import identity, read_product
from storebot.core.parsing.rules import ProductRules
from tests.core.parsing.pages import URL, only, page


def metas(**content: str) -> str:
    return "".join(f'<meta property="{n.replace("__", ":")}" content="{text}">' for n, text in content.items())


def test_a_product_is_read_from_the_metas() -> None:
    head = metas(
        og__type="og:product", og__title="Tom &amp; Co", product__price__amount="49,90", product__price__currency="EUR"
    )
    found = only(read_product(page(head=head), ProductRules()))
    assert found.values == {"name": "Tom & Co", "price": "49,90", "currency": "EUR"}
    assert set(found.sources.values()) == {"opengraph"}


def test_a_sale_price_makes_the_price_the_regular_one() -> None:
    head = metas(product__price__amount="59", product__sale_price__amount="49", product__pretax_price__amount="41")
    found = only(read_product(page(head=head), ProductRules()))
    assert (found.values["price"], found.values["regular_price"]) == ("49", "59")


@pytest.mark.parametrize(
    "head", [metas(og__type="website", og__title="Shop"), metas(og__title="Shop", og__image="/i.jpg"), ""]
)
def test_a_page_of_another_kind_gives_nothing(head: str) -> None:
    reading = read_product(page(head=head), ProductRules())
    assert reading.extracted == ()
    assert not identity(reading)


def test_a_bookshops_own_number_that_is_an_isbn_is_the_gtin() -> None:
    head = '<meta property="og:type" content="product"><meta property="og:title" content="Book">'
    head += '<meta property="product:retailer_item_id" content="{}">'
    assert only(read_product(page(head=head.format("9780552173742")), ProductRules())).values["gtin"] == "9780552173742"
    assert "gtin" not in only(read_product(page(head=head.format("1234567890123")), ProductRules())).values


def test_metas_are_found_in_the_bytes_without_a_tree() -> None:
    head = "<META CONTENT='Nuts &amp;amp; Bolts' property=og:title><meta name='product:price:amount' content=5.00 />"
    upper = page(head=head.replace("<meta", "<META"))
    (record,) = opengraph.read(upper).records
    assert (record["name"], record["price"]) == ("Nuts &amp; Bolts", "5.00")
    assert not upper.has_tree


@pytest.mark.parametrize(
    "markup",
    [
        "<!-- {} -->",
        "<script>var head = '{}';</script>",
        "<p title='og:title'>{}</p>".replace("{}", "<meta itemprop=price content=5>"),
    ],
)
def test_what_only_looks_like_a_meta_is_none(markup: str) -> None:
    meta = '<meta property="product:price:amount" content="5">'
    assert opengraph.read(page(head=markup.format(meta))).records == []


def test_metas_behind_a_head_that_ends_too_early_count() -> None:
    early = page('<meta property="og:type" content="product"><meta property="og:title" content="Drill">')
    assert [record["name"] for record in opengraph.read(early).records] == ["Drill"]


def test_the_metas_are_decoded_in_the_encoding_of_the_page() -> None:
    html = '<meta property="og:type" content="product"><meta property="og:title" content="M\u00fcller">'
    headers = {"content-type": "text/html; charset=iso-8859-1"}
    (record,) = opengraph.read(Page(url=URL, body=html.encode("latin-1"), headers=headers)).records
    assert record["name"] == "M\u00fcller"


def test_placeholders_are_no_prices() -> None:
    head = '<meta property="og:type" content="product"><meta property="product:price:amount" content="{}">'
    for nothing in ("-", "false", "n/a", "{{ price }}"):
        assert "price" not in opengraph.read(page(head=head.format(nothing))).records[0]
