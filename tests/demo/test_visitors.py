"""A visitor is known again by its cookie, else by its address, unless it is somebody with a new jar."""

from __future__ import annotations

from storebot.demo.answers import Asked
from storebot.demo.visitors import Visitors


def asked(path: str = "/p/a-1", address: str = "10.0.0.1", cookie: str = "") -> Asked:
    return Asked(path=path, now_s=0.0, address=address, cookies={"visitor": cookie} if cookie else {})


def test_visitors_are_numbered_by_address_and_kept_by_cookie() -> None:
    visitors = Visitors()
    assert visitors.number(asked()) == 1
    assert visitors.number(asked(address="10.0.0.2")) == 2
    assert visitors.number(asked("/p/b-2", cookie="1", address="10.0.0.3")) == 1
    assert visitors.number(asked("/p/b-2")) == 1


def test_who_asks_again_for_what_was_refused_and_has_no_cookie_is_new() -> None:
    visitors = Visitors()
    visitors.refuse(visitors.number(asked()), "/p/a-1")
    assert visitors.number(asked("/p/b-2")) == 1
    assert visitors.number(asked()) == 2
    assert visitors.number(asked()) == 2  # it wasn't refused
    assert visitors.number(asked(cookie="1")) == 1


def test_a_made_up_cookie_names_nobody() -> None:
    visitors = Visitors()
    assert [visitors.number(asked(cookie=cookie)) for cookie in ("9", "x", "0", "-1")] == [1, 1, 1, 1]
