"""The expression finds what is proven to be a product and nothing that is proven to be something else."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest

from storebot.core.probing.product_url import Evidence, ProductURL, work_out

BASE = "https://shop.example"


def worked_out(
    products: Sequence[str], others: Sequence[str] = (), likely: Sequence[str] = (), unlikely: Sequence[str] = ()
) -> ProductURL:
    kinds = (frozenset(BASE + path for path in paths) for paths in (products, others, likely, unlikely))
    proven, other, near, menu = kinds
    found = work_out(Evidence(products=proven, others=other, likely=near, unlikely=menu))
    assert found is not None
    assert [one for one in products if not found.finds(BASE + one)] == []
    return found


def test_nothing_is_worked_out_where_no_product_is_known() -> None:
    assert work_out(Evidence(products=frozenset())) is None
    assert work_out(Evidence(products=frozenset({BASE + "/"}))) is None


@pytest.mark.parametrize(
    ("products", "others", "pattern"),
    [
        (["/product/mug/", "/product/jug/"], ["/product-category/cups/", "/shop/"], "/product/[^/?#]+/?$"),
        (["/products/mug", "/products/jug"], ["/collections/all", "/pages/about"], "/products/[^/?#]+/?$"),
        (["/product/a.html", "/en/product/b.html"], ["/en/shop/", "/product/"], r"/product/[^/?#]+\.html$"),
        (["/books/a_1/index.html", "/books/b_2/index.html"], ["/books/page-2.html"], r"/books/[^/?#]+/index\.html$"),
        (["/dp/B000000001", "/dp/B000000002"], ["/b/kitchen"], "/dp/[^/?#]+/?$"),
    ],
    ids=["woocommerce", "shopify", "languages", "index files", "short marker"],
)  # fmt: skip
def test_part_that_all_products_share_tells_them(products: list[str], others: list[str], pattern: str) -> None:
    found = worked_out(products, others)
    assert found.pattern == pattern
    assert [one for one in others if found.finds(BASE + one)] == []


def test_categories_that_look_like_products_are_left_out_by_name() -> None:
    found = worked_out(["/mug.html", "/cups/jug.html", "/cups/tea/bowl.html"], ["/cups.html", "/cups/tea.html"])
    assert found.excluded == ("cups", "tea")
    assert [one for one in ("/cups.html", "/cups/tea.html") if found.finds(BASE + one)] == []
    assert found.finds(BASE + "/cups/tea-pot.html")  # a name that only begins like one that is left out
    assert not found.finds(BASE + "/mug.html?dir=asc")


def test_number_in_the_name_tells_products_from_categories_without_naming_any() -> None:
    products = ["/tea/earl-grey-1201", "/tea/green/sencha-88", "/mugs/white-mug-4711"]
    found = worked_out(products, ["/tea/green", "/mugs/large", "/tea/black"])
    assert found.excluded == ()
    assert not found.finds(BASE + "/mugs/small")
    assert found.finds(BASE + "/mugs/blue-mug-12")


def test_parameter_tells_products_where_the_path_is_one_for_all() -> None:
    path = "/index.php?route=product/product&product_id="
    found = worked_out([f"{path}{number}" for number in (40, 41, 57)], ["/index.php?route=product/category&path=20"])
    assert found.finds(f"{BASE}{path}99&path=20")
    assert not found.finds(BASE + "/index.php?route=product/category&path=20")


def test_two_forms_of_address_become_two_alternatives() -> None:
    found = worked_out(
        ["/mug.html", "/jug.html", "/catalog/product/view/id/7/s/bowl/"], ["/cups.html", "/catalog/cups/"]
    )
    assert "|" in found.pattern
    assert found.finds(BASE + "/catalog/product/view/id/8/s/cup/category/3/")
    assert [one for one in ("/cups.html", "/catalog/cups/") if found.finds(BASE + one)] == []


def test_base_path_of_the_shop_is_part_of_an_expression_by_place() -> None:
    found = worked_out(["/store/mug-cup", "/store/jug"], ["/store/a/b", "/imprint"])
    assert not found.finds(BASE + "/imprint")


def test_unproven_names_of_products_are_never_left_out() -> None:
    found = worked_out(
        ["/a.html", "/b.html"], ["/cups.html"], likely=["/c.html", "/cups-set.html"], unlikely=["/c.html"]
    )
    assert found.excluded == ("cups",)
    assert found.finds(BASE + "/c.html")


def test_a_page_that_cannot_be_left_out_is_reported() -> None:
    found = worked_out(["/p/a/1", "/p/b/1"], ["/p/c/1"])
    assert found.matched_others == (BASE + "/p/c/1",)


def test_signs_of_expressions_in_addresses_mean_themselves() -> None:
    found = worked_out(["/p+(1)/a", "/p+(1)/b"])
    assert re.search(found.pattern, BASE + "/p+(1)/c")
    assert not re.search(found.pattern, BASE + "/pp1/c")
