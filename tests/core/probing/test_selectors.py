"""Selectors are derived where what a list shows of a product stands on the product's own page."""

from __future__ import annotations

from storebot.core.probing.selectors import derive
from tests.core.probing.shops import listing, page

GOODS = [("/p/mug", "Mug", "€ 9.90"), ("/p/jug", "Jug", "€ 12.00"), ("/p/bowl", "Bowl", "€ 7.50")]
LIST = page("/all", listing(*GOODS))


def bare(name: str, price: str) -> str:
    """Return a product page that says nothing for machines, and has the prices of other things on it."""
    return (
        f'<html><body><div class="top"><span class="sum">€ 0.00</span></div><h2 class="title">{name}</h2>'
        f'<p class="cost"><i>{price}</i></p><p class="old">€ 99.00</p></body></html>'
    )


def test_selectors_find_what_the_list_shows() -> None:
    found = derive([LIST], [page(path, bare(name, price)) for path, name, price in GOODS])
    assert found == {"name": ".title", "price": ".cost"}


def test_pages_that_disagree_give_no_selectors() -> None:
    pages = [page(path, bare(name, price)) for path, name, price in GOODS[:2]]
    assert derive([LIST], pages) == {}
    assert derive([LIST], [*pages, page("/p/bowl", bare("Bowl", "€ 8.50"))]) == {}


def test_what_finds_something_on_lists_too_is_refused() -> None:
    tiles = page("/all", listing(*GOODS).replace("<b>", '<b class="cost">'))
    found = derive([tiles], [page(path, bare(name, price)) for path, name, price in GOODS])
    assert found["price"] != ".cost"
