"""Pages are of realistic weight, the same from the same seed, and say what the product is."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from typing import Any

import pytest
from parsel import Selector

from storebot.demo.goods import Product
from storebot.demo.markup import STOCK_TEXTS
from storebot.demo.options import ShopOptions
from storebot.demo.pages import Pages, View
from storebot.demo.shop import Shop, truth_of

BASE = "https://demo.example"


def shop_of(**options: Any) -> tuple[Shop, Pages]:
    shop = Shop(ShopOptions(**{"products": 45, "seed": 3, "variant_share": 0.4} | options))
    return shop, Pages(shop, BASE)


def digest() -> str:
    shop, pages = shop_of(markup="mixed")
    bodies = [pages.product(product) for product in shop.products()]
    return hashlib.sha256(b"".join((*bodies, pages.catalogue(2), pages.home()))).hexdigest()


def product_block(body: bytes) -> dict[str, Any]:
    blocks = [json.loads(text) for text in Selector(body.decode()).css('[type="application/ld+json"]::text').getall()]
    assert [block["@type"] for block in blocks] == ["Organization", "BreadcrumbList", "Product"]
    found: dict[str, Any] = blocks[2]
    return found


@pytest.mark.parametrize("hash_seed", ["1", "2"])
def test_pages_are_byte_identical_in_another_process(hash_seed: str) -> None:
    code = "from tests.demo.test_pages import digest; print(digest())"
    made = subprocess.run(
        [sys.executable, "-c", code], env={"PYTHONHASHSEED": hash_seed, "PYTHONPATH": ":".join(sys.path)},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert made.stdout.strip() == digest()


@pytest.mark.parametrize("markup", ["jsonld", "microdata", "plain"])
def test_product_pages_weigh_60_to_150_kb_and_differ_in_weight(markup: str) -> None:
    shop, pages = shop_of(products=200, markup=markup)
    sizes = sorted(len(pages.product(product)) for product in shop.products())
    assert sizes[0] >= 60_000
    assert sizes[-1] <= 150_000
    assert sizes[-1] - sizes[0] > 50_000


def test_json_ld_says_what_the_product_is() -> None:
    shop, pages = shop_of()
    for product in shop.products():
        block = product_block(pages.product(product))
        truth = truth_of(product, BASE, "GBP")
        for field in ("name", "sku", "url", "description"):
            assert block[field] == truth[field]
        assert block["brand"]["name"] == truth["brand"]
        assert block.get("gtin13") == truth["gtin"]
        assert block["image"] == truth["images"]
        assert block.get("aggregateRating", {}).get("ratingValue") == truth["rating_value"]
        offers = block["offers"] if product.has_variants else [block["offers"]]
        said = [(offer["sku"], offer["price"], offer["availability"].rpartition("/")[2]) for offer in offers]
        assert said == [(row["sku"], row["price"], row["availability"]) for row in truth["variants"] or [truth]]
        assert {offer["priceCurrency"] for offer in offers} == {"GBP"}


def test_json_ld_of_a_variant_names_its_options() -> None:
    shop, pages = shop_of(variant_share=1)
    product = next(shop.products())
    for offer, row in zip(product_block(pages.product(product))["offers"], product.offers, strict=True):
        assert {pair["name"]: pair["value"] for pair in offer["additionalProperty"]} == row.options
        assert (offer["gtin13"], offer["url"]) == (row.gtin13, f"{BASE}{product.path}?variant={row.sku}")


def test_plain_markup_is_read_by_its_documented_selectors_alone() -> None:
    shop, pages = shop_of(markup="plain")
    for product in shop.products():
        body = pages.product(product)
        assert b"ld+json" not in body
        assert b"itemprop" not in body
        assert b"og:" not in body
        assert read_plain(body) == {
            "h1.product-name": [product.name],
            ".product-main .price-box .price": [f"£{product.price_minor / 100:,.2f}"],
            ".product-main .stock": [STOCK_TEXTS[product.availability]],
            ".product-main .sku": [product.sku],
            ".product-main .brand": [product.brand],
            ".product-main .gtin": [product.offers[0].gtin13],
        }


def read_plain(body: bytes) -> dict[str, list[str]]:
    selector = Selector(body.decode())
    names = (
        "h1.product-name",
        *(f".product-main {css}" for css in (".price-box .price", ".stock", ".sku", ".brand", ".gtin")),
    )
    return {css: selector.css(f"{css}::text").getall() for css in names}


def test_microdata_say_what_the_product_is() -> None:
    shop, pages = shop_of(markup="microdata")
    for product in shop.products():
        body = pages.product(product)
        assert b"ld+json" not in body
        scope = Selector(body.decode()).css('[itemtype="https://schema.org/Product"]')
        assert len(scope) == 1
        assert scope.css('h1[itemprop="name"]::text').get() == product.name
        assert scope.css('dd[itemprop="sku"]::text').get() == product.sku
        offers = scope.css('[itemprop="offers"]')
        prices = [offer.css('[itemprop="price"]::attr(content)').getall() for offer in offers]
        stocks = [offer.css('[itemprop="availability"]::attr(href)').getall() for offer in offers]
        assert prices == [[f"{offer.price_minor / 100:.2f}"] for offer in product.offers]
        assert stocks == [[f"https://schema.org/{offer.availability}"] for offer in product.offers]


def test_markup_is_escaped_where_it_stands() -> None:
    shop, pages = shop_of(products=200)
    product = next(product for product in shop.products() if "&" in product.name)
    body = pages.product(product).decode()
    assert f'<h1 class="product-name">{product.name.replace("&", "&amp;")}'.split("'")[0] in body
    assert product_block(body.encode())["name"] == product.name


def test_a_page_moves_only_with_its_own_product() -> None:
    shop, pages = shop_of()
    first, second = list(shop.products())[:2]
    before = pages.product(second)
    shop.put(first)
    shop.remove(first.id, 404)
    assert pages.product(second) == before


def test_related_products_are_cards_of_others_without_structured_data() -> None:
    shop, pages = shop_of()
    product = next(shop.products())
    selector = Selector(pages.product(product).decode())
    links = selector.css(".related-card a::attr(href)").getall()
    assert 5 <= len(links) <= 8
    assert product.path not in links
    assert len(selector.css(".related-card .amount")) == len(links)


def test_a_drifted_page_has_neither_structured_data_nor_the_old_classes() -> None:
    shop, pages = shop_of()
    product = next(shop.products())
    body = pages.product(product, View(drifted=True))
    assert b"ld+json" not in body
    assert not any(read_plain(body).values())
    assert product.name.replace("&", "&amp;").encode() in body
    assert 60_000 <= len(body) <= 150_000


def test_prices_times_100_are_so_everywhere_on_the_page() -> None:
    shop, pages = shop_of(variant_share=0)
    product: Product = next(shop.products())
    body = pages.product(product, View(price_factor=100))
    assert product_block(body)["offers"]["price"] == f"{product.price_minor}.00"
    assert read_plain(body)[".product-main .price-box .price"] == [f"£{product.price_minor:,}.00"]


def test_catalogue_pages_link_every_product_once_newest_last() -> None:
    shop, pages = shop_of(page_size=20)
    found: list[str] = []
    for number in range(1, shop.pages + 1):
        selector = Selector(pages.catalogue(number).decode())
        found += selector.css(".card a::attr(href)").getall()
        following = selector.css("a.next::attr(href)").get()
        assert following == (f"/catalogue/page-{number + 1}.html" if number < shop.pages else None)
    assert shop.pages == 3
    assert found == [product.path for product in shop.products()]


def test_an_empty_shop_still_has_its_pages() -> None:
    shop, pages = shop_of(products=0)
    assert shop.pages == 1
    assert not Selector(pages.catalogue(1).decode()).css(".card")
    assert b"See all products" in pages.home()
