"""A guest stays away from baskets, log-ins and deeds, and knows lists by their names."""

from __future__ import annotations

import pytest

from storebot.core.probing.words import is_facet, is_no_page, is_product_file, promise


@pytest.mark.parametrize(
    "path",
    [
        "/cart", "/account/login", "/checkout/", "/shop/mug/?add-to-cart=5", "/x?action=vote&id=1", "/wishlist/add/5/",
        "/media/mug.jpg", "/feed/", "/wp-json/x", "/mug/?_wpnonce=1", "/switch?set_lang=de",
    ],
)  # fmt: skip
def test_what_changes_something_or_is_no_page_is_never_asked_for(path: str) -> None:
    assert is_no_page(f"https://shop.example{path}")


@pytest.mark.parametrize("path", ["/shop/handbags/", "/cartridges", "/products/add-on-kit", "/p/mug-1?page=2", "/"])
def test_pages_that_only_sound_like_it_are_pages(path: str) -> None:
    assert not is_no_page(f"https://shop.example{path}")


def test_orders_and_views_of_a_list_are_facets() -> None:
    assert is_facet("https://shop.example/mugs?dir=asc&order=price")
    assert is_facet("https://shop.example/mugs?selected_facets=colour%3Ared")
    assert not is_facet("https://shop.example/mugs?page=2")


def test_list_of_everything_promises_most_and_a_page_about_the_shop_least() -> None:
    paths = [("/shop/", ""), ("/collections/mugs", ""), ("/mugs", ""), ("/about-us/contact/", "")]
    scores = [promise(f"https://shop.example{path}", text) for path, text in paths]
    assert scores == sorted(scores, reverse=True)
    assert len(set(scores)) == 4


def test_sitemaps_of_categories_and_tags_are_not_those_of_products() -> None:
    names = [
        "sitemap_products_1.xml",
        "product-sitemap2.xml",
        "product_cat-sitemap.xml",
        "product-tags.xml",
        "pages.xml",
    ]
    assert [is_product_file(f"https://shop.example/{name}") for name in names] == [True, True, False, False, False]
