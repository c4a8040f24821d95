"""Times as sitemaps write them, whole and odd."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from storebot.core.parsing.lastmod import lastmod_ms, span_ms


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2024", 1_704_067_200_000),
        ("2024-05", 1_714_521_600_000),
        ("2024-05-06", 1_714_953_600_000),
        ("2024-5-6", 1_714_953_600_000),
        ("2024/05/06", 1_714_953_600_000),
        ("20240506", 1_714_953_600_000),
        ("2024-05-06T10:11Z", 1_714_990_260_000),
        ("2024-05-06T10:11:12Z", 1_714_990_272_000),
        ("2024-05-06T12:11:12+02:00", 1_714_990_272_000),
        ("2024-05-06 12:11:12 +0200", 1_714_990_272_000),
        ("2024-05-06 10:11:12 UTC", 1_714_990_272_000),
        ("2024-05-06T10:11:12.1234567Z", 1_714_990_272_123),
        ("Mon, 06 May 2024 10:11:12 GMT", 1_714_990_272_000),
        (" 2024-05-06T10:11:12 ", 1_714_990_272_000),
        ("0001-01-01T00:00:00", None),
        ("1970-01-01", None),
        ("2024-13-01", None),
        ("yesterday", None),
        ("1714990272", None),
        ("", None),
        (None, None),
    ],
)
def test_lastmod_forms(text: str | None, expected: int | None) -> None:
    assert lastmod_ms(text) == expected


@settings(deadline=None)
@given(st.text(max_size=40))
def test_lastmod_never_fails(text: str) -> None:
    assert lastmod_ms(text) is None or isinstance(lastmod_ms(text), int)


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("2024", 1_704_067_200_000, 1_735_689_599_999),
        ("2024-02", 1_706_745_600_000, 1_709_251_199_999),
        ("2024-05-06", 1_714_953_600_000, 1_715_039_999_999),
        ("20240506", 1_714_953_600_000, 1_715_039_999_999),
        ("2024-05-06T10:11Z", 1_714_990_260_000, 1_714_990_260_000),
    ],
)
def test_a_date_without_a_time_is_some_time_of_it(text: str, first: int, last: int) -> None:
    assert span_ms(text) == (first, last)


@pytest.mark.parametrize("text", ["1970-01-01", "2024-13", "now", "", None])
def test_what_is_no_time_has_no_span(text: str | None) -> None:
    assert span_ms(text) is None


@pytest.mark.parametrize("zone", ["America/Los_Angeles", "Asia/Tokyo"])
def test_a_time_without_an_offset_is_utc_wherever_it_is_read(zone: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Case I03: a page that was read at one in the morning may have changed later that day."""
    texts = ("2026-06-01", "2026-06-01 10:00", "2026-06-01T10:00Z", "2026-06", "yesterday")
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    try:
        first = [lastmod_ms(text) for text in texts]
        day, read_at = span_ms("2026-06-01"), 1_780_275_600_000  # 01:00Z
    finally:
        monkeypatch.undo()
        time.tzset()
    assert first == [1_780_272_000_000, 1_780_308_000_000, 1_780_308_000_000, 1_780_272_000_000, None]
    assert day is not None
    assert day[0] < read_at < day[1] == 1_780_272_000_000 + 86_400_000 - 1
