"""Whether redirects lead anywhere."""

from __future__ import annotations

import pytest

from storebot.core.redirects import as_given, is_loop, loop_told

ENCODED = "https://shop.example/c?producers%5B%5D=524"


def test_once_to_itself_is_how_cookies_are_set_and_twice_is_a_loop() -> None:
    assert not is_loop(["/p"], "/p")
    assert is_loop(["/p", "/p"], "/p")
    assert not is_loop(["/p", "/cookie"], "/p")
    assert is_loop(["/p", "/cookie", "/p", "/cookie"], "/p")


def test_a_loop_is_told_by_its_last_steps() -> None:
    assert loop_told(["/a", "/b"], "/a") == "/a -> /b -> /a"
    assert loop_told(["/a", "/b"] * 4, "/a") == "… -> /a -> /b -> /a -> /b -> /a"


@pytest.mark.parametrize(
    ("location", "given"),
    [
        (b"/c?producers[]=524", "https://shop.example/c?producers[]=524"),
        (b"https://shop.example/c?producers[]=524", "https://shop.example/c?producers[]=524"),
        (b"/c?producers%5B%5D=524", None),
        (b"/c?producers%5b%5d=524", "https://shop.example/c?producers%5b%5d=524"),
        (b"/c?a b", None),
        ("/c?ü".encode(), None),
        (b"/c?\x07", None),
    ],
)
def test_what_differs_in_its_signs_alone_can_be_asked_for_as_given(location: bytes, given: str | None) -> None:
    """Case R04."""
    assert as_given(ENCODED, location) == given
