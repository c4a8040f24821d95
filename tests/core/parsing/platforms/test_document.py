"""The text of a feed as values."""

from __future__ import annotations

from decimal import Decimal

import pytest

from storebot.core.parsing.platforms.document import load_json, plain, text
from storebot.exceptions import UnreadableFeed


def test_numbers_are_never_floats() -> None:
    assert load_json(b'\xef\xbb\xbf{"a":33990.0,"b":10.04,"c":10999,"d":NaN,"e":1e400}') == {
        "a": Decimal("33990.0"),
        "b": Decimal("10.04"),
        "c": 10999,
        "d": None,
        "e": Decimal("1e400"),
    }


def test_a_number_of_any_length_is_refused_or_read() -> None:
    with pytest.raises(UnreadableFeed, match="not JSON"):
        load_json(b"[" + b"9" * 10_000 + b"]")


@pytest.mark.parametrize(
    ("value", "expected"),
    [(" a ", "a"), ("", None), ("null", None), (5, "5"), (Decimal("1.50"), "1.50"), (True, None), ([], None)],
)
def test_a_value_that_says_something_is_text(value: object, expected: str | None) -> None:
    assert text(value) == expected


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        ("<p>One</p><p>two<br>three</p>", "One two three"),
        ("<ul><li>a</li><li>b</li></ul>", "a b"),
        ("Tom &amp; Jerry", "Tom & Jerry"),
        ("&lt;p&gt;Once too often&lt;/p&gt;", "Once too often"),
        ("5 < 6 and 7 > 3", "5 < 6 and 7 > 3"),
        ("<style>p{}</style><script>alert('<p>')</script>", None),
        ("<!-- nothing -->", None),
        ("   ", None),
        (None, None),
        (5, None),
    ],
)
def test_markup_becomes_what_it_shows(markup: object, expected: str | None) -> None:
    assert plain(markup) == expected


def test_a_very_long_or_deep_description_is_cut() -> None:
    assert len(plain("<div>" * 50_000 + "x" * 500_000) or "") <= 50_000
    assert len(plain("word " * 500_000) or "") <= 50_000
