"""Errors that say the same are one class."""

from __future__ import annotations

from storebot.core.dashboard.error_classes import classes, says


def test_what_differs_from_page_to_page_is_left_out() -> None:
    first = "HTTP 503 at https://shop.example/p/1: 'Mug 12' took 30.5 s; the page is kept: scrapy inspect /a/b"
    second = "HTTP 503 at https://shop.example/p/77?x=1: 'Cup' took 31.2 s"
    assert says(first) == says(second) == "HTTP 503 at URL '…' took N s"
    assert says("HTTP 500") != says("HTTP 503")


def test_classes_are_counted_the_largest_first_with_their_newest_example() -> None:
    rows = [("error", "timeout after 1.5 s", 9), ("invalid", "no name", 8), ("error", "timeout after 2.5 s", 7)]
    found = classes(rows)
    assert [(one.outcome, one.visits, one.example, one.page_id) for one in found] == [
        ("error", 2, "timeout after 1.5 s", 9),
        ("invalid", 1, "no name", 8),
    ]
    assert classes([("error", "", 1)])[0].says == "no reason was given"


def test_a_reason_of_any_length_is_read_in_bounds() -> None:
    assert len(says("x" * 1_000_000)) == 160
