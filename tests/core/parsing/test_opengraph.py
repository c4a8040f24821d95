"""The product metas of a head."""

from __future__ import annotations

import pytest

from storebot.core.parsing.reading import identity, read_product
from storebot.core.parsing.rules import ProductRules
from tests.core.parsing.pages import only, page


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
