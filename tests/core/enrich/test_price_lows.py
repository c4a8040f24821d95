"""The lowest price in the 30 days before the current one, and of all time."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from storebot.core.enrich.price_lows import Low, Lows, PriceLows, price_lows
from storebot.core.enrich.series import DAY_MS
from storebot.core.stage import Checks, PastOffer, Subject
from storebot.items import Listing
from tests.core.enrich.test_series import looks, offer, series

DAILY = Checks(first_at=0)


def lows(*offers: PastOffer, checks: Checks = DAILY, seen: float) -> PriceLows:
    found = price_lows(offers, checks, round(seen * DAY_MS))
    assert found is not None
    return found


def low(price_minor: int | None, day: int | None, *, enough: bool) -> Low:
    return Low(price_minor=price_minor, at=None if day is None else day * DAY_MS, enough=enough)


def test_the_low_before_a_reduction_is_that_of_thirty_days_not_of_ever() -> None:
    found = lows(offer(0, 7_000), offer(5, 10_000), offer(50, 9_000), offer(55, 10_000), offer(60, 8_000), seen=61)
    assert (found.price_minor, found.since, found.before_minor, found.reduced) == (8_000, 60 * DAY_MS, 10_000, True)
    assert found.low_30d == low(9_000, 50, enough=True)
    assert found.all_time == low(7_000, 0, enough=True)


def test_a_price_that_began_before_the_window_and_held_into_it_counts() -> None:
    assert lows(offer(0, 7_000), offer(31, 9_000), offer(60, 8_000), seen=60).low_30d == low(7_000, 0, enough=True)


def test_a_price_that_ended_as_the_window_begins_does_not_count() -> None:
    assert lows(offer(0, 7_000), offer(30, 9_000), offer(60, 8_000), seen=60).low_30d == low(9_000, 30, enough=True)


def test_the_current_price_is_not_its_own_low() -> None:
    assert lows(offer(0, 9_000), offer(40, 5_000), seen=45).low_30d == low(9_000, 0, enough=True)


def test_stock_moves_do_not_begin_a_price() -> None:
    sold_out = offer(45, None, None)
    found = lows(offer(0, 9_000), offer(40, 5_000), sold_out, offer(50, 5_000), seen=60)
    assert (found.since, found.before_minor) == (40 * DAY_MS, 9_000)


def test_a_history_of_less_than_thirty_days_is_not_enough() -> None:
    found = lows(offer(0, 9_000), offer(29, 8_000), seen=29.5)
    assert (found.low_30d, found.all_time) == (low(9_000, 0, enough=False), low(8_000, 29, enough=False))


def test_a_first_price_has_no_low_before_it() -> None:
    found = lows(offer(0, 9_000), seen=40)
    assert (found.low_30d, found.reduced, found.before_minor) == (low(None, None, enough=False), False, None)
    assert found.all_time == low(9_000, 0, enough=True)


def test_a_gap_in_the_window_is_not_enough_and_its_price_is_not_taken_for_held() -> None:
    """Seen at day 10 for 70.00, then not until day 45: nobody knows what it cost between."""
    checks = Checks(0, ((10 * DAY_MS, 45 * DAY_MS),))
    found = lows(offer(0, 7_000), offer(45, 9_000), offer(60, 8_000), checks=checks, seen=60)
    assert found.low_30d == low(9_000, 45, enough=False)
    assert found.unobserved_days == 35
    assert found.all_time == low(7_000, 0, enough=False)


def test_the_last_price_is_not_known_beyond_the_last_look() -> None:
    """The page fails since day 20: the days after it don't make enough of it."""
    assert lows(offer(0, 9_000), seen=20).all_time.enough is False
    assert lows(offer(0, 9_000), seen=30).all_time.enough is True


def test_prices_in_another_currency_are_not_compared() -> None:
    found = lows(offer(0, 100, "USD"), offer(40, 9_000), offer(60, 8_000), seen=60)
    assert (found.low_30d, found.all_time) == (low(9_000, 40, enough=False), low(8_000, 60, enough=False))


def test_a_listing_without_a_price_has_no_lows() -> None:
    assert price_lows([offer(0, 100), offer(1, None)], DAILY, DAY_MS) is None
    assert price_lows([], DAILY, DAY_MS) is None


def derived(regular: int | None, *offers: PastOffer) -> tuple[bool, int | None, object]:
    listing = Listing(store="a", url_key="k", url="u", regular_price_minor=regular)
    said = Lows().derive(
        Subject(id=1, page_id=1, listing=listing, offers=offers, checks=DAILY, last_seen_at=61 * DAY_MS)
    )
    return said.flagged, said.number, said.facts.get("reference_inflated")


def test_a_reference_price_that_was_never_asked_is_flagged() -> None:
    history = (offer(0, 9_000), offer(60, 8_000))
    assert derived(12_000, *history) == (True, 9_000, True)
    assert derived(9_000, *history) == (False, 9_000, False)
    assert derived(None, *history) == (False, 9_000, False)
    assert derived(12_000, offer(50, 9_000), offer(60, 8_000)) == (False, 9_000, False)  # not enough is known
    assert derived(12_000) == (False, None, None)


@given(series, looks, st.integers(0, 230))
def test_no_low_is_above_what_was_asked_and_all_time_is_the_lowest(
    offers: list[PastOffer], at: list[int], until: int
) -> None:
    checks = Checks(first_at=min(at, default=0) * DAY_MS)
    found = price_lows(offers, checks, until * DAY_MS)
    if found is None:
        return
    assert found.all_time.price_minor is not None
    assert found.all_time.price_minor <= found.price_minor
    if found.low_30d.price_minor is not None:
        assert found.low_30d.price_minor >= found.all_time.price_minor
        assert found.low_30d.at is not None
        assert found.low_30d.at < found.since
    else:
        assert not found.low_30d.enough


@given(series, st.integers(201, 230), st.integers(0, 100_000))
def test_time_is_relative(offers: list[PastOffer], until: int, shift: int) -> None:
    """No day of the calendar, no summer time: the same history later gives the same lows."""
    later = [one._replace(at=one.at + shift) for one in offers]
    one = price_lows(offers, Checks(first_at=0), until * DAY_MS)
    other = price_lows(later, Checks(first_at=shift), until * DAY_MS + shift)
    assert (one is None) == (other is None)
    if one is not None and other is not None:
        assert one.low_30d.price_minor == other.low_30d.price_minor
        assert (one.low_30d.enough, one.all_time.enough) == (other.low_30d.enough, other.all_time.enough)
