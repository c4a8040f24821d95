"""Products come from the seed and the id alone, and are believable."""

from __future__ import annotations

import pytest

from storebot.demo import goods
from storebot.demo.options import ShopOptions

OPTIONS = ShopOptions(seed=3, variant_share=0.3)
PRODUCTS = [goods.product(OPTIONS, number) for number in range(1, 301)]


def test_a_product_is_the_same_whenever_it_is_made() -> None:
    assert [goods.product(OPTIONS, number) for number in range(300, 0, -1)] == PRODUCTS[::-1]


def test_another_seed_gives_other_products() -> None:
    other = goods.product(ShopOptions(seed=4), 7)
    assert other.name != PRODUCTS[6].name
    assert other.offers[0].gtin13 != PRODUCTS[6].offers[0].gtin13


def test_every_gtin_has_its_check_digit_and_is_nobody_elses() -> None:
    gtins = [offer.gtin13 for product in PRODUCTS for offer in product.offers]
    assert len(set(gtins)) == len(gtins)
    for gtin in gtins:
        assert len(gtin) == 13
        assert sum(int(digit) * (3, 1)[place % 2 == 0] for place, digit in enumerate(gtin)) % 10 == 0


def test_skus_are_distinct_within_the_shop() -> None:
    skus = [offer.sku for product in PRODUCTS for offer in product.offers]
    assert len(set(skus)) == len(skus)


def test_variants_are_two_to_four_with_options_of_their_own() -> None:
    several = [product for product in PRODUCTS if product.has_variants]
    assert 50 < len(several) < 130  # 0.3 of 300
    for product in several:
        assert 2 <= len(product.offers) <= 4
        assert len({tuple(offer.options.items()) for offer in product.offers}) == len(product.offers)


def test_products_in_plain_markup_have_no_variants() -> None:
    plain = ShopOptions(seed=3, variant_share=1, markup="plain")
    assert not any(goods.product(plain, number).has_variants for number in range(1, 50))


def test_mixed_markup_goes_by_the_id() -> None:
    mixed = ShopOptions(markup="mixed")
    assert [goods.product(mixed, number).markup for number in (3, 4, 5)] == ["jsonld", "microdata", "plain"]


def test_some_names_are_more_than_ascii_but_no_address_is() -> None:
    assert any("&" in product.name for product in PRODUCTS)
    assert any(not product.name.isascii() for product in PRODUCTS)
    assert any(ord(max(product.name)) > 0x2700 for product in PRODUCTS)  # a flourish
    assert all(product.path.isascii() and product.path.endswith(f"-{product.id}") for product in PRODUCTS)


@pytest.mark.parametrize(
    ("price_minor", "currency", "decimal", "shown"),
    [
        (1299, "GBP", "12.99", "£12.99"),
        (123456, "EUR", "1234.56", "€1,234.56"),
        (5, "USD", "0.05", "$0.05"),
        (1980, "JPY", "1980", "¥1,980"),
    ],
)
def test_a_price_is_written_by_its_currency(price_minor: int, currency: str, decimal: str, shown: str) -> None:
    assert goods.decimal_text(price_minor, currency) == decimal
    assert goods.price_text(price_minor, currency) == shown
