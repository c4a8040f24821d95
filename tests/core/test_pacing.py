"""How fast a store is asked."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storebot.core.pacing import LONGEST_PAUSE_S, Pace, as_duration, retry_after_s, shortfall

NOW_MS = 1_792_569_600_000  # Wed, 21 Oct 2026 08:00:00 GMT
HOUR_MS = 3_600_000


# --- Retry-After ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("120", 120),
        (" 5 ", 5),
        ("1.5", 1.5),
        ("0", 0),
        ("Wed, 21 Oct 2026 08:02:00 GMT", 120),
        ("Wed, 21 Oct 2026 08:02:00 -0000", 120),  # without an offset, which the standard library leaves naive
        ("Wed, 21 Oct 2026 10:02:00 +0200", 120),
        ("Wed, 21 Oct 2026 07:28:00 -0000", 0),
        ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
        ("-5", None),
        ("soon", None),
        ("", None),
        ("١٢", None),
        ("9999999999", None),
    ],
)
def test_retry_after_is_read_in_both_forms_in_utc(value: str, expected: float | None) -> None:
    """Cases Z04, Z05."""
    assert retry_after_s(value, NOW_MS) == expected


def test_retry_after_of_another_year_is_what_it_says() -> None:
    """Case Z04."""
    asked = retry_after_s("Fri, 31 Dec 2027 23:59:59 GMT", NOW_MS)
    assert asked is not None
    assert asked > LONGEST_PAUSE_S


@given(st.text(max_size=60), st.integers(0, 4 * 10**12))
def test_no_retry_after_raises_or_is_negative(value: str, now_ms: int) -> None:
    """Case Z05."""
    asked = retry_after_s(value, now_ms)
    assert asked is None or (asked >= 0 and math.isfinite(asked))


# --- after a refusal ------------------------------------------------------------------------------------------------


def refused(pace: Pace, *asked: float | None, base_s: float = 1.0, longest_s: float = LONGEST_PAUSE_S) -> list[float]:
    """Return the pauses that refusals make, each of which comes when the last one's is over."""
    now, pauses = 0.0, []
    for asked_s in asked:
        pace = pace.refused(now, asked_s, base_s, longest_s)
        pauses.append(pace.paused_until_s - now)
        now = pace.paused_until_s
    return pauses


def test_pause_is_what_the_store_asks_for() -> None:
    """Case Z04."""
    assert refused(Pace(), 120.0) == [120]


@pytest.mark.parametrize("asked_s", [None, 0.0], ids=["junk or nothing", "nought or the past"])
def test_pause_without_a_usable_wish_doubles_from_a_floor(asked_s: float | None) -> None:
    """Case Z05."""
    assert refused(Pace(), *[asked_s] * 4) == [1, 2, 4, 8]
    assert refused(Pace(), *[asked_s] * 20)[-1] == 300


def test_store_that_asks_for_a_second_again_and_again_gets_more() -> None:
    assert refused(Pace(), 1.0, 1.0, 1.0) == [1, 2, 4]


def test_what_was_under_way_when_the_pause_began_is_no_second_refusal() -> None:
    pace = Pace().refused(0.0, 10.0, 1.0, LONGEST_PAUSE_S)
    later = pace.refused(0.1, 10.0, 1.0, LONGEST_PAUSE_S).refused(0.2, None, 1.0, LONGEST_PAUSE_S)
    assert (later.steps, later.refusals, later.paused_until_s) == (1, 1, 10.1)
    last = later.refused(11.0, None, 1.0, LONGEST_PAUSE_S, sent_s=9.0)  # answered when the pause was over
    assert (last.steps, last.refusals) == (1, 1)
    assert last.refused(13.0, None, 1.0, LONGEST_PAUSE_S, sent_s=12.5).steps == 2


def test_delay_doubles_with_each_refusal_up_to_a_minute_and_is_halved_by_twenty_good_answers() -> None:
    pace, delays = Pace(), []
    for turn in range(9):
        pace = pace.refused(turn * 1000.0, None, 1.0, LONGEST_PAUSE_S)
        delays.append(pace.delay_s(1.0))
    assert delays == [2, 4, 8, 16, 32, 60, 60, 60, 60]
    assert pace.steps == 6  # and no more: what is slower than the slowest would take as long to recover
    for _ in range(20):
        pace = pace.answered(10_000.0)
    assert pace.delay_s(1.0) == 32
    for _ in range(19):
        pace = pace.answered(10_000.0)
    assert pace.delay_s(1.0) == 32
    assert pace.answered(10_000.0).delay_s(1.0) == 16


