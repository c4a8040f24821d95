"""What of a Merchant feed's attributes becomes which field."""

from __future__ import annotations

from typing import Any

import pytest

from storebot.core.parsing.platforms.merchant import products_of
from storebot.core.urls import url_key
from storebot.items import Disagreement

URL = "https://shop.example/p/mug"
JUNE = 1_780_272_000_000  # 2026-06-01, UTC


def read(*items: dict[str, str], now_ms: int = JUNE) -> list[tuple[str, list[dict[str, Any]]]]:
    """Return address and records of the products of these items, in short."""
    carried = products_of(({name: [text] for name, text in item.items()} for item in items), url_key, now_ms)
    return [(product.url, [dict(one.values) for one in product.extracted]) for product in carried.products]


def item(**values: str) -> dict[str, str]:
    return {"id": "A1", "title": "Mug", "link": URL, "price": "20.00 EUR", **values}


def only(**values: str) -> dict[str, Any]:
    ((_, (found,)),) = read(item(**values))
    return found


def test_one_item_is_one_product() -> None:
    found = only(brand="Clay", gtin="4006381333931", mpn="M-1", condition="new", image_link="https://x.example/1.jpg")
    assert found == {
        "name": "Mug",
        "brand": "Clay",
        "product_id": "A1",
        "url": URL,
        "canonical_url": URL,
        "gtin": "4006381333931",
        "mpn": "M-1",
        "price": "20.00 EUR",
        "condition": "new",
        "main_image": "https://x.example/1.jpg",
        "images": ["https://x.example/1.jpg"],
    }


def test_items_of_a_group_are_the_variants_of_the_page_that_their_addresses_share() -> None:
    shared = {"item_group_id": "G"}
    (found,) = read(
        item(id="A1", link=f"{URL}?lang=de&variant=1&utm_source=x", color="Red", **shared),
        item(id="A2", link=f"{URL}?lang=de&variant=2&utm_source=x", color="Blue", **shared),
    )
    url, (red, blue) = found
    assert url == f"{URL}?lang=de&utm_source=x"  # a tracking parameter is left to the key
    assert (red["variant_id"], red["options"], red["item_group_id"]) == ("A1", {"color": "Red"}, "G")
    assert (blue["variant_id"], blue["url"]) == ("A2", f"{URL}?lang=de&variant=2&utm_source=x")


def test_variants_with_pages_of_their_own_stay_on_them() -> None:
    found = read(item(id="A1", item_group_id="G"), item(id="A2", item_group_id="G", link=f"{URL}-blue"))
    assert [(url, [one["variant_id"] for one in records]) for url, records in found] == [
        (URL, ["A1"]),
        (f"{URL}-blue", ["A2"]),
    ]


def test_items_of_one_address_are_one_product_however_it_is_spelt() -> None:
    ((_, records),) = read(item(id="A1"), item(id="A2", link=f"{URL}/?gclid=1", size="L"))
    assert [one["variant_id"] for one in records] == ["A1", "A2"]


def test_the_canonical_link_is_the_page() -> None:
    ((url, (found,)),) = read(item(link=f"{URL}?a=1", canonical_link=URL))
    assert (url, found["url"], found["canonical_url"]) == (URL, f"{URL}?a=1", URL)


@pytest.mark.parametrize(
    ("period", "price", "regular"),
    [
        ("", "15.00 EUR", "20.00 EUR"),
        ("2026-05-01T00:00+0200/2026-07-01T00:00+0200", "15.00 EUR", "20.00 EUR"),
        ("2026-05-01T00:00:00Z / 2026-05-20T00:00:00Z", "20.00 EUR", None),
        ("2026-07-01T00:00+02:00/2026-08-01T00:00+02:00", "20.00 EUR", None),
    ],
    ids=["always", "now", "over", "to come"],
)
def test_a_sale_counts_while_it_is_on(period: str, price: str, regular: str | None) -> None:
    found = only(sale_price="15.00 EUR", sale_price_effective_date=period)
    assert (found["price"], found.get("regular_price")) == (price, regular)


def test_a_sale_whose_time_cannot_be_read_is_a_disagreement() -> None:
    items = [{name: [text] for name, text in item(sale_price="15.00 EUR", sale_price_effective_date="soon").items()}]
    (product,) = products_of(items, url_key, JUNE).products
    (found,) = product.extracted
    assert found.values["price"] == "20.00 EUR"
    assert found.disagreements == (
        Disagreement("price", {"merchant": "20.00 EUR", "merchant:sale_price": "15.00 EUR"}),
    )


@pytest.mark.parametrize(
    ("values", "path"),
    [
        ({"product_type": "Home > Mugs", "google_product_category": "Arts > X"}, ["Home", "Mugs"]),
        ({"google_product_category": "Kitchen > Tableware"}, ["Kitchen", "Tableware"]),
        ({"google_product_category": "6049"}, None),
    ],
)
def test_the_category_is_the_shops_own_before_googles(values: dict[str, str], path: list[str] | None) -> None:
    assert only(**values).get("category_path") == path


def test_items_without_title_or_address_are_lost() -> None:
    carried = products_of([{"title": ["x"]}, {"link": [URL]}, {}], url_key, JUNE)
    assert (carried.products, carried.lost) == ((), 3)


def test_addresses_that_nobody_can_take_apart_stay_apart() -> None:
    items = [{"title": ["x"], "link": [link], "item_group_id": ["G"]} for link in ("https://[", "https://[a")]
    assert [one.url for one in products_of(items, str, JUNE).products] == ["https://[", "https://[a"]
