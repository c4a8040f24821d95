"""Which validators are stored and sent back."""

from __future__ import annotations

import pytest

from storebot.db.validators import entity_tag, http_date


@pytest.mark.parametrize(
    "text",
    [
        "Sun, 06 Nov 1994 08:49:37 GMT",
        "Sat, 01 Jan 2050 00:00:00 GMT",
        "Sunday, 06-Nov-94 08:49:37 GMT",
        "Sun Nov  6 08:49:37 1994",
    ],
)
def test_an_http_date_is_kept_verbatim_even_from_the_future(text: str) -> None:
    """C07."""
    assert http_date(text) == text


@pytest.mark.parametrize(
    "text", [None, "", "0", "2026-06-01", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 GMT\n"]
)
def test_anything_else_is_no_date(text: str | None) -> None:
    assert http_date(text) is None


@pytest.mark.parametrize("text", ['"abc"', 'W/"abc"', "unquoted", '"abc-gzip"'])
def test_a_tag_is_opaque(text: str) -> None:
    assert entity_tag(text) == text


@pytest.mark.parametrize("text", [None, "", '"a\r\nX: y"', '"é"', '"' + "a" * 2000 + '"'])
def test_a_tag_that_no_header_can_carry_is_dropped(text: str | None) -> None:
    assert entity_tag(text) is None
