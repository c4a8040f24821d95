"""A product's card, a menu and text are told apart by what stands around a link."""

from __future__ import annotations

import pytest

from storebot.core.probing.page_links import page_links
from tests.core.probing.shops import page


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        ('<li><a href="/p/mug"><img src="m.jpg"></a><h3><a href="/p/mug">Mug</a></h3>€ 9</li>', (False, True, True)),
        ('<li><a href="/p/mug"><img src="m.jpg"></a></li><li><a href="/p/jug">Jug</a> € 5</li>', (False, True, False)),
        ('<nav><a href="/cups">Cups</a></nav>', (True, False, False)),
        ('<div class="mega-menu"><a href="/cups">Cups</a></div>', (True, False, False)),
        ('<div class="layout-with-menu"><h1>All</h1><a href="/cups">Cups</a></div>', (False, False, False)),
        ('<article><header><a href="/p/mug">Mug</a></header>€ 9.90</article>', (False, True, True)),
        ('<p>See <a href="/p/mug">the mug</a>, or <a href="/p/jug">the jug</a>, for € 9.</p>', (False, False, False)),
    ],
    ids=["card with a price", "card without", "nav", "menu", "page with a menu", "header of a card", "text"],
)  # fmt: skip
def test_place_of_a_link(markup: str, expected: tuple[bool, bool, bool]) -> None:
    link = page_links(page("/", f"<html><body>{markup}</body></html>"))[0]
    assert (link.in_frame, link.is_card, link.has_price) == expected


def test_what_cannot_be_fetched_is_no_link() -> None:
    markup = '<a href="mailto:a@b.example">a</a><a href="javascript:void(0)">b</a><a href="#top">c</a><a>d</a>'
    assert page_links(page("/", f"<html><body>{markup}</body></html>")) == ()
    assert page_links(page("/", "")) == ()
