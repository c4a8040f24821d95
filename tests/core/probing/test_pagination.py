"""Links to further pages give one template, or none."""

from __future__ import annotations

import pytest

from storebot.core.probing.pagination import template_of
from tests.core.probing.shops import BASE, FILLER, seen


def template(links: str, path: str = "/shop/") -> tuple[str, int] | None:
    found = template_of(seen(path, f"<html><body>{links}{FILLER}</body></html>"))
    return (found.url.removeprefix(BASE), found.last) if found else None


@pytest.mark.parametrize(
    ("links", "expected"),
    [
        ('<a href="/shop/page/2/">2</a><a href="/shop/page/45/">45</a>', ("/shop/page/{page}/", 45)),
        ('<a href="?p=2">2</a><a href="?p=3">3</a>', ("/shop/?p={page}", 3)),
        ('<a href="?page=2&amp;size=2">Page 2</a>', ("/shop/?page={page}&size=2", 2)),
        ('<a rel="next" href="/shop/page-2.html">Next</a>', ("/shop/page-{page}.html", 2)),
        ('<a href="/shop/2">2</a><a href="/shop/3">3</a>', ("/shop/{page}", 3)),
        ('<a class="next" href="/shop/?start=24">Next</a>', None),
        ('<a href="/shop/page905b.html">2</a>', None),
        ('<a href="/a2207.html?p=2">2</a><a href="/b905.html?p=3">3</a>', None),
        ('<a href="/shop/2-mugs/">Two mugs</a>', None),
    ],
    ids=["path", "parameter", "size isn't the page", "next", "bare number", "offset", "no number", "two files", "name"],
)  # fmt: skip
def test_numbered_links_give_a_template(links: str, expected: tuple[str, int] | None) -> None:
    assert template(links) == expected
