"""What one page adds to the tally, and which prices are looked at twice."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storebot.core.gate_facts import Facts, Kind, bucket, facts_of, outlier, ratio_of
from storebot.items import Availability, Listing


def listing(**fields: Any) -> Listing:
    values = {
        "name": "Mug",
        "sku": "M-1",
        "price_minor": 1999,
        "currency": "EUR",
        "availability": Availability.IN_STOCK,
    }
    return Listing(store="s", url_key="k", url="u", **{**values, **fields})


def facts(before: Listing, after: Listing, *fields: str, rebased: bool = False) -> Facts:
    return facts_of({"": before}, {"": after}, rebased=rebased, fields=fields, record="r")


def test_another_price_is_a_change_of_prices_alone_with_its_ratio() -> None:
    found = facts(listing(), listing(price_minor=3998), "price_minor")
    assert found == Facts(Kind.CHANGED, price_only=True, ratio=bucket(2, 1), record="r")
    assert not facts(listing(), listing(price_minor=3998, name="Cup"), "price_minor", "name").price_only


@pytest.mark.parametrize("field", ["name", "sku", "gtin", "brand"])
def test_another_name_or_number_is_another_identity_but_a_first_one_is_not(field: str) -> None:
    assert facts(listing(**{field: "a"}), listing(**{field: "b"})).identity
    assert not facts(listing(**{field: None}), listing(**{field: "b"})).identity
    assert not facts(listing(**{field: "a"}), listing(**{field: None})).identity


def test_values_that_went_are_lost_one_by_one() -> None:
    after = listing(price_minor=None, availability=None)
    assert facts(listing(), after).lost == ("price_minor", "availability")
    assert facts(after, listing()).lost == ()


def test_what_can_not_be_bought_any_more_may_go_without_a_price() -> None:
    assert facts(listing(), listing(price_minor=None, availability=Availability.SOLD_OUT)).lost == ()


def test_another_currency_is_a_switch_and_no_move_of_the_price() -> None:
    found = facts(listing(), listing(currency="USD", price_minor=1))
    assert (found.currency, found.ratio) == ("EUR to USD", None)


def test_another_number_and_another_name_is_another_product() -> None:
    assert facts(listing(), listing(name="Bowl", sku="B-2")).replaced
    assert not facts(listing(), listing(name="Mug, large", sku="B-2")).replaced
    assert not facts(listing(), listing(name="Bowl")).replaced


def test_a_page_that_names_half_of_its_variants_lost_them() -> None:
    before = {str(number): listing(variant_id=str(number)) for number in range(5)}
    rest = {number: before[number] for number in ("1", "2")}
    assert "variants" in facts_of(before, rest, rebased=False, fields=(), record="r").lost
    assert "variants" not in facts_of(before, {**rest, "3": before["3"]}, rebased=False, fields=(), record="r").lost


def test_a_page_that_is_rebased_loses_values_but_has_no_other_identity() -> None:
    found = facts(listing(), listing(price_minor=None, name="Bowl", sku="B-2"), rebased=True)
    assert (found.kind, found.lost, found.identity, found.replaced) == (Kind.REBASED, ("price_minor",), False, False)


def test_a_page_without_listings_on_sale_has_nothing_to_compare() -> None:
    assert facts_of({}, {"": listing()}, rebased=False, fields=(), record="r") == Facts(Kind.CHANGED, record="r")


@pytest.mark.parametrize("times", [10, 100])
def test_a_slip_of_the_separator_is_looked_at_twice_whatever_the_history(times: int) -> None:
    assert f"exactly {times} times more" in outlier(500 * times, 500, [500, 500 * times])
    assert f"exactly {times} times less" in outlier(500, 500 * times, [500, 500 * times])


def test_a_price_far_from_its_own_median_is_looked_at_twice() -> None:
    history = [1000, 1100, 1050, 900]
    assert outlier(3200, 1000, history) == "the price moved from 1000 to 3200, and 1025 is usual"
    assert outlier(330, 1000, history)
    assert not outlier(3000, 1000, history)
    assert not outlier(1000, 4000, history)  # back to what is usual


def test_a_first_price_and_none_are_no_outliers() -> None:
    assert not outlier(5000, 0, [])
    assert not outlier(0, 5000, [])
    assert not outlier(5000, 5000, [])


@given(st.integers(1, 10**9), st.integers(1, 10**9))
def test_a_bucket_is_right_to_one_per_cent(after: int, before: int) -> None:
    assert ratio_of(bucket(after, before)) == pytest.approx(after / before, rel=0.006)


@given(st.lists(st.integers(1, 10**6), min_size=1), st.data())
def test_a_price_between_a_third_and_three_times_of_all_that_was_is_believed(prices: list[int], data: Any) -> None:
    before = data.draw(st.sampled_from(prices))
    price = data.draw(
        st.integers(-(-max(prices) // 3), 3 * min(prices)) if max(prices) <= 9 * min(prices) else st.none()
    )
    if price is not None and price != before and {price / before, before / price}.isdisjoint({10, 100}):
        assert not outlier(price, before, prices)
