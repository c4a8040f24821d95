"""Pages that give a cookie and have themselves loaded again, told from pages that merely know how to."""

from __future__ import annotations

import pytest

from storebot.core.page import Page
from storebot.core.reloading import LARGEST_BYTES, sets_its_cookie, wants_its_cookie
from storebot.core.rendering import needs_scripts

URL = "https://shop.example/p/mug?colour=blue"
COOKIE = {"set-cookie": "entry=1; Path=/"}


def page(head: str = "", script: str = "", *, status: int = 200, more: str = "", **headers: str) -> Page:
    html = f"<html><head>{head}</head><body><p>One moment.</p><script>{script}</script>{more}</body></html>"
    return Page(url=URL, body=html.encode(), status=status, headers=COOKIE | headers)


@pytest.mark.parametrize(
    "content",
    ["0", " 2.5 ", "0;", "1; url=/p/mug?colour=blue", f"0;URL='{URL}'", "0, url=?colour=blue#top", f"0; {URL}"],
)
def test_a_refresh_to_itself_is_a_reload(content: str) -> None:
    assert wants_its_cookie(page(f'<meta http-equiv="Refresh" content="{content}">'))
    assert wants_its_cookie(page(refresh=content))


@pytest.mark.parametrize(
    "content", ["", "30", "0; url=/", "0; url=https://else.example/", "soon", "0; url=http://[", "-1"]
)
def test_a_late_one_or_one_to_elsewhere_is_none(content: str) -> None:
    assert not wants_its_cookie(page(f'<meta http-equiv="refresh" content="{content}">', refresh=content))


@pytest.mark.parametrize(
    "script",
    [
        "location.reload()",
        "setTimeout(function(){ window.location.reload(true); }, 100)",
        "window.location = window.location.href;",
        "location.href=location.href",
        "document.location.replace(document.location)",
        "top.location.assign(location.pathname)",
        'location.href = "/p/mug?colour=blue"',
        f"window.location.replace('{URL}')",
    ],
)
def test_a_script_that_loads_its_page_again(script: str) -> None:
    assert wants_its_cookie(page(script=script))
    assert not wants_its_cookie(Page(url=URL, body=page(script=script).body)), "without a cookie it'd be the same again"
    assert sets_its_cookie(page(script=f"document.cookie = 'entry=1'; {script}"))
    assert not sets_its_cookie(page(script=script))


@pytest.mark.parametrize(
    "script",
    [
        "",
        "location.href = '/cart'",
        "if (location == home) load()",
        "location.href = location.href + '?page=2'",
        "window.location = location.href.replace('http:', 'https:')",
        "relocation.reload",
    ],
)
def test_a_script_that_goes_elsewhere_is_none(script: str) -> None:
    assert not wants_its_cookie(page(script=script))


@pytest.mark.parametrize(("status", "is_one"), [(200, True), (202, True), (403, True), (503, True), (404, False)])
def test_what_isnt_there_is_not_asked_for_again(status: int, is_one: bool) -> None:
    assert wants_its_cookie(page(script="location.reload()", status=status)) is is_one


def test_a_page_with_something_to_say_is_none() -> None:
    assert not wants_its_cookie(page(script="location.reload()", more="<p>words</p>" * (LARGEST_BYTES // 12)))


def test_only_a_browser_gets_a_cookie_that_a_script_makes() -> None:
    made = page(script="document.cookie = 'entry=1; path=/'; location.reload();")
    assert needs_scripts(made) == "its script sets a cookie, and reloads it"
