"""What differs between two pages."""

from __future__ import annotations

import time

from storebot.core.dashboard.text_diff import MOST_SHOWN, difference


def page(price: str, lines: int = 50) -> str:
    return "<html>" + "".join(f"<p>{number}</p>" for number in range(lines)) + f"<b>{price}</b></html>"


def test_a_page_in_one_line_is_compared_tag_by_tag() -> None:
    found = difference(page("10.00"), page("12.00"))
    assert [(one.sign, one.text) for one in found.lines if one.sign in "+-"] == [
        ("-", "<b>10.00</b>"),
        ("+", "<b>12.00</b>"),
    ]
    assert found.lines[0].sign == "@"
    assert found.cut == ""


def test_pages_that_are_the_same_have_no_lines() -> None:
    assert difference(page("1"), page("1")).lines == ()
    assert difference("", "").lines == ()


def test_what_is_too_large_is_cut_and_says_so() -> None:
    begun = time.process_time()
    found = difference("\n".join(f"a{n}" for n in range(200_000)), "\n".join(f"b{n}" for n in range(200_000)))
    assert "only the first 400,000 characters of each were compared" in found.cut
    assert "only 4,000 lines of each" in found.cut
    assert len(found.lines) <= MOST_SHOWN
    assert time.process_time() - begun < 20  # and it ends: without the bounds it takes hours
