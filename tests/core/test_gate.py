"""When a run is too young, when its gate is open, and when it trips: with the numbers in a sentence."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storebot.core.gate import State, Verdict, judge
from storebot.core.gate_facts import Facts, Kind, bucket
from storebot.core.gate_limits import Limits
from storebot.core.gate_tally import Tally
from storebot.items import Outcome

CHANGED = Facts(Kind.CHANGED)


def tally(*facts: Facts, same: int = 0, blocked: int = 0) -> Tally:
    found = Tally()
    for one in facts:
        found.add_facts(one)
    for _ in range(same):
        found.count(Outcome.UNCHANGED)
    for _ in range(blocked):
        found.count(Outcome.BLOCKED)
    return found


def final(found: Tally, **limits: object) -> Verdict:
    return judge(found, replace(Limits(), **limits), young=False)  # type: ignore[arg-type]


def test_a_young_run_waits_and_an_old_one_is_open() -> None:
    assert judge(tally(CHANGED), Limits(), young=True) == Verdict(State.WAIT)
    assert judge(tally(CHANGED), Limits(), young=False) == Verdict(State.OPEN)
    assert judge(Tally(), Limits(), young=False) == Verdict(State.OPEN)


def test_four_changes_in_a_shop_of_twenty_trip_nothing() -> None:
    assert final(tally(*[CHANGED] * 4, same=16)).state is State.OPEN
    assert final(tally(*[CHANGED] * 19), pages=19).state is State.OPEN


@pytest.mark.parametrize(
    ("facts", "gate", "sentence"),
    [
        (Facts(Kind.CHANGED), "changed", "60 of 100 known pages changed (60%); the limit is 50%"),
        (
            Facts(Kind.CHANGED, identity=True),
            "identity",
            "60 of 100 known pages show another name, SKU, GTIN or brand (60%); the limit is 10%",
        ),
        (
            Facts(Kind.CHANGED, lost=("price_minor",)),
            "lost",
            "60 of 100 known pages lost their price (60%); the limit is 10%",
        ),
        (Facts(Kind.REBASED, lost=("name",)), "lost", "60 of 100 known pages lost their name (60%); the limit is 10%"),
        (
            Facts(Kind.CHANGED, currency="GBP to EUR"),
            "currency",
            "60 of 100 known pages switched their currency from GBP to EUR (60%); the limit is 5%",
        ),
        (
            Facts(Kind.MISSING),
            "missing",
            "60 of 100 known pages are missing or lead to another (60%); the limit is 20%",
        ),
        (
            Facts(Kind.CHANGED, record="r"),
            "identical",
            "60 of 100 pages show the very same record (60%); the limit is 10%",
        ),
        (
            Facts(Kind.CHANGED, ratio=bucket(100, 1)),
            "price",
            "the prices of 60 pages moved to 100 times what they were (median); the limit is a factor of 3",
        ),
        (
            Facts(Kind.CHANGED, ratio=bucket(1, 10)),
            "price",
            "the prices of 60 pages moved to 0.1 times what they were (median); the limit is a factor of 3",
        ),
    ],
    ids=["changed", "identity", "lost", "rebased", "currency", "missing", "identical", "times-100", "tenth"],
)  # fmt: skip
def test_each_gate_trips_however_young_the_run_is(facts: Facts, gate: str, sentence: str) -> None:
    found = tally(*[facts] * 60, same=40)
    assert (
        judge(found, Limits(), young=True) == judge(found, Limits(), young=False) == Verdict(State.TRIP, gate, sentence)
    )


def test_what_is_at_a_limit_is_allowed() -> None:
    assert final(tally(*[CHANGED] * 50, same=50)).state is State.OPEN
    assert final(tally(*[CHANGED] * 51, same=49)).gate == "changed"


def test_many_blocked_visits_make_the_others_doubtful() -> None:
    verdict = final(tally(CHANGED, same=19, blocked=20))
    assert verdict.sentence.startswith("20 of 40 visits were blocked")
    assert final(tally(CHANGED, same=19, blocked=8)).state is State.OPEN


@pytest.mark.parametrize(
    "facts",
    [
        Facts(Kind.MISSING),
        Facts(Kind.CHANGED, lost=("price_minor",)),
        Facts(Kind.CHANGED, ratio=bucket(100, 1)),
        Facts(Kind.CHANGED, currency="GBP to EUR"),
        Facts(Kind.CHANGED, record="r"),
    ],
    ids=["missing", "lost", "price", "currency", "identical"],
)
def test_three_pages_are_enough_where_they_are_all_of_the_store(facts: Facts) -> None:
    assert final(tally(*[facts] * 3), pages=3).state is State.TRIP
    assert final(tally(*[facts] * 2), pages=2).state is State.OPEN


def test_a_few_missing_pages_of_many_that_are_not_due_trip_nothing() -> None:
    assert final(tally(*[Facts(Kind.MISSING)] * 3), pages=400).state is State.OPEN


def test_new_pages_alone_trip_nothing_unless_they_are_one_and_the_same() -> None:
    assert final(tally(*[Facts(Kind.NEW, record=str(number)) for number in range(300)])).state is State.OPEN
    assert final(tally(*[Facts(Kind.NEW, record="r")] * 300)).gate == "identical"


SALE = Facts(Kind.CHANGED, price_only=True, ratio=bucket(1, 4))


def test_planned_prices_may_move_and_nothing_else() -> None:
    assert final(tally(*[SALE] * 100)).gate == "price"
    assert final(tally(*[SALE] * 100), planned="prices").state is State.OPEN
    assert final(tally(*[SALE] * 40, *[CHANGED] * 60), planned="prices").gate == "changed"
    assert final(tally(*[SALE._replace(lost=("name",))] * 100), planned="prices").gate == "lost"


def test_when_all_is_planned_the_gate_is_open_at_once() -> None:
    worst = Facts(Kind.CHANGED, identity=True, lost=("price_minor",), record="r")
    assert judge(tally(*[worst] * 100), replace(Limits(), planned="all"), young=True) == Verdict(State.OPEN)


@given(st.integers(0, 200), st.integers(0, 200))
def test_more_of_the_same_never_closes_a_gate(changed: int, same: int) -> None:
    if final(tally(*[CHANGED] * changed, same=same)).state is State.OPEN:
        assert final(tally(*[CHANGED] * changed, same=same + 1)).state is State.OPEN
