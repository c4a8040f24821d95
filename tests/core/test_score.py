"""How far a listing can be believed, and why not further."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storebot.core.score import Confidence, Score, score
from storebot.core.stage import PastOffer, Subject
from storebot.items import Availability, Disagreement, Listing

STRUCTURED = dict.fromkeys(("name", "price", "currency", "availability"), "jsonld")


def listing(**fields: Any) -> Listing:
    """Return a listing that leaves nothing to be desired."""
    usual: dict[str, Any] = {
        "store": "a",
        "url_key": "k",
        "url": "u",
        "name": "Anvil",
        "brand": "Acme",
        "gtin": "04006381333931",
        "price_minor": 4_999,
        "currency": "EUR",
        "availability": Availability.IN_STOCK,
        "main_image": "https://shop.example/i.jpg",
        "field_source": STRUCTURED,
    }
    return Listing(**{**usual, **fields})


def history(*prices: int | None, currency: str = "EUR") -> list[PastOffer]:
    return [PastOffer(at=day, price_minor=price, currency=currency) for day, price in enumerate(prices)]


def whys(found: Score) -> str:
    return "; ".join(f"-{reason.points} {reason.part}: {reason.why}" for reason in found.reasons)


def test_a_complete_listing_of_structured_data_has_all_points() -> None:
    assert score(listing(), history(4_999)) == Score(100, ())


def test_structured_data_is_above_a_rule_and_a_rule_above_text_on_show() -> None:
    sources = ("jsonld", "opengraph", "css:.price::text", "visible:beside the button")
    points = [score(listing(field_source=dict.fromkeys(STRUCTURED, source))).points for source in sources]
    assert points == sorted(points, reverse=True)
    assert len(set(points)) == 4
    assert "price comes from text on show (visible:beside the button)" in whys(
        score(listing(field_source={**STRUCTURED, "price": sources[3]}))
    )


def test_sources_that_disagree_on_the_price_cost_most_and_are_quoted() -> None:
    found = score(listing(disagreements=(Disagreement("price", {"jsonld": "49.99", "css:.p": "59.99"}),)))
    assert found.points == 75
    assert found.reasons[0].why == "price: css:.p says '59.99', jsonld says '49.99'"
    assert score(listing(disagreements=(Disagreement("name", {"jsonld": "A", "css:h1": "B"}),))).points > found.points


def test_disagreements_are_not_counted_without_end() -> None:
    many = tuple(Disagreement(name, {"a": "1", "b": "2"}) for name in ("price", "currency", "gtin", "brand", "mpn"))
    assert score(listing(disagreements=many)).points == 60


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"price_minor": None}, "no price"),
        ({"currency": None}, "no currency"),
        ({"availability": None}, "no availability"),
        ({"brand": None}, "no brand"),
        ({"gtin": None}, "no GTIN, MPN or SKU"),
        ({"main_image": None}, "no main image"),
        ({"name": "{{ product.title }}"}, "template"),
        ({"name": "404 not found"}, "error page"),
        ({"name": "Page not found"}, "error page"),
        ({"name": "A"}, "one character"),
        ({"price_minor": 1}, "no price"),
        ({"price_minor": 99_999_999}, "where there is none"),
        ({"price_minor": 1_234_567}, "digits in their order"),
        ({"regular_price_minor": 499_900}, "10 times the price"),
    ],
)
def test_what_is_missing_or_absurd_costs_points_and_says_so(fields: dict[str, Any], why: str) -> None:
    found = score(listing(**fields))
    assert found.points < 100
    assert why in whys(found)


def test_a_listing_that_is_out_of_stock_may_lack_its_price() -> None:
    sold_out = listing(price_minor=None, currency=None, availability=Availability.OUT_OF_STOCK)
    assert score(sold_out).points == 100


@pytest.mark.parametrize(
    ("price", "why"), [(50_000, "10 times off"), (500_000, "100 times off"), (50, "100 times off")]
)
def test_a_point_that_moved_is_told_by_its_own_median(price: int, why: str) -> None:
    found = score(listing(price_minor=price), history(5_000, 5_100, 4_900, price))
    assert why in whys(found)
    assert found.points == 60


def test_a_price_beyond_three_times_its_median_is_doubted_and_one_within_is_not() -> None:
    assert "own median" in whys(score(listing(price_minor=15_001), history(5_000, 5_100, 4_900, 15_001)))
    assert score(listing(price_minor=15_000), history(5_000, 5_100, 4_900, 15_000)).points == 100


def test_two_prices_make_no_median() -> None:
    assert score(listing(price_minor=50_000), history(5_000, 5_100, 50_000)).points == 100


def test_a_currency_that_switched_is_doubted() -> None:
    offers = [*history(5_000, currency="USD"), *history(4_999)]
    assert "priced in USD" in whys(score(listing(), [one._replace(at=day) for day, one in enumerate(offers)]))


def test_the_stage_flags_what_has_less_than_half_of_the_points() -> None:
    poor = listing(price_minor=None, availability=None, brand=None, gtin=None, main_image=None, name="{{ name }}")
    said = Confidence().derive(Subject(id=1, page_id=1, listing=poor))
    assert said.flagged
    assert said.number == said.facts["score"] < 50
    assert said.facts["reasons"][0] == {
        "points": 30,
        "part": "completeness",
        "why": "no price",
    }
    assert not Confidence().derive(Subject(id=1, page_id=1, listing=listing())).flagged


@given(
    st.dictionaries(st.sampled_from(["name", "price", "currency", "availability"]), st.text(max_size=12)),
    st.lists(st.builds(Disagreement, st.text(max_size=8), st.dictionaries(st.text(max_size=4), st.text(max_size=90)))),
    st.lists(st.one_of(st.none(), st.integers(-10, 10**12)), max_size=8),
    st.one_of(st.none(), st.text(max_size=20)),
)
def test_points_are_between_0_and_100_and_the_reasons_add_up(
    sources: dict[str, str], disagreements: list[Disagreement], prices: list[int | None], name: str | None
) -> None:
    price = prices[-1] if prices else None
    one = listing(field_source=sources, disagreements=tuple(disagreements), price_minor=price, name=name)
    found = score(one, history(*prices))
    assert found.points == max(0, 100 - sum(reason.points for reason in found.reasons))
    assert all(reason.points > 0 for reason in found.reasons)
    assert [reason.points for reason in found.reasons] == sorted((r.points for r in found.reasons), reverse=True)
