"""`[costs]` and `[budget]`: prices are exact, limits are above nought, and what is wrong is said with its key."""

from __future__ import annotations

from pathlib import Path

import pytest

from storebot.core.budget import Limits
from storebot.core.costs import Prices, PriceTable
from storebot.exceptions import StoreFileError
from storebot.items import Tier
from tests.stores.writing import LEAST, read

PRICED = '[costs]\ncurrency = "EUR"\n[costs.api]\nper_call = "0.0021"\n'


def test_prices_are_read_exactly_and_a_tier_that_names_none_is_not_priced(tmp_path: Path) -> None:
    store = read(
        tmp_path,
        f'{LEAST}{PRICED}per_gb = "4"\n[costs.http]\n[costs.browser]\nper_browser_hour = "0.09"\nper_request = "0"\n',
    )
    assert store.costs is not None
    assert store.costs.table == PriceTable(
        "EUR",
        {
            Tier.BROWSER: Prices(per_browser_hour=90_000_000),
            Tier.API: Prices(per_call=2_100_000, per_gb=4_000_000_000),
        },
    )


def test_without_costs_nothing_is_priced_and_without_a_budget_nothing_is_limited(tmp_path: Path) -> None:
    store = read(tmp_path)
    assert store.costs is None
    assert not store.budget.run.limits.any
    assert not store.budget.month.limits.any


def test_limits_are_read_in_their_units(tmp_path: Path) -> None:
    text = (
        f"{LEAST}{PRICED}[budget.run]\nrequests = 500\n"
        '[budget.month]\nbytes = "20GB"\nbrowser_minutes = 90\nmoney = "25.00"\n'
    )
    store = read(tmp_path, text)
    assert store.budget.run.limits == Limits(requests=500)
    assert store.budget.month.limits == Limits(size_bytes=20 * 10**9, browser_ms=5_400_000, cost_micro=25_000_000)


def test_an_argument_replaces_the_requests_of_a_run_alone(tmp_path: Path) -> None:
    store = read(tmp_path, f'{LEAST}[budget.run]\nrequests = 500\nbytes = "1MB"\n[budget.month]\nrequests = 9\n')
    changed = store.budget.of_requests(15)
    assert changed.run.limits == Limits(requests=15, size_bytes=10**6)
    assert changed.month == store.budget.month


@pytest.mark.parametrize(
    ("text", "key", "problem"),
    [
        ("[costs.api]\nper_call = '1'\n", "costs.currency", "is missing"),
        ("[costs]\ncurrency = 'eur'\n", "costs.currency", "did you mean 'EUR'?"),
        ("[costs]\ncurrency = 'EUR'\n[costs.api]\nper_call = 0.0021\n", "costs.api.per_call", "put it into quotes"),
        ("[costs]\ncurrency = 'EUR'\n[costs.api]\nper_call = '0,0021'\n", "costs.api.per_call", "an amount as text"),
        ("[costs]\ncurrency = 'EUR'\n[costs.api]\nper_call = '-1'\n", "costs.api.per_call", "an amount as text"),
        ("[costs]\ncurrency = 'EUR'\n[costs.http]\nper_call = '1'\n", "costs.http.per_call", ""),
        ("[budget.run]\nrequests = 0\n", "budget.run.requests", "0"),
        ("[budget.run]\nrequests = '5'\n", "budget.run.requests", "5"),
        ("[budget.month]\nbytes = 5\n", "budget.month.bytes", 'a size such as "20GB"'),
        ("[budget.month]\nbytes = '0GB'\n", "budget.month.bytes", 'a size such as "20GB"'),
        ("[budget.month]\nmoney = '25'\n", "budget.month.money", "[costs] names no price"),
        (f"{PRICED}[budget.month]\nmoney = '0'\n", "budget.month.money", "above nought"),
        ("[budget.week]\nrequests = 5\n", "budget.week", ""),
    ],
)
def test_what_is_wrong_is_said_with_its_key(tmp_path: Path, text: str, key: str, problem: str) -> None:
    with pytest.raises(StoreFileError) as caught:
        read(tmp_path, LEAST + text)
    assert caught.value.key == key
    assert problem in str(caught.value)
