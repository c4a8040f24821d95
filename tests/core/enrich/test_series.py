"""The price of one listing over time: what was observed, and what wasn't."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from storebot.core.enrich.series import DAY_MS, MAX_GAP_MS, Span, believed, checks_of, covered_ms, spans
from storebot.core.stage import Checks, PastOffer

DAILY = Checks(first_at=0)


def offer(day: float, price_minor: int | None, currency: str | None = "EUR", cause: str = "seen") -> PastOffer:
    return PastOffer(at=round(day * DAY_MS), price_minor=price_minor, currency=currency, cause=cause)


def days(found: list[Span]) -> list[tuple[float, float, int | None]]:
    return [(span.start / DAY_MS, span.end / DAY_MS, span.price_minor) for span in found]


def test_a_price_holds_until_the_next_one_and_the_last_until_the_last_look() -> None:
    found = spans([offer(0, 100), offer(5, 90)], DAILY, 12 * DAY_MS)
    assert days(found) == [(0, 5, 100), (5, 12, 90)]


def test_a_price_does_not_hold_over_a_gap() -> None:
    checks = Checks(0, ((3 * DAY_MS, 20 * DAY_MS),))
    found = spans([offer(0, 100), offer(30, 90)], checks, 31 * DAY_MS)
    assert days(found) == [(0, 3, 100), (20, 30, 100), (30, 31, 90)]


def test_a_price_that_was_seen_once_before_a_gap_is_a_moment() -> None:
    checks = Checks(0, ((5 * DAY_MS, 20 * DAY_MS),))
    found = spans([offer(0, 100), offer(5, 70), offer(20, 100)], checks, 21 * DAY_MS)
    assert days(found) == [(0, 5, 100), (5, 5, 70), (20, 21, 100)]
    assert found[1].within(5 * DAY_MS, 6 * DAY_MS)
    assert not found[1].within(6 * DAY_MS, 20 * DAY_MS)


def test_offers_older_than_all_visits_are_the_only_looks_of_their_time() -> None:
    """Visits are kept for a time, offers for ever."""
    found = spans([offer(0, 100), offer(3, 90), offer(40, 80)], Checks(first_at=45 * DAY_MS), 46 * DAY_MS)
    assert days(found) == [(0, 3, 100), (3, 3, 90), (40, 46, 80)]


def test_a_page_without_a_visit_was_seen_when_its_offers_were_written() -> None:
    assert days(spans([offer(0, 100), offer(30, 90)], Checks(), 60 * DAY_MS)) == [(0, 0, 100), (30, 30, 90)]


def test_gaps_are_told_page_by_page() -> None:
    week = MAX_GAP_MS
    seen = [(1, 0), (2, 10), (1, week), (2, week + 11), (1, 2 * week + 1), (1, 2 * week)]
    found = checks_of(seen)
    assert found == {1: Checks(0, ((week, 2 * week + 1),)), 2: Checks(10, ((10, week + 11),))}


def test_a_correction_takes_the_place_of_what_was_misread() -> None:
    """The older price was read by the same rule: it can't be believed either."""
    found = believed([offer(0, 1_999), offer(5, 1_899), offer(8, 2_499, cause="rebased"), offer(9, 2_400)])
    assert [(one.at // DAY_MS, one.price_minor) for one in found] == [(5, 2_499), (9, 2_400)]


def test_a_correction_of_something_else_leaves_the_prices_before_it() -> None:
    corrected = offer(8, 1_899, cause="rebased")._replace(availability="InStock")
    found = believed([offer(0, 1_999), offer(5, 1_899), corrected])
    assert [(one.at // DAY_MS, one.price_minor) for one in found] == [(0, 1_999), (5, 1_899)]


def test_another_currency_covers_nothing() -> None:
    found = spans([offer(0, 100), offer(5, 90, "USD"), offer(8, None, None)], DAILY, 10 * DAY_MS)
    assert covered_ms(found, 0, 10 * DAY_MS, "EUR") == 7 * DAY_MS


series = st.lists(
    st.builds(
        offer,
        st.integers(0, 200),
        st.sampled_from([None, 70, 80, 100]),
        cause=st.sampled_from(["seen"] * 4 + ["rebased"]),
    ),
    min_size=1,
    max_size=12,
    unique_by=lambda one: one.at,
)
looks = st.lists(st.integers(0, 220), max_size=40).map(sorted)


@given(series, looks, st.integers(0, 230))
def test_spans_follow_each_other_and_lie_in_no_gap(offers: list[PastOffer], at: list[int], until: int) -> None:
    checks = checks_of((1, day * DAY_MS) for day in at).get(1, Checks())
    found = spans(believed(offers), checks, until * DAY_MS)
    assert len(found) >= len(believed(offers))
    for span, following in pairwise(found):
        assert span.start <= span.end <= following.start
    for away, back in checks.gaps:
        assert not [span for span in found if span.start < back and span.end > max(away, span.start)]


@given(series)
def test_believing_is_idempotent_and_knows_no_order(offers: list[PastOffer]) -> None:
    mixed = sorted(offers, key=lambda one: (one.at % 7, one.at))
    assert believed(mixed) == believed(offers)
    assert believed(believed(offers)) == believed(offers)
