"""Months of UTC."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storebot.core.month import DAY_MS, Month, day_name


def ms(*parts: int) -> int:
    return int(datetime(*parts, tzinfo=UTC).timestamp() * 1000)  # type: ignore[misc,arg-type]  # year, month, day …


@pytest.mark.parametrize(
    ("at", "name"),
    [
        (ms(2026, 7, 1), "2026-07"),
        (ms(2026, 8, 1) - 1, "2026-07"),
        (ms(2026, 12, 31, 23, 59), "2026-12"),
        (ms(2028, 2, 29), "2028-02"),
    ],
)
def test_a_time_is_in_its_month(at: int, name: str) -> None:
    assert Month.at(at).name == name


@given(st.integers(0, 250_000_000_000_000))
def test_months_follow_each_other_without_a_gap(at: int) -> None:
    month = Month.at(at)
    assert month.start_ms <= at < month.end_ms
    assert Month.at(month.end_ms).start_ms == month.end_ms
    assert Month.named(month.name) == month
    assert 28 <= len(month.days) <= 31
    assert at // DAY_MS in month.days


@pytest.mark.parametrize("name", ["2026-13", "2026-7", "07-2026", "0000-01", "2026-07-01", "ever"])
def test_what_is_no_month_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="a month such as 2026-07"):
        Month.named(name)


def test_half_of_a_month() -> None:
    june = Month.named("2026-06")
    assert june.passed(ms(2026, 6, 16)) == 0.5
    assert (june.passed(ms(2026, 5, 1)), june.passed(ms(2027, 1, 1))) == (0.0, 1.0)


def test_a_day_has_a_date() -> None:
    assert day_name(ms(2026, 7, 4) // DAY_MS) == "2026-07-04"
