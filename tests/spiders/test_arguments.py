"""The arguments of a phase: what they mean, and what is said of those that mean nothing."""

from __future__ import annotations

import re

import pytest

from storebot.exceptions import ConfigurationError
from storebot.spiders.arguments import check_arguments, is_full, requests_of


def test_plan_is_an_argument_of_a_refresh_alone() -> None:
    check_arguments("refresh", ["store", "plan", "_job", "_version"])
    with pytest.raises(ConfigurationError, match="backfill has no argument 'plan'"):
        check_arguments("backfill", ["store", "plan"])


def test_misspelt_argument_names_the_nearest() -> None:
    with pytest.raises(ConfigurationError, match=re.escape("'budgte' (did you mean 'budget'?)")):
        check_arguments("refresh", ["budgte"])


def test_full_plan_is_the_one_plan_that_can_be_named() -> None:
    assert is_full({"plan": "full"})
    assert not is_full({"budget": "5"})
    with pytest.raises(ConfigurationError, match="-a plan=half: expected full"):
        is_full({"plan": "half"})


def test_full_plan_has_no_budget() -> None:
    with pytest.raises(ConfigurationError, match="leave -a budget out"):
        is_full({"plan": "full", "budget": "5"})


@pytest.mark.parametrize("text", ["0", "-1", "many", "1.5", "\u0663"])
def test_budget_is_a_number_of_requests(text: str) -> None:
    with pytest.raises(ConfigurationError, match="expected a number of requests, 1 or more"):
        requests_of({"budget": text})


def test_budget_may_be_left_out() -> None:
    assert requests_of({"budget": "40"}) == 40
    assert requests_of({}) is None
