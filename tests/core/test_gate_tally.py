"""The tally adds up, in whatever order its facts come."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storebot.core.gate_facts import Facts, Kind
from storebot.core.gate_tally import MOST_RECORDS, Tally
from storebot.items import Outcome

facts = st.builds(
    Facts,
    kind=st.sampled_from(Kind),
    price_only=st.booleans(),
    identity=st.booleans(),
    lost=st.sampled_from([(), ("price_minor",), ("name", "availability")]),
    ratio=st.none() | st.integers(-500, 500),
    currency=st.sampled_from(["", "GBP to EUR"]),
    record=st.sampled_from(["", "a", "b", "c"]),
)
observed = st.lists(facts | st.sampled_from(Outcome))


def tally_of(seen: list[Any]) -> Tally:
    tally = Tally()
    for one in seen:
        tally.count(one) if isinstance(one, Outcome) else tally.add_facts(one)
    return tally


@given(observed, st.randoms())
def test_order_does_not_matter(seen: list[Any], rng: Any) -> None:
    shuffled = list(seen)
    rng.shuffle(shuffled)
    assert tally_of(shuffled) == tally_of(seen)


@given(observed, observed)
def test_two_parts_add_up_to_the_whole_and_stay_as_they_are(first: list[Any], second: list[Any]) -> None:
    one, two = tally_of(first), tally_of(second)
    assert one.plus(two) == tally_of(first + second)
    assert (one, two) == (tally_of(first), tally_of(second))


@given(observed, facts)
def test_what_is_taken_back_was_never_counted(seen: list[Any], again: Facts) -> None:
    tally = tally_of([*seen, again])
    tally.take_back(again)
    assert tally == tally_of(seen)


@given(observed)
def test_counts_add_up(seen: list[Any]) -> None:
    tally = tally_of(seen)
    told = [one for one in seen if isinstance(one, Facts)]
    outcomes = [one for one in seen if isinstance(one, Outcome)]
    known = sum(outcome.seen and outcome is not Outcome.NEW for outcome in outcomes)
    assert tally.seen == known + sum(one.kind is not Kind.NEW for one in told)
    assert tally.seen + tally.new + tally.blocked <= len(seen)
    assert tally.price_only <= tally.changed <= tally.seen
    assert tally.missing <= tally.seen
    assert all(count <= len(told) for count in tally.lost.values())
    assert tally.moved == sum(one.ratio is not None for one in told)
    assert tally.records.total() == sum(bool(one.record) for one in told)


@given(st.lists(st.integers(-500, 500), min_size=1))
def test_median_bucket_has_half_of_the_moves_on_either_side(ratios: list[int]) -> None:
    tally = tally_of([Facts(Kind.CHANGED, ratio=ratio) for ratio in ratios])
    assert tally.median_bucket() == sorted(ratios)[len(ratios) // 2]


def test_a_median_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="no price moved"):
        Tally().median_bucket()


def test_one_record_of_many_pages_is_found_among_more_than_are_counted() -> None:
    tally = Tally()
    for number in range(4 * MOST_RECORDS):
        tally.add_facts(Facts(Kind.NEW, record=f"own {number}"))
        if number % 2:
            tally.add_facts(Facts(Kind.NEW, record="the frozen page"))
    assert len(tally.records) <= MOST_RECORDS + 1
    assert tally.repeated() > MOST_RECORDS
    assert tally.records.most_common(1)[0][0] == "the frozen page"


def test_what_says_nothing_of_a_page_is_not_counted() -> None:
    assert (
        tally_of([Outcome.ERROR, Outcome.INVALID, Outcome.MOVED, Outcome.MISSING, Outcome.SKIPPED, Outcome.HELD])
        == Tally()
    )
