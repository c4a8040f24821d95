"""The link to the next page is found by what it says of itself, and only if it is one."""

from __future__ import annotations

import pytest

from storebot.core.parsing.links import next_link
from storebot.core.parsing.rules import compile_rule
from storebot.core.probing.next_links import find_next
from tests.core.probing.shops import BASE, page


@pytest.mark.parametrize(
    ("markup", "rule"),
    [
        ('<link rel="next" href="/shop?page=2">', '[rel~="next"]::attr(href)'),
        ('<a class="action next" href="/shop?page=2">»</a>', "a.next::attr(href)"),
        ('<li class="next"><a href="/shop?page=2">more</a></li>', "li.next > a::attr(href)"),
        ('<a href="/shop?page=2">Next</a>', 'xpath://a[normalize-space()="Next"]/@href'),
        ('<a href="/shop?page=2"> Weiter </a>', 'xpath://a[normalize-space()="Weiter"]/@href'),
    ],
    ids=["rel", "class", "class around it", "text", "text in German"],
)
def test_rule_finds_the_next_page(markup: str, rule: str) -> None:
    shop = page("/shop", f"<html><body>{markup}</body></html>")
    found = find_next(shop)
    assert (found.rule, found.url) == (rule, f"{BASE}/shop?page=2")
    assert next_link(shop, compile_rule(rule)) == found.url


@pytest.mark.parametrize(
    "markup",
    [
        '<a class="next" href="#">›</a>',
        '<a class="next" href="/shop?page=2">1</a><a class="next" href="/other">2</a>',
        '<a href="/shop">Next</a>',
        "",
    ],
    ids=["slide show", "two of them", "the page itself", "none"],
)
def test_what_leads_nowhere_or_to_two_places_is_no_next_link(markup: str) -> None:
    assert find_next(page("/shop", f"<html><body>{markup}</body></html>")).rule == ""
