"""What is known of one tier: when it's left, when it's probed, when it's back."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from storebot.core.rung import DAY_MS, FIRST_WAIT_MS, LONGEST_WAIT_MS, Rung, failed, wait_ms, worked
from storebot.items import PageType, Tier

NOW = 1_800_000_000_000
NEW = Rung(page_type=PageType.PRODUCT, tier=Tier.HTTP)
RESULTS = st.lists(st.booleans(), max_size=80)


def after(results: list[bool], rung: Rung = NEW, every_ms: int = 1000) -> Rung:
    """Return a rung after these results, a second apart; a failure of one that was left is that of a probe."""
    for place, works in enumerate(results):
        now = NOW + place * every_ms
        rung = worked(rung, now) if works else failed(rung, now, "blocked", probe=rung.is_left)
    return rung


def left(times: int = 1) -> Rung:
    """Return a rung that was left, and probed in vain so often that it was ``times`` in all."""
    rung = after([False] * 4)
    for _ in range(times - 1):
        rung = failed(rung, rung.retry_at, "blocked", probe=True)
    return rung


def test_a_new_tier_works_until_four_pages_in_a_row_say_no() -> None:
    assert NEW.rate > 0.9
    assert not after([False] * 3).is_left
    assert after([False] * 4).is_left


def test_a_tier_that_always_worked_is_left_as_soon() -> None:
    assert not after([True] * 500 + [False] * 3).is_left
    assert after([True] * 500 + [False] * 4).is_left


def test_a_tier_that_gets_seven_pages_of_ten_keeps_its_place_through_a_bad_row() -> None:
    used = after([True, True, False, True, True, False, True, True, False, True] * 10)
    assert 0.6 < used.rate < 0.8
    assert not after([False] * 8, used).is_left
    assert after([False] * 20, used).is_left


def test_a_tier_that_seldom_works_is_left_without_a_long_row_of_failures() -> None:
    assert after([True, False, False, False, False, False, False] * 4).is_left


def test_the_wait_doubles_up_to_sixteen_hours() -> None:
    waits = [left(times).retry_at - left(times).tried_at for times in range(1, 10)]
    assert waits[:3] == [FIRST_WAIT_MS, 2 * FIRST_WAIT_MS, 4 * FIRST_WAIT_MS]
    assert waits[-1] == LONGEST_WAIT_MS == 16 * 3_600_000


def test_it_comes_back_after_two_successes_in_a_row() -> None:
    rung = left(3)
    once = worked(rung, rung.retry_at)
    assert once.is_left
    assert once.is_due(once.tried_at), "the second probe needn't wait"
    twice = worked(once, once.tried_at + 1000)
    assert not twice.is_left
    assert twice.rate > 0.9, "what it was like when it was refused is past"


def test_a_second_probe_that_fails_waits_longer_than_the_first_did() -> None:
    rung = left(3)
    once = worked(rung, rung.retry_at)
    again = failed(once, once.tried_at + 1000, "blocked", probe=True)
    assert again.retry_at - again.tried_at == wait_ms(4)


def test_a_tier_that_fails_right_after_it_came_back_waits_longer_than_before() -> None:
    rung = left(2)
    back = worked(worked(rung, rung.retry_at), rung.retry_at + 1000)
    fails = after([False] * 4, back)
    assert fails.is_left
    assert fails.retry_at - fails.tried_at == wait_ms(3)


def test_a_tier_that_proved_itself_is_trusted_as_any_other() -> None:
    rung = left(4)
    back = worked(worked(rung, rung.retry_at), rung.retry_at + 1000)
    assert after([True] * 20, back).trips == 0


def test_failures_that_were_under_way_when_it_was_left_lengthen_no_wait() -> None:
    rung = left()
    assert failed(rung, rung.tried_at + 500, "blocked").retry_at == rung.retry_at


def test_what_is_long_past_counts_little() -> None:
    used = after([True] * 40)
    months_later = failed(used, used.tried_at + 60 * DAY_MS, "blocked")
    assert months_later.tries < 1.1
    assert used.tries > 10


def test_a_clock_that_was_wrong_holds_nothing_back() -> None:
    rung = left()
    assert not rung.is_due(NOW + 60_000)
    assert rung.is_due(NOW - 30 * DAY_MS), "its time was written by a clock that was ahead"


def test_what_a_tier_fills_is_known_for_a_month() -> None:
    rung = worked(NEW, NOW, filled=True)
    assert rung.fills(NOW + 29 * DAY_MS)
    assert not rung.fills(NOW + 31 * DAY_MS)
    assert not worked(NEW, NOW).fills(NOW)


@given(RESULTS)
def test_counts_never_leave_their_bounds(results: list[bool]) -> None:
    rung = after(results)
    assert 0 <= rung.successes <= rung.tries <= 20 + 1e-9
    assert 0 < rung.rate <= 1
    assert rung.retry_at == 0 or 0 < rung.retry_at - rung.tried_at <= LONGEST_WAIT_MS or rung.failures == 0


@given(st.permutations([True] * 37 + [False] * 3))
def test_no_order_of_few_failures_among_many_successes_has_a_tier_left(results: list[bool]) -> None:
    assert not after(results).is_left


@given(RESULTS, RESULTS)
def test_twenty_failures_in_a_row_have_any_tier_left_whatever_came_before(past: list[bool], more: list[bool]) -> None:
    rung = after(past)
    used = rung if not rung.is_left else after([True, True], rung)
    assert after([False] * 20, used).is_left


@given(st.integers(1, 10**9))
def test_a_wait_is_never_longer_than_the_longest(trips: int) -> None:
    assert FIRST_WAIT_MS <= wait_ms(trips) <= LONGEST_WAIT_MS
