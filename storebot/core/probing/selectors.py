"""Selectors for a shop whose product pages say nothing for machines, and whose price nobody could tell by sight.

What a list shows of a product, its name and its price, is looked for on the product's own page: an element that shows
the same on every page of the sample, and isn't on the lists, is where the page has it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal

from lxml import etree

from storebot.core.page import Page
from storebot.core.parsing.price import parse_price
from storebot.core.parsing.rules import compile_rule
from storebot.core.parsing.selectors import select
from storebot.core.parsing.values import shown
from storebot.core.probing.notebook import key_of
from storebot.core.probing.page_links import has_price, priced_card
from storebot.core.urls import absolute

MIN_PAGES = 3  # that must agree
_MAX_TEXT = 40  # characters of an element that shows a price
_UP = 4  # levels above an element whose class may tell it from others like it
_CLASS = re.compile(r"[A-Za-z_][A-Za-z_-]*")  # without digits: those are often made anew by every build


@dataclass(frozen=True, slots=True)
class Card:
    """What a list shows of one product."""

    names: frozenset[str]  # texts of links to it, in lower case
    amounts: frozenset[Decimal]


Pair = tuple[Page, Card]
_Selectors = Callable[[Page, Card], Iterable[str]]
_Shows = Callable[[str, Card], bool]


def cards(page: Page) -> dict[str, Card]:
    """Return the products that a list shows with a price, by URL key."""
    names: dict[str, set[str]] = {}
    amounts: dict[str, set[Decimal]] = {}
    for link in page.root.iter("a") if page.root is not None else ():
        url = absolute(link.get("href") or "", page.base_url)
        card = priced_card(link) if url else None
        if url is None or card is None:
            continue
        key = key_of(url)
        names.setdefault(key, set()).update(text.lower() for text in (shown(link), link.get("title") or "") if text)
        amounts.setdefault(key, set()).update(amount for _, amount in _amounts(card))
    return {key: Card(frozenset(names[key]), frozenset(amounts[key])) for key in names if amounts[key]}


def derive(lists: Sequence[Page], products: Sequence[Page]) -> dict[str, str]:
    """Return a selector each for name and price, or nothing where the sample gives none that holds on all of it."""
    shown_on_lists: dict[str, Card] = {}
    for page in lists:
        shown_on_lists |= cards(page)
    pairs = [(page, shown_on_lists[key_of(page.url)]) for page in products if key_of(page.url) in shown_on_lists]
    if len(pairs) < MIN_PAGES:
        return {}
    price = _agreed(pairs, _price_selectors, _shows_price, lists)
    name = _agreed(pairs, _name_selectors, _shows_name, ())
    return {"name": name, "price": price} if name and price else {}


def _agreed(pairs: Sequence[Pair], of: _Selectors, shows: _Shows, lists: Sequence[Page]) -> str:
    """Return the simplest selector that every pair gives, that shows on each what it should, and on lists nothing."""
    votes = Counter(text for page, card in pairs for text in set(of(page, card)))
    everywhere = [text for text, count in votes.items() if count == len(pairs)]
    for text in sorted(everywhere, key=lambda one: ("price" not in one, len(one), one)):
        rule = compile_rule(text)
        if any(select(page, rule) for page in lists):
            continue
        if all(shows(select(page, rule)[0], card) for page, card in pairs):
            return text
    return ""


def _price_selectors(page: Page, card: Card) -> Iterator[str]:
    if page.root is not None:
        for element, amount in _amounts(page.root):
            if amount in card.amounts:
                yield from _selectors(element)


def _name_selectors(page: Page, card: Card) -> Iterator[str]:
    for element in page.root.iter("h1", "h2", "h3", "span", "div", "p") if page.root is not None else ():
        if shown(element).lower() in card.names:
            yield from _selectors(element)


def _shows_price(text: str, card: Card) -> bool:
    price = parse_price(text)
    return price is not None and price.amount in card.amounts


def _shows_name(text: str, card: Card) -> bool:
    return text.lower() in card.names


def _amounts(root: etree._Element) -> Iterator[tuple[etree._Element, Decimal]]:
    for element in root.iter("*"):
        if not isinstance(element.tag, str) or element.tag in ("script", "style"):
            continue
        text = shown(element)
        if len(text) > _MAX_TEXT or not has_price(text):
            continue
        price = parse_price(text)
        if price is not None and price.amount:
            yield element, price.amount


def _selectors(element: etree._Element) -> Iterator[str]:
    """Yield selectors of an element, by its own tag and class, and by those of what it stands in."""
    own = [f".{name}" for name in _classes(element)] or [str(element.tag)]
    if element.tag == "h1":
        yield "h1"
    for part in own:
        if part.startswith("."):
            yield part
        for number, above in enumerate(element.iterancestors()):
            if number == _UP or above.tag in ("body", "html"):
                break
            for name in _classes(above):
                yield f".{name} {part}"


def _classes(element: etree._Element) -> list[str]:
    return [name for name in (element.get("class") or "").split() if _CLASS.fullmatch(name)]
