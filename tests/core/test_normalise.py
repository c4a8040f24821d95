"""From what a page says to a record: every field clean, every doubt a problem."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storebot.core.normalise import LIMITS, Context, normalise
from storebot.items import Availability, Disagreement, Extracted, Listing, Problem

CONTEXT = Context(
    store="demo", url_key="https://shop.example/p/1", url="https://www.shop.example/p/1?x=1", currency="EUR"
)


def record(
    source: str = "jsonld", *, context: Context = CONTEXT, disagreements: tuple[Disagreement, ...] = (), **values: Any
) -> tuple[Listing, tuple[Problem, ...]]:
    extracted = Extracted(values=values, sources=dict.fromkeys(values, source), disagreements=disagreements)
    return normalise(extracted, context)


def test_a_whole_record() -> None:
    listing, problems = record(
        name=" Cordless\u00a0Drill ",
        brand="Bosch",
        gtin="4006381333931",
        mpn="06019H5202",
        sku="01245",
        price="149.99",
        regular_price="179.99",
        currency="EUR",
        availability="http://schema.org/InStock",
        condition="https://schema.org/NewCondition",
        options={"Size": " L ", "Empty": ""},
        category_path=["Home", " ", "Drills"],
        images=["/img/1.jpg", "https://cdn.example/2.jpg", "/img/1.jpg", "data:image/gif;base64,AA"],
        canonical_url="/p/1",
        description="A\nB",
        rating_value="4,60",
        review_count="1,234 reviews",
    )
    assert problems == ()
    assert listing == Listing(
        store="demo",
        url_key="https://shop.example/p/1",
        url="https://www.shop.example/p/1?x=1",
        canonical_url="https://www.shop.example/p/1",
        name="Cordless Drill",
        brand="Bosch",
        gtin="04006381333931",
        mpn="06019H5202",
        sku="01245",
        price_minor=14999,
        regular_price_minor=17999,
        currency="EUR",
        availability=Availability.IN_STOCK,
        condition="NewCondition",
        options={"Size": "L"},
        category_path=("Home", "Drills"),
        main_image="https://www.shop.example/img/1.jpg",
        images=("https://www.shop.example/img/1.jpg", "https://cdn.example/2.jpg"),
        description="A B",
        rating_value="4.6",
        review_count=1234,
        field_source=listing.field_source,
    )
    assert set(listing.field_source.values()) == {"jsonld"}
    assert {"name", "price", "currency", "images"} <= set(listing.field_source)


def test_what_cannot_be_read_is_none_with_a_problem_and_no_source() -> None:
    listing, problems = record(
        name="A", gtin="123", availability="ask Bob", condition="odd", rating_value="good", review_count="1.2k"
    )
    wanted = {"gtin", "availability", "condition", "rating_value", "review_count"}
    assert {problem.field for problem in problems} == wanted
    assert all(getattr(listing, name) is None for name in wanted)
    assert not wanted & set(listing.field_source)


@pytest.mark.parametrize(
    ("found", "rating"), [("4.757894736842105", "4.76"), ("4,5", "4.5"), ("4.0", "4"), ("4.5 / 5", "4.5"), ("90", "90")]
)
def test_a_rating_is_decimal_text_of_two_digits(found: str, rating: str) -> None:
    assert record(name="A", rating_value=found)[0].rating_value == rating


def test_text_that_could_not_be_decoded_is_reported() -> None:  # E02
    listing, problems = record(name="Caf\ufffd 90")
    assert listing.name == "Caf\ufffd 90"
    assert [problem.field for problem in problems] == ["name"]


def test_a_megabyte_of_name_is_cut_and_reported() -> None:
    listing, problems = record(name="x y " * 250_000)
    assert listing.name is not None
    assert len(listing.name) <= LIMITS["name"]
    assert [problem.field for problem in problems] == ["name"]
    assert len(problems[0].reason) < 200


def test_two_spellings_of_one_value_are_no_disagreement() -> None:  # X06
    spelled = (
        Disagreement("price", {"jsonld": "2879.2", "microdata": "2879.20"}),
        Disagreement("availability", {"jsonld": "InStock", "css:p": "In stock"}),
        Disagreement("currency", {"jsonld": "EUR", "microdata": "eur"}),
    )
    real = Disagreement("price", {"jsonld": "2879.2", "css:p": "2.789,20 €"})
    listing, _ = record(name="A", price="2879.2", currency="EUR", disagreements=(*spelled, real))
    assert listing.disagreements == (real,)
    assert listing.price_minor == 287920


@pytest.mark.parametrize(
    ("found", "absolute"),
    [
        ("/a b.jpg", "https://www.shop.example/a%20b.jpg"),
        ("//cdn.example/i.jpg", "https://cdn.example/i.jpg"),
        ("i.jpg", "https://www.shop.example/p/i.jpg"),
        ("https://cdn.example/ä.jpg", "https://cdn.example/ä.jpg"),
        ("data:image/png;base64,AA", None),
        ("javascript:void(0)", None),
        ("mailto:a@b.example", None),
        ("https://", None),
        ("http://[", None),
        ("https://cdn.example/" + "a" * 3_000, None),
        ("", None),
    ],
)
def test_addresses_are_absolute_or_dropped(found: str, absolute: str | None) -> None:
    listing, _ = record(name="A", main_image=found)
    assert listing.main_image == absolute


def test_a_variant_has_its_own_address_only_within_the_shop() -> None:
    assert record(name="A", variant_id="v", url="/p/1?variant=v")[0].url == "https://www.shop.example/p/1?variant=v"
    assert record(name="A", variant_id="v", url="https://evil.example/")[0].url == CONTEXT.url
    assert record(name="A", url="/other")[0].url == CONTEXT.url


def test_a_price_of_text_obeys_the_declared_separator() -> None:
    context = Context(store="s", url_key="k", url="https://s.example/", decimal=",", currency="EUR")
    assert record("css:.price", context=context, name="A", price="3.350")[0].price_minor == 335000


def test_a_stores_own_stock_phrases_hold() -> None:
    context = Context(
        store="s", url_key="k", url="https://s.example/", availability_phrases={"ask Bob": Availability.MADE_TO_ORDER}
    )
    assert record(context=context, name="A", availability="Ask Bob")[0].availability is Availability.MADE_TO_ORDER


def test_a_field_of_the_wrong_shape_is_ignored() -> None:
    listing, _ = record(name=["A"], options="x", images={"a": "b"}, category_path="Tools", unknown="y", price=["1"])
    assert (listing.name, listing.options, listing.images, listing.category_path) == (None, {}, (), ("Tools",))
    assert listing.price_minor is None


_NAMES = [
    "name",
    "price",
    "regular_price",
    "price_min",
    "price_max",
    "currency",
    "availability",
    "condition",
    "gtin",
    "sku",
]
_NAMES += ["canonical_url", "main_image", "rating_value", "review_count", "variant_id", "description", "url"]


@given(
    st.dictionaries(st.sampled_from(_NAMES), st.text(max_size=60), max_size=len(_NAMES)),
    st.lists(st.text(max_size=40), max_size=4),
    st.dictionaries(st.text(max_size=9), st.text(max_size=9), max_size=3),
)
def test_no_page_raises_and_every_record_can_be_stored(
    texts: dict[str, str], images: list[str], options: dict[str, str]
) -> None:
    values: dict[str, Any] = {**texts, "images": images, "options": options}
    listing, problems = record("css:x", **values)
    stored = [listing.name, listing.sku, listing.description, listing.main_image, *listing.images, *listing.options]
    for text in (*stored, *(problem.reason for problem in problems)):
        if text is not None:
            assert "\0" not in text
    for text in stored:
        if text is not None:
            text.encode()
    assert (listing.currency is not None) or listing.price_minor is None


def test_a_number_that_no_column_holds_is_no_number_of_reviews() -> None:
    listing, problems = record(name="Drill", review_count="1" + ".000" * 60)
    assert listing.review_count is None
    assert [problem.field for problem in problems] == ["review_count"]
