"""When a store that says no is left alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storebot.core.breaker import (
    FIRST_COOL_DOWN_MS,
    JITTER,
    LONGEST_COOL_DOWN_MS,
    Breaker,
    State,
    Watch,
    Way,
    calmed,
    closed,
    half_opened,
    opened,
    refuses,
    way,
)

NOW = 1_800_000_000_000
CHANCE = st.floats(0, 1)
MIDDLE = 0.5  # draws no jitter


def after(*answers: bool, share: float = 0.5, minimum: int = 10) -> bool:
    """Say whether the last of these answers (True: no) opens a breaker."""
    watch = Watch(share, minimum)
    return [watch.add(no=no) for no in answers][-1]


# --- what opens it --------------------------------------------------------------------------------------------------


def test_too_few_noes_never_open_it_though_they_are_all_answers() -> None:
    assert not after(*[True] * 9)
    assert after(*[True] * 10)


def test_share_of_all_answers_decides_beyond_the_minimum() -> None:
    assert not after(*[False] * 11, *[True] * 10)
    assert after(*[False] * 10, *[True] * 10)


def test_long_good_run_hides_no_store_that_says_no_by_now() -> None:
    watch = Watch(0.5, 10)
    for _ in range(100_000):
        assert not watch.add(no=False)
    assert [watch.add(no=True) for _ in range(25)] == [False] * 24 + [True]
    assert (watch.noes, watch.count) == (25, 50)


@given(st.lists(st.booleans(), max_size=200), st.floats(0.01, 1), st.integers(0, 30))
def test_only_the_newest_answers_count(answers: list[bool], share: float, minimum: int) -> None:
    watch = Watch(share, minimum)
    for place, no in enumerate(answers, 1):
        says_no = watch.add(no=no)
        newest = answers[:place][-5 * max(minimum, 1) :]
        assert (watch.noes, watch.count) == (sum(newest), len(newest))
        assert says_no == (sum(newest) >= max(minimum, 1) and sum(newest) >= share * len(newest))


# --- what a run may do ----------------------------------------------------------------------------------------------


def test_nothing_is_sent_until_the_cool_down_is_over_and_then_one_request() -> None:
    open_ = opened(Breaker(), NOW, "10 of 10 blocked", chance=MIDDLE)
    assert open_ == Breaker(State.OPEN, NOW, NOW + FIRST_COOL_DOWN_MS, 1, "10 of 10 blocked")
    assert way(open_, open_.until - 1) is Way.NONE
    assert way(open_, open_.until) is Way.PROBE
    assert way(half_opened(open_), NOW) is Way.PROBE  # its run died before the answer
    assert way(closed(half_opened(open_)), NOW) is Way.FREE
    assert way(Breaker(), NOW) is Way.FREE


def test_who_forces_it_skips_the_cool_down_and_not_the_probe() -> None:
    open_ = opened(Breaker(), NOW, "no", chance=MIDDLE)
    assert way(open_, NOW, forced=True) is Way.PROBE
    assert way(Breaker(), NOW, forced=True) is Way.FREE


def test_each_time_in_a_row_is_twice_as_long_up_to_a_day() -> None:
    breaker, lengths = Breaker(), []
    for _ in range(9):
        breaker = opened(half_opened(breaker), NOW, "no", chance=MIDDLE)
        lengths.append((breaker.until - NOW) // 60_000)
    assert lengths == [30, 60, 120, 240, 480, 960, 1440, 1440, 1440]


def test_probe_that_works_does_not_forget_how_often_it_opened_and_a_calm_run_does() -> None:
    twice = opened(opened(Breaker(), NOW, "no", chance=MIDDLE), NOW, "no", chance=MIDDLE)
    again = opened(closed(half_opened(twice)), NOW, "no", chance=MIDDLE)
    assert again.until - NOW == 4 * FIRST_COOL_DOWN_MS
    calm = calmed(closed(half_opened(twice)))
    assert (calm.state, calm.trips) == (State.CLOSED, 0)
    assert opened(calm, NOW, "no", chance=MIDDLE).until - NOW == FIRST_COOL_DOWN_MS
    assert calmed(twice) == twice


@pytest.mark.parametrize(
    ("asked_ms", "expected_ms"),
    [
        (0, FIRST_COOL_DOWN_MS),
        (7_200_000, 7_200_000),
        (400 * 86_400_000, LONGEST_COOL_DOWN_MS),
        (-5, FIRST_COOL_DOWN_MS),
    ],
    ids=["not said", "two hours", "a year", "the past"],
)
def test_store_that_says_until_when_is_believed_for_a_day(asked_ms: int, expected_ms: int) -> None:
    """Case Z04."""
    assert opened(Breaker(), NOW, "429", chance=MIDDLE, asked_until_ms=NOW + asked_ms).until == NOW + expected_ms


@given(st.integers(0, 10_000), st.integers(0, 4 * 10**12), CHANCE, st.integers(0, 10**15))
def test_it_opens_for_a_bounded_time_never_for_none(trips: int, now: int, chance: float, asked: int) -> None:
    breaker = opened(Breaker(trips=trips), now, "no", chance=chance, asked_until_ms=asked)
    length = breaker.until - now
    assert FIRST_COOL_DOWN_MS * (1 - JITTER) - 1 <= length <= LONGEST_COOL_DOWN_MS * (1 + JITTER)
    assert way(breaker, now) is Way.NONE


@given(st.lists(st.tuples(st.sampled_from(["no", "works", "fails", "dies", "calm", "waits"]), CHANCE), max_size=40))
def test_whatever_happens_only_a_probe_that_worked_closes_it(events: list[tuple[str, float]]) -> None:
    """A store is a sequence of runs: each asks what it may, and then one thing happens."""
    breaker, now, in_a_row = Breaker(), NOW, 0
    for event, chance in events:
        allowed = way(breaker, now)
        assert (allowed is Way.NONE) == (breaker.state is State.OPEN and now < breaker.until)
        if event == "waits":
            now = max(now, breaker.until)
        elif allowed is Way.NONE:
            continue  # the run has sent nothing
        elif allowed is Way.PROBE:
            breaker = half_opened(breaker)
            if event == "works":
                breaker = closed(breaker)
            elif event in ("fails", "no"):
                breaker = opened(breaker, now, event, chance=chance)
                in_a_row += 1
        elif event == "no":
            breaker = opened(breaker, now, event, chance=chance)
            in_a_row += 1
        elif event == "calm":
            breaker, in_a_row = calmed(breaker), 0
        assert breaker.trips == in_a_row
        assert breaker.state is not State.CLOSED or way(breaker, now) is Way.FREE


# --- the probe ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "refused"),
    [(200, False), (304, False), (404, False), (410, False), (403, True), (429, True), (500, True), (503, True)],
)
def test_page_that_is_gone_is_an_answer_and_a_refusal_is_none(status: int, refused: bool) -> None:
    assert refuses(status) is refused
