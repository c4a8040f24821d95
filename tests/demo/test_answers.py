"""Conditional requests follow RFC 9110."""

from __future__ import annotations

import pytest

from storebot.demo.answers import Asked, http_date, not_modified

AT_S = 1_767_594_600


@pytest.mark.parametrize(
    ("tag", "since", "expected"),
    [
        ('"a"', None, True),
        ('W/"a"', None, True),
        ('"x", "a"', None, True),
        ("*", None, True),
        ('"b"', None, False),
        ('"b"', http_date(AT_S), False),  # If-None-Match wins over a date that would match
        ('"a"', http_date(AT_S - 60), True),  # and over one that would not
        (None, http_date(AT_S), True),
        (None, http_date(AT_S + 60), True),
        (None, http_date(AT_S - 1), False),
        (None, "yesterday", False),
        (None, None, False),
    ],
)
def test_a_copy_is_current_by_its_tag_and_only_without_one_by_its_date(
    tag: str | None, since: str | None, expected: bool
) -> None:
    asked = Asked(path="/", now_s=0, if_none_match=tag, if_modified_since=since)
    assert not_modified(asked, '"a"', AT_S) is expected


def test_a_page_without_a_date_is_never_current_by_date() -> None:
    assert not not_modified(Asked(path="/", now_s=0, if_modified_since=http_date(AT_S)), '"a"', None)
