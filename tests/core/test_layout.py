"""A field that pages no longer yield is noticed, and what comes and goes by itself isn't."""

from __future__ import annotations

from typing import Any

import pytest

from storebot.core.layout import ENOUGH, OCCASIONAL, Layout
from storebot.items import Listing


def listing(**fields: Any) -> Listing:
    return Listing(store="s", url_key="k", url="https://s.example/", **fields)


def after(count: int, **fields: Any) -> Layout:
    """Return a layout that saw so many pages with these fields."""
    layout = Layout(("brand", "sku", "price"))
    for _ in range(count):
        layout.lost([listing(brand="B", sku="S", price_minor=1, **fields)])
    return layout


def test_field_that_all_earlier_pages_had_is_lost_on_the_first_that_lacks_it() -> None:
    layout = after(ENOUGH)
    assert layout.lost([listing(sku="S", price_minor=1)]) == ("brand",)
    assert layout.lost([listing(price_minor=1)]) == ("sku",)
    assert layout.lost([listing(price_minor=1)]) == ()


def test_few_pages_prove_nothing() -> None:
    assert after(ENOUGH - 1).lost([listing()]) == ()


def test_field_that_one_page_lacked_is_no_longer_expected() -> None:
    layout = after(3)
    layout.lost([listing(sku="S", price_minor=1)])
    for _ in range(ENOUGH):
        layout.lost([listing(brand="B", sku="S", price_minor=1)])
    assert layout.lost([listing(sku="S", price_minor=1)]) == ()


def test_every_variant_of_a_page_has_to_have_a_field() -> None:
    assert after(ENOUGH).lost([listing(brand="B", sku="S", price_minor=1), listing(brand="B", sku="S")]) == ("price",)


def test_price_of_what_can_not_be_bought_is_not_missed() -> None:
    assert after(ENOUGH).lost([listing(brand="B", sku="S", availability="OutOfStock")]) == ()


def test_field_of_no_page_is_told_at_the_end_once_there_were_enough() -> None:
    layout = Layout(("brand", "sku"))
    for _ in range(ENOUGH):
        assert layout.never_had() == ()
        layout.lost([listing(brand="B")])
    assert layout.never_had() == ("sku",)


@pytest.mark.parametrize("name", sorted(OCCASIONAL))
def test_field_that_comes_and_goes_by_itself_is_never_missed(name: str) -> None:
    layout = Layout((name,))
    for _ in range(ENOUGH + 1):
        assert layout.lost([listing()]) == ()
    assert layout.never_had() == ()
