"""A price for each try: exact over the whole, whatever each try is rounded to."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storebot.core.costs import Ledger, Prices, PriceTable, money, nano
from storebot.items import Expense, Spent, Tier

API = PriceTable("EUR", {Tier.API: Prices(per_call=nano(Decimal("0.0021")))})
amounts = st.integers(0, 10**7)
prices = st.builds(Prices, *[st.integers(0, 10**11)] * 4)


@pytest.mark.parametrize(
    ("prices", "took", "cost_micro"),
    [
        (Prices(per_call=nano(Decimal("0.0021"))), Expense(requests=1, billed=1), 2_100),
        (Prices(per_request=nano(Decimal("0.0001"))), Expense(requests=3), 300),
        (Prices(per_gb=nano(Decimal("4"))), Expense(requests=1, size_bytes=250_000), 1_000),
        (Prices(per_browser_hour=nano(Decimal("0.09"))), Expense(requests=9, browser_ms=4_000), 100),
        (Prices(), Expense(1, 2, 3, 4, 5), 0),
    ],
    ids=["call", "request", "traffic", "browser", "nothing"],
)
def test_each_price_is_of_its_own_unit(prices: Prices, took: Expense, cost_micro: int) -> None:
    assert PriceTable("EUR", {Tier.HTTP: prices}).estimate(Tier.HTTP, took) == cost_micro


def test_a_tier_without_prices_costs_nothing_and_has_no_currency() -> None:
    ledger = Ledger(API)
    assert ledger.charge(Tier.HTTP, Spent(requests=7, size_bytes=10**9)).cost_micro == 0
    assert (API.currency_of(Tier.HTTP), API.currency_of(Tier.API)) == ("", "EUR")


def test_an_escalated_visit_costs_what_each_of_its_tiers_took() -> None:
    ledger = Ledger(PriceTable("EUR", {Tier.HTTP: Prices(per_request=100_000), Tier.API: API.tiers[Tier.API]}))
    spent = Spent(requests=2, size_bytes=500, elapsed_ms=30)
    ledger.charge(Tier.HTTP, spent)
    spent.requests, spent.size_bytes, spent.elapsed_ms, spent.billed = 3, 1_700, 90, 1
    ledger.charge(Tier.API, spent)
    assert spent.by_tier == {
        Tier.HTTP: Expense(requests=2, size_bytes=500, elapsed_ms=30, cost_micro=200),
        Tier.API: Expense(requests=1, size_bytes=1_200, elapsed_ms=60, billed=1, cost_micro=2_100),
    }
    assert spent.cost_micro == 2_300


def test_a_second_try_by_the_same_tier_is_added_to_the_first() -> None:
    ledger, spent = Ledger(API), Spent()
    for _ in range(3):
        spent.requests += 1
        spent.billed += 1
        ledger.charge(Tier.API, spent)
    assert spent.by_tier == {Tier.API: Expense(requests=3, billed=3, cost_micro=6_300)}


def test_what_is_less_than_a_millionth_adds_up() -> None:
    """20 KB at 0.02 EUR a GB are 0.4 millionths: a thousand of them 400, not nothing."""
    ledger = Ledger(PriceTable("EUR", {Tier.HTTP: Prices(per_gb=nano(Decimal("0.02")))}))
    for _ in range(1_000):
        ledger.charge(Tier.HTTP, Spent(requests=1, size_bytes=20_000))
    assert ledger.total.cost_micro == 400


@given(prices, st.lists(st.tuples(amounts, amounts, amounts, amounts), max_size=20))
def test_tries_add_up_to_the_exact_price_of_all(prices: Prices, tries: list[tuple[int, int, int, int]]) -> None:
    ledger = Ledger(PriceTable("EUR", {Tier.BROWSER: prices}))
    charged = [
        ledger.charge(Tier.BROWSER, Spent(requests=requests, size_bytes=size, browser_ms=ms, billed=billed)).cost_micro
        for requests, size, ms, billed in tries
    ]
    exact = sum(
        (
            Fraction(requests * prices.per_request + billed * prices.per_call, 10**3)
            + Fraction(size * prices.per_gb, 10**12)
            + Fraction(ms * prices.per_browser_hour, 3_600_000 * 10**3)
            for requests, size, ms, billed in tries
        ),
        Fraction(0),
    )
    assert sum(charged) == ledger.total.cost_micro == exact.__floor__()


@pytest.mark.parametrize(
    ("micro", "text"), [(0, "0.00"), (420_000, "0.42"), (2_100, "0.0021"), (25_000_000, "25.00"), (1, "0.000001")]
)
def test_money_is_shown_with_the_decimals_that_it_has(micro: int, text: str) -> None:
    assert money(micro) == text


def test_a_price_is_kept_to_nine_decimals_and_no_more() -> None:
    assert nano(Decimal("0.000000001")) == 1
    with pytest.raises(ValueError, match="more than 9 decimals"):
        nano(Decimal("0.0000000001"))
