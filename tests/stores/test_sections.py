"""What a store file leaves out has its default; what it says, nought included, is respected."""

from __future__ import annotations

import re
from decimal import Decimal
from pathlib import Path

import pytest
from pydantic import ValidationError

from storebot.core.gate_limits import Declared, Planned
from storebot.core.planner.terms import Orders
from storebot.core.planner.value import ValueRule
from storebot.exceptions import StoreFileError
from storebot.items import Listing
from storebot.stores.product_section import FIELDS, Product
from tests.stores.writing import LEAST, read


def test_two_lines_make_a_store(tmp_path: Path) -> None:
    store = read(tmp_path)
    assert store.discover.sitemaps is True
    assert store.catalogue is None
    assert not store.walks_catalogue
    assert store.politeness.model_dump() == {
        "preset": None,
        "reason": None,
        "delay_s": 1.0,
        "jitter": 0.5,
        "concurrency": 1,
        "robots": True,
        "robots_reason": None,
        "user_agent": None,
    }
    assert (store.refresh.interval_ms, store.refresh.head_pages, store.refresh.sitemaps) == (0, 1, True)
    assert (store.blocks.markers, store.blocks.breaker_share, store.blocks.breaker_min) == ((), 0.5, 10)
    assert (store.expect.required, store.expect.min_listings) == (("name",), None)


def test_nought_is_said_and_only_an_absent_key_is_unset(tmp_path: Path) -> None:
    store = read(
        tmp_path,
        LEAST + "[politeness]\ndelay_s = 0\njitter = 0\n[refresh]\nhead_pages = 0\ninterval = '0s'\n"
        "[expect]\nmin_listings = 0\n[catalogue]\nurl = '/c/{page}'\nfirst = 0\n",
    )
    assert (store.politeness.delay_s, store.politeness.jitter) == (0, 0)
    assert (store.refresh.head_pages, store.refresh.interval_ms) == (0, 0)
    assert store.expect.min_listings == 0
    assert store.catalogue is not None
    assert store.catalogue.first == 0


def test_booleans_are_what_the_file_says(tmp_path: Path) -> None:
    text = (
        LEAST + "[politeness]\nrobots = false\nrobots_reason = 'their letter of 3 May'\n[refresh]\nsitemaps = false\n"
    )
    store = read(tmp_path, text)
    assert store.politeness.robots is False
    assert store.refresh.sitemaps is False


def test_touchy_shop_is_asked_every_5_to_7_seconds_one_at_a_time(tmp_path: Path) -> None:
    polite = read(tmp_path, LEAST + "[politeness]\npreset = 'touchy'\n").politeness
    assert (polite.concurrency, polite.robots) == (1, True)
    assert 5 <= polite.delay_s * (1 - polite.jitter) < polite.delay_s * (1 + polite.jitter) <= 7


def test_keys_of_the_table_win_over_its_preset(tmp_path: Path) -> None:
    polite = read(tmp_path, LEAST + "[politeness]\npreset = 'touchy'\ndelay_s = 9\n").politeness
    assert (polite.delay_s, polite.jitter) == (9, 0.166)


def test_robots_reason_may_stand_before_robots(tmp_path: Path) -> None:
    store = read(tmp_path, LEAST + "[politeness]\nrobots_reason = 'their letter'\nrobots = false\n")
    assert store.politeness.robots_reason == "their letter"


@pytest.mark.parametrize(
    ("text", "expected_ms"),
    [("0s", 0), ("45s", 45_000), ("90m", 5_400_000), ("24h", 86_400_000), ("7d", 604_800_000), ("1h30m", 5_400_000)],
)
def test_a_duration_is_read_in_its_unit(tmp_path: Path, text: str, expected_ms: int) -> None:
    assert read(tmp_path, f"{LEAST}[refresh]\ninterval = '{text}'").revisit_after_ms == expected_ms


@pytest.mark.parametrize(
    ("discover", "catalogue", "walks"),
    [
        ("", "", False),
        ("", "[catalogue]\nurl = '/c'", True),
        ("catalogue = true", "[catalogue]\nurl = '/c'", True),
        ("catalogue = false", "[catalogue]\nurl = '/c'", False),
        ("catalogue = false", "", False),
    ],
)
def test_the_catalogue_is_walked_where_there_is_one_unless_the_file_says_no(
    tmp_path: Path, discover: str, catalogue: str, walks: bool
) -> None:
    store = read(tmp_path, f"{LEAST}[discover]\n{discover}\n{catalogue}")
    assert store.walks_catalogue is walks
    assert bool(store.catalogue_urls) is walks


