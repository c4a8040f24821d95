"""Whether two pages show one product."""

from __future__ import annotations

import pytest

from storebot.core.likeness import likeness
from storebot.items import Availability, Listing


def listing(name: str | None = "Oak table", price: int | None = 100, **fields: str) -> Listing:
    return Listing(store="shop", url_key="k", url="u", name=name, price_minor=price, currency="EUR", **fields)  # type: ignore[arg-type]  # ids alone


@pytest.mark.parametrize(
    ("mine", "theirs", "one", "maybe", "another"),
    [
        ([listing(sku="A1")], [listing(sku="a1")], True, False, False),
        ([listing(sku="A", price=1)], [listing("oak TABLE, large", sku="A")], True, False, False),
        ([listing(gtin="1", sku="A")], [listing(gtin="1", sku="B")], True, False, False),
        ([listing(gtin="1", sku="A")], [listing(gtin="2", sku="A")], False, False, False),
        ([listing(sku="A")], [listing(sku="A"), listing("Chair", sku="B")], True, False, False),
        ([listing(sku="A"), listing("Chair", sku="B")], [listing(sku="A")], False, False, False),
        ([listing(sku="A")], [listing("Lamp", sku="A")], False, False, False),
        ([listing(sku="A")], [listing("Lamp", sku="B")], False, False, True),
        ([listing(sku="A")], [listing(sku="B")], False, False, False),
        ([listing(sku="A")], [listing(mpn="A")], False, True, False),
        ([listing()], [listing()], False, True, False),
        ([listing()], [listing(price=200)], False, False, False),
        ([listing()], [listing("Oak table large")], False, False, False),
        ([listing()], [listing("Lamp")], False, False, False),
        ([listing(None)], [listing(None)], False, True, False),
        ([], [listing()], False, False, False),
        ([], [], False, False, False),
    ],
)
def test_number_name_and_price_say_whether_it_is_one_product(
    mine: list[Listing], theirs: list[Listing], one: bool, maybe: bool, another: bool
) -> None:
    found = likeness(mine, theirs)
    assert (found.is_one_product, found.may_be_one_product, found.is_another_product) == (one, maybe, another)


def test_stock_is_part_of_being_the_very_same() -> None:
    sold_out = Listing(store="s", url_key="k", url="u", name="Mug", availability=Availability.SOLD_OUT)
    in_stock = Listing(store="s", url_key="k", url="u", name="Mug", availability=Availability.IN_STOCK)
    assert not likeness([sold_out], [in_stock]).same
