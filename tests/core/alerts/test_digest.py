"""Who is told of which moves, and not again while a listing goes back and forth."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest

from storebot.core.alerts.digest import MOST_LINES, Key, Terms, Told, Watch, digest
from storebot.core.alerts.moves import Change, Event, Move, moves
from storebot.core.alerts.quiet import QuietHours
from tests.core.alerts.test_moves import change
from tests.core.alerts.timeline import BERLIN, at

HOUR = 3_600_000
START = at("2026-06-01 10:00")
DROP = moves([change(price=(12900, 9900))])[0]
ALL = frozenset(Event)


@pytest.mark.parametrize(
    ("watch", "wants"),
    [
        (Watch(name="w"), True),
        (Watch(name="w", events=frozenset({Event.NEW})), False),
        (Watch(name="w", stores=frozenset({"acme", "b"})), True),
        (Watch(name="w", stores=frozenset({"b"})), False),
        (Watch(name="w", brands=frozenset({"acme"})), True),
        (Watch(name="w", brands=frozenset({"bosch"})), False),
        (Watch(name="w", percent=Decimal("23.3")), True),
        (Watch(name="w", percent=Decimal("23.4")), False),
        (Watch(name="w", below=Decimal("99.01"), currency="EUR"), True),
        (Watch(name="w", below=Decimal("99.00"), currency="EUR"), False),
        (Watch(name="w", below=Decimal("200"), currency="USD"), False),
    ],
)
def test_a_watch_wants_what_fits_all_that_it_names(watch: Watch, wants: bool) -> None:
    assert watch.wants(DROP) is wants


def test_percent_is_of_the_whole_way_and_of_prices_alone() -> None:
    watch = Watch(name="w", percent=Decimal(10))
    (both,) = moves([change(price=(10000, 9400)), change(price=(9400, 8900))])
    (back,) = moves([change(stock=("OutOfStock", "InStock"))])
    assert watch.wants(both)
    assert watch.wants(back)


def test_a_digest_has_a_line_and_an_address_for_each_move_with_before_and_after() -> None:
    found = moves(
        [change(price=(12900, 9900)), change(key="https://b.example/p/2", name="Mug", brand="Mugs", price=(500, 400))]
    )
    (message,) = digest(found, {}, START, Terms(zone=BERLIN)).messages
    assert message.title == "changes: 2 changes at acme"
    assert message.body.splitlines() == [
        "acme: Anvil (ACME): price 129.00 EUR → 99.00 EUR (-23.3%)",
        "  https://shop.example/p/1",
        "acme: Mug (Mugs): price 5.00 EUR → 4.00 EUR (-20.0%)",
        "  https://b.example/p/2",
        "Seen until 2026-06-01 10:00 CEST.",
    ]


def test_a_long_digest_is_cut_and_counted() -> None:
    found = [replace(DROP, url_key=f"k{number}") for number in range(MOST_LINES + 7)]
    (message,) = digest(found, {}, START, Terms()).messages
    assert message.body.splitlines()[-2] == "… and 7 more."


def run(hours: dict[int, list[Change]], terms: Terms, last: int = 60) -> list[tuple[int, str]]:
    """Return what is told in which hour, by a digest each hour."""
    told: dict[Key, Told] = {}
    said = []
    for hour in range(last):
        made = digest(moves(hours.get(hour, [])), told, START + hour * HOUR, terms)
        said += [(hour, line) for message in made.messages for line in message.body.splitlines() if "Anvil" in line]
        for key, one in made.told.items():
            if one is None:
                del told[key]
            else:
                told[key] = one
    return [(hour, line.partition("): ")[2]) for hour, line in said]


def test_what_goes_back_and_forth_is_told_once_in_a_cool_down() -> None:
    """Case N03: a flapping stock is no flood."""
    terms = Terms(watches=(Watch(name="all", events=ALL),))
    flap = [change(stock=("InStock", "OutOfStock"))], [change(stock=("OutOfStock", "InStock"))]
    hours = {hour: flap[hour % 2] for hour in range(21)}  # ends out of stock, as told
    assert run(hours, terms) == [(0, "out of stock (InStock → OutOfStock), 99.00 EUR")]
    hours[21] = flap[1]  # ends in stock
    assert run(hours, terms) == [
        (0, "out of stock (InStock → OutOfStock), 99.00 EUR"),
        (24, "back in stock (OutOfStock → InStock), 99.00 EUR"),
    ]


def test_after_the_cool_down_the_whole_way_since_it_was_told_is_told() -> None:
    prices = {0: [change(price=(100, 90))], 3: [change(price=(90, 85))], 9: [change(price=(85, 80))]}
    assert run(prices, Terms()) == [
        (0, "price 1.00 EUR → 0.90 EUR (-10.0%)"),
        (24, "price 0.90 EUR → 0.80 EUR (-11.1%)"),
    ]
    other_money = {0: prices[0], 3: [change(price=(200, 150), currency="USD")]}
    assert run(other_money, Terms())[1] == (24, "price 2.00 USD → 1.50 USD (-25.0%)")
    later = {0: prices[0], 30: [change(price=(90, 85))]}
    assert run(later, Terms())[1] == (30, "price 0.90 EUR → 0.85 EUR (-5.6%)")


def test_digests_are_due_by_their_interval_and_not_in_quiet_hours() -> None:
    terms = Terms(quiet=QuietHours.read("22:00-07:00", BERLIN))
    assert terms.is_due(START - HOUR, START)
    assert not terms.is_due(START - HOUR + 1, START)
    assert not terms.is_due(0, at("2026-06-01 23:00"))


def test_a_move_is_kept_as_it_was_told() -> None:
    made = digest([DROP], {}, START, Terms())
    assert made.told == {("changes", DROP.subject): Told(START, DROP)}
    assert isinstance(DROP, Move)
