"""Lists are chosen so that every product that was seen is on one of them, or elsewhere."""

from __future__ import annotations

from storebot.core.probing.catalogue import choose
from storebot.core.probing.lists import ProductList
from storebot.core.probing.pagination import Template


def one(url: str, products: str, last: int = 0) -> ProductList:
    template = Template(f"{url}?page={{page}}", last) if last else None
    return ProductList(url=url, products=frozenset(products), template=template, is_whole=not last)


def test_no_list_is_needed_where_sitemaps_have_all() -> None:
    found = choose([one("/a", "abc")], elsewhere="abcd", seen="abc")
    assert (found.lists, found.is_proven, found.uncovered) == ((), True, 0)


def test_a_list_is_walked_only_for_what_no_other_shows() -> None:
    found = choose([one("/small", "ab"), one("/all", "abcd"), one("/new", "e")], elsewhere="", seen="abcde")
    assert [each.url for each in found.lists] == ["/all", "/new"]
    assert found.is_proven


def test_what_pages_behind_may_hold_is_not_proven() -> None:
    found = choose([one("/all", "abcd", last=9)], elsewhere="", seen="abcd")
    assert not found.is_proven
    assert choose([one("/all", "abcd")], elsewhere="", seen="abcdz").uncovered == 1