def test_store_without_a_delay_gets_one() -> None:
    pace = Pace().refused(0.0, None, 0.0, LONGEST_PAUSE_S)
    assert (pace.delay_s(0.0), pace.refused(9.0, None, 0.0, LONGEST_PAUSE_S).delay_s(0.0)) == (0.5, 1)


def test_delay_that_is_longer_than_a_minute_stays_as_it_is() -> None:
    assert Pace().refused(0.0, None, 90.0, LONGEST_PAUSE_S).delay_s(90.0) == 90


def test_hour_of_rest_between_two_runs_halves_the_delay() -> None:
    assert [Pace(steps=3).remembered(hours * HOUR_MS).steps for hours in (0, 1, 2, 3, 99)] == [3, 2, 1, 0, 0]
    assert Pace(steps=3).remembered(-HOUR_MS).steps == 3  # a clock that was set back


ANSWERS = st.lists(st.one_of(st.just("good"), st.none(), st.floats(0, LONGEST_PAUSE_S)), max_size=80)


@given(ANSWERS, st.floats(0, 120), st.lists(st.floats(0, 500), min_size=80, max_size=80))
def test_pace_is_bounded_and_a_pause_never_gets_shorter(
    answers: list[str | float | None], base_s: float, waits: list[float]
) -> None:
    pace, now = Pace(), 0.0
    for answer, wait_s in zip(answers, waits, strict=False):
        now += wait_s
        before = pace
        if isinstance(answer, str):
            pace = pace.answered(now)
            assert pace.delay_s(base_s) <= before.delay_s(base_s)
        else:
            pace = pace.refused(now, answer, base_s, LONGEST_PAUSE_S)
            assert pace.delay_s(base_s) >= before.delay_s(base_s)
            assert now < pace.paused_until_s <= max(now + LONGEST_PAUSE_S, before.paused_until_s)
            assert not pace.at_rest
        assert pace.paused_until_s >= before.paused_until_s
        assert base_s <= pace.delay_s(base_s) <= max(60.0, base_s)
    for _ in range(200):
        pace = pace.answered(now + 10_000)
    assert pace.at_rest
    assert pace.delay_s(base_s) == base_s


# --- what fits into an interval -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pages", "delay_s", "hours", "latency_s", "concurrency", "takes", "fits"),
    [
        (1200, 6.0, 1, 0.0, 1, "2h", ["delay_s = 3"]),
        (1200, 6.0, 1, 9.0, 1, "3h", ["delay_s = 3 with concurrency = 3"]),
        (10_000, 1.0, 1, 0.0, 1, "2h47m", []),  # a delay of 0.36 s is for the shop to allow
        (10_000, 0.0, 1, 2.0, 4, "1h24m", ["concurrency = 6"]),
    ],
    ids=["delay", "delay and slow answers", "polite already", "slow answers"],
)
def test_what_would_fit_is_said_with_numbers(
    pages: int, delay_s: float, hours: int, latency_s: float, concurrency: int, takes: str, fits: list[str]
) -> None:
    told = shortfall(pages, delay_s, hours * HOUR_MS, latency_s=latency_s, concurrency=concurrency)
    what = ", or ".join([f'[refresh] interval = "{takes}"', *fits])
    assert told.endswith(f'take {takes}, longer than [refresh] interval = "1h"; what would fit: {what}')


@pytest.mark.parametrize(("pages", "hours"), [(1200, 1), (100, 0), (0, 1)], ids=["fits", "no interval", "no pages"])
def test_nothing_is_said_where_there_is_time_enough(pages: int, hours: int) -> None:
    assert shortfall(pages, 1.0, hours * HOUR_MS) == ""


@given(st.integers(1, 10**6), st.floats(0, 100), st.integers(1, 10**9), st.floats(0, 60), st.integers(1, 64))
def test_it_is_said_exactly_where_they_do_not_fit(
    pages: int, delay_s: float, interval_ms: int, latency_s: float, concurrency: int
) -> None:
    told = shortfall(pages, delay_s, interval_ms, latency_s=latency_s, concurrency=concurrency)
    assert bool(told) is (pages * max(delay_s, latency_s / concurrency) > interval_ms / 1000)


@pytest.mark.parametrize(
    ("seconds", "expected"), [(0.4, "1s"), (30, "30s"), (60, "1m"), (61, "2m"), (3600, "1h"), (5400.5, "1h31m")]
)
def test_duration_is_written_as_a_store_file_has_it(seconds: float, expected: str) -> None:
    assert as_duration(seconds) == expected
