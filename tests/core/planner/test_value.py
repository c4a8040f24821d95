"""What a change of a page is worth: the first rule that fits its dearest listing."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storebot.core.planner.value import USUAL, ValueRule, digest, value_of
from storebot.items import Listing

SHOES = ValueRule(weight=3.0, category=("Shoes", "Trail"))
ACME = ValueRule(weight=0.5, brand="ACME")
DEAR = ValueRule(weight=5.0, price_from=Decimal(100), price_below=Decimal("250.50"))

rules = st.lists(
    st.builds(
        ValueRule,
        weight=st.floats(0.01, 100),
        category=st.sampled_from([(), ("A",), ("A", "B")]),
        brand=st.sampled_from(["", "x", "y"]),
        price_from=st.sampled_from([None, Decimal(1), Decimal(9)]),
    ),
    max_size=4,
)


def sold(*path: str, brand: str | None = None, price_minor: int | None = None, currency: str | None = "EUR") -> Listing:
    return Listing(
        store="acme",
        url_key="k",
        url="https://acme.example/k",
        brand=brand,
        category_path=path,
        price_minor=price_minor,
        currency=currency,
    )


listings = st.lists(
    st.builds(
        sold,
        st.sampled_from(["A", "a", "C"]),
        st.sampled_from(["B", "D"]),
        brand=st.sampled_from([None, "X", "z"]),
        price_minor=st.sampled_from([None, 1, 100, 900, 5_000]),
    ),
    min_size=1,
    max_size=4,
)


@pytest.mark.parametrize(
    ("listing", "value"),
    [
        (sold("Shoes", "Trail", "Men"), 3.0),
        (sold(" shoes", "TRAIL"), 3.0),
        (sold("Shoes"), USUAL),
        (sold("Sale", "Shoes", "Trail"), USUAL),
        (sold(brand="Acme"), 0.5),
        (sold("Shoes", "Trail", brand="Acme"), 3.0),
        (sold(brand="Acme Sports"), USUAL),
        (sold(price_minor=10_000), 5.0),
        (sold(price_minor=9_999), USUAL),
        (sold(price_minor=25_050), USUAL),
        (sold(price_minor=100, currency="JPY"), 5.0),
        (sold(price_minor=10_000, currency=None), USUAL),
        (sold(), USUAL),
    ],
)
def test_first_rule_that_fits_gives_the_weight(listing: Listing, value: float) -> None:
    assert value_of([SHOES, ACME, DEAR], [listing]) == value


def test_page_with_variants_is_worth_its_dearest() -> None:
    assert value_of([ACME, DEAR], [sold(brand="Acme"), sold(price_minor=20_000), sold()]) == 5.0


def test_page_without_a_listing_is_worth_the_usual() -> None:
    assert value_of([ACME], []) == USUAL


@given(rules, listings)
def test_value_is_a_weight_of_the_rules_or_the_usual_and_no_variant_lowers_it(
    given_rules: list[ValueRule], sold_here: list[Listing]
) -> None:
    found = value_of(given_rules, sold_here)
    assert found in {USUAL, *(rule.weight for rule in given_rules)}
    assert found == max(value_of(given_rules, [one]) for one in sold_here)


@given(rules, listings)
def test_rule_that_is_about_nothing_here_changes_nothing(
    given_rules: list[ValueRule], sold_here: list[Listing]
) -> None:
    foreign = ValueRule(weight=77.0, brand="nobody's")
    assert value_of([foreign, *given_rules], sold_here) == value_of(given_rules, sold_here)


@given(rules, rules)
def test_digest_differs_where_the_rules_do(one: list[ValueRule], other: list[ValueRule]) -> None:
    assert (digest(one) == digest(other)) == (one == other)
    assert bool(digest(one)) == bool(one)
