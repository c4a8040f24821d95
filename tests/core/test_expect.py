"""What a run misses of what is expected of it: as its store file says, and as the runs before it were."""

from __future__ import annotations

from dataclasses import replace

import pytest

from storebot.core.expect import RUNS_ENOUGH, Expected, Measures, missed

DAY_MS = 86_400_000
GOOD = Measures(listings=1000, elapsed_s=600, fill={"price": 0.98, "brand": 0.9, "gtin": 0.02})
PAST = [replace(GOOD, listings=1000 + place % 3, elapsed_s=600 + place) for place in range(RUNS_ENOUGH)]


@pytest.mark.parametrize(
    ("expected", "now", "said"),
    [
        (Expected(min_listings=1001), GOOD, "1,000 listings are on sale, and [expect] min_listings is 1,001"),
        (Expected(fill={"brand": 0.95}), GOOD, "90% of the listings have a brand, and [expect.fill] asks for 95%"),
        (Expected(fill={"price": 0.1}), Measures(), "0% of the listings have a price, and [expect.fill] asks for 10%"),
        (
            Expected(max_age_ms=3 * DAY_MS),
            replace(GOOD, old=2),
            "2 pages were looked at longer ago than [expect] max_age, 72h",
        ),
        (Expected(max_run_time_s=599), GOOD, "it took 10m, and [expect] max_run_time is 10m"),
    ],
)
def test_what_the_file_says_is_missed_with_both_numbers(expected: Expected, now: Measures, said: str) -> None:
    assert missed(expected, now) == (said,)


def test_nothing_is_missed_of_what_is_not_said_or_is_kept() -> None:
    kept = Expected(min_listings=1000, fill={"price": 0.98}, max_run_time_s=600, max_age_ms=DAY_MS)
    assert missed(kept, GOOD, PAST) == ()
    assert missed(Expected(), Measures()) == ()


def test_nought_is_a_number_not_a_gap() -> None:
    """Case G03: 0 is said, and so nothing is learned in its place."""
    assert missed(Expected(min_listings=0, fill={"price": 0, "brand": 0}), Measures(), PAST) == ()


def test_a_run_is_compared_with_those_before_it_once_there_are_enough() -> None:
    now = Measures(listings=700, elapsed_s=1900, fill={"price": 0.5, "brand": 0.85, "gtin": 0.0})
    assert missed(Expected(), now, PAST) == (
        "700 listings are on sale, and there were 1,001 in the last 5 runs",
        "50% of the listings have a price, and 98% had one in the last 5 runs",
        "it took 32m, and 11m in the last 5 runs",
    )
    assert missed(Expected(), now, PAST[1:]) == ()
    assert missed(Expected(learned=False), now, PAST) == ()


def test_what_always_varied_is_allowed_to_vary() -> None:
    wild = [replace(GOOD, listings=count) for count in (600, 1400, 900, 1100, 1000)]
    assert missed(Expected(), replace(GOOD, listings=700), wild) == ()
    assert missed(Expected(), replace(GOOD, listings=100), wild) != ()
