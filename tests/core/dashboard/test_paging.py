"""Cursors of lists as text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storebot.core.dashboard.paging import as_text, from_text

_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=50)


@given(st.integers(-(2**63), 2**63 - 1), _TEXT)
def test_a_cursor_is_read_as_it_was_written(number: int, text: str) -> None:
    assert from_text(as_text((text, number)), (str, int)) == (text, number)


@pytest.mark.parametrize("text", ["", "x", "%%%", "WzFd!!", "bm9uZQ", "é", "A" * 3000, "W3RydWVd", "WzEsMl0"])
def test_what_is_no_cursor_of_one_number_is_an_error(text: str) -> None:
    with pytest.raises(ValueError, match="after: it isn't from a list of this order"):
        from_text(text, (int,))


def test_a_cursor_of_another_order_is_an_error() -> None:
    with pytest.raises(ValueError, match="begin again without it"):
        from_text(as_text(("name", 3)), (int, int))