def test_name_is_always_required(tmp_path: Path) -> None:
    assert read(tmp_path, LEAST + "[expect]\nrequired = ['price']").required == ("name", "price")


def test_every_field_that_a_rule_may_fill_is_a_field_of_the_record() -> None:
    money = {"price": "price_minor", "regular_price": "regular_price_minor"}
    money |= {"price_min": "price_min_minor", "price_max": "price_max_minor"}
    assert {money.get(name, name) for name in FIELDS} <= set(Listing.__dataclass_fields__)


def test_a_store_never_changes_once_it_is_read(tmp_path: Path) -> None:
    store = read(tmp_path)
    with pytest.raises(ValidationError, match="frozen"):
        store.politeness.delay_s = 0.0
    with pytest.raises(ValidationError, match="frozen"):
        Product().name = ("h1",)


def test_gate_says_what_it_is_judged_by_and_leaves_the_rest_to_history(tmp_path: Path) -> None:
    window = (
        "[[gate.planned]]\nfrom = 2026-11-27T00:00:00+01:00\nuntil = 2026-11-30T00:00:00+01:00\nreason = 'a sale'\n"
    )
    declared = read(tmp_path, f"{LEAST}[gate]\nmax_changed = 0.8\nsample = 10\n{window}").gate.declared
    assert (declared.changed, declared.missing, declared.sample) == (0.8, None, 10)
    assert declared.planned == (Planned(1_795_734_000_000, 1_795_993_200_000, "prices", "a sale"),)
    assert read(tmp_path).gate.declared == Declared()


def test_refresh_without_a_budget_orders_nothing_but_what_is_due(tmp_path: Path) -> None:
    assert read(tmp_path).refresh.orders() == Orders()
    assert not read(tmp_path).refresh.orders().is_planned


def test_refresh_says_its_budget_its_promise_and_what_changes_are_worth(tmp_path: Path) -> None:
    text = (
        f"{LEAST}[refresh]\nbudget = 500\nmax_age = '14d'\nsweep = 0.5\n"
        "[[refresh.value]]\nweight = 3\ncategory = ['Shoes', 'Trail']\nbrand = 'Acme'\n"
        "[[refresh.value]]\nweight = 0.5\nprice_from = '1.50'\nprice_below = '20'\n"
    )
    orders = read(tmp_path, text).refresh.orders(once=7)
    assert (orders.per_day, orders.once, orders.budget, orders.max_age_h, orders.sweep) == (500, 7, 7, 336.0, 0.5)
    assert orders.rules == (
        ValueRule(weight=3.0, category=("Shoes", "Trail"), brand="Acme"),
        ValueRule(weight=0.5, price_from=Decimal("1.50"), price_below=Decimal(20)),
    )


@pytest.mark.parametrize(
    ("refresh", "problem"),
    [
        ("budget = 0", "refresh.budget: expected a number of at least 1, got the number 0"),
        ("budget = 9\nsweep = 1.5", "refresh.sweep: expected a number of at most 1, got the number 1.5"),
        ("max_age = '14d'", "refresh.max_age: has no effect, because there is no refresh.budget"),
        ("budget = 9\nmax_age = '0s'", "refresh.max_age: expected an age above nought, got 0s"),
        ("budget = 9\nmax_age = 14", "refresh.max_age: expected a duration"),
        ("[[refresh.value]]\nbrand = 'Acme'", "refresh.value[0].weight: is missing: expected how much a change"),
        ("[[refresh.value]]\nweight = 0\nbrand = 'Acme'", "expected a number above 0, got the number 0"),
        ("[[refresh.value]]\nweight = 2", "names no products: expected at least one of category, brand, price_from"),
        ("[[refresh.value]]\nweight = 2\ncategory = 'Shoes'", "expected a list of names, the outermost first"),
        ("[[refresh.value]]\nweight = 2\nprice_from = 5", 'expected an amount as text such as "0.0021"'),
        ("[[refresh.value]]\nweight = 2\nprice_from = '5'\nprice_below = '5'", "is not above price_from"),
        ("[[refresh.value]]\nweight = 2\nbrnd = 'Acme'", "refresh.value[0].brnd: unknown key (did you mean"),
    ],
    ids=lambda value: None if value.startswith("refresh.") else value.replace("\n", " "),
)
def test_wrong_words_of_refresh_are_told_with_their_key(tmp_path: Path, refresh: str, problem: str) -> None:
    with pytest.raises(StoreFileError, match=re.escape(problem)):
        read(tmp_path, f"{LEAST}[refresh]\n{refresh}\n")
