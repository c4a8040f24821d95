"""The cards of a catalogue page: what each says of the price that a buyer pays now, and of stock.

A price that isn't beyond doubt is none: "from" prices, ranges, two cards of one product that differ. A card without a
price is no observation, and a wrong one would be published.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from lxml import etree

from storebot.core.availability import read_availability
from storebot.core.normalise import Context
from storebot.core.offer import read_offer
from storebot.core.page import Page
from storebot.core.parsing.card_data import records
from storebot.core.parsing.card_places import places
from storebot.core.parsing.values import Values
from storebot.core.parsing.visible_amount import Seen, amount_at
from storebot.core.parsing.visible_money import currency_of
from storebot.core.parsing.visible_price import settle
from storebot.core.parsing.visible_stock import CLICKABLE
from storebot.core.parsing.visible_tree import View, is_hidden, tokens
from storebot.items import Availability, Card

_SOURCE = "visible:card"
_HIDDEN_TAGS = frozenset({"script", "style", "noscript", "template", "svg", "select", "iframe"})
_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_STOCK_CLASSES = {"outofstock": Availability.OUT_OF_STOCK, "instock": Availability.IN_STOCK}
_MAX_AMOUNTS = 20  # of one card
_MAX_STOCK = 30  # characters of a line
_MIN_STOCK = 3


@dataclass(frozen=True, slots=True)
class _Said:
    """What one place says of a product; ``text`` None where it gives no price."""

    price: tuple[int, str] | None = None  # minor units and their currency
    availability: Availability | None = None


def read_cards(page: Page, keys: Mapping[str, str], context: Context) -> tuple[Card, ...]:
    """Return a card for each product that a catalogue page links to, in the order of the links.

    ``keys`` has the URL key of each link, by its absolute URL. ``context`` is the store's; its currency is that of
    amounts whose text names none. Structured data goes before what is on show. Builds at most the page's one tree.
    """
    told = {key: _told(source, found, context) for key, (source, found) in records(page, keys).items()}
    shown: dict[str, list[_Said]] = {}
    if any(key not in told or told[key].price is None for key in keys.values()):
        hint = context.currency or currency_of(page, [])
        for key, element in places(page, keys):
            shown.setdefault(key, []).append(_shown(element, hint, context))
    urls: dict[str, str] = {}
    for url, key in keys.items():
        urls.setdefault(key, url)
    return tuple(_card(urls[key], key, told.get(key), shown.get(key, [])) for key in urls)


def _card(url: str, key: str, told: _Said | None, shown: list[_Said]) -> Card:
    prices = {said.price for said in shown if said.price}
    price = (told and told.price) or (prices.pop() if len(prices) == 1 else None)
    stock = {said.availability for said in shown if said.availability}
    availability = (told and told.availability) or (stock.pop() if len(stock) == 1 else None)
    return Card(url, key, price[0] if price else None, price[1] if price else None, availability or None)


def _told(source: str, found: list[Values], context: Context) -> _Said:
    """Return what structured data says: a price where all variants have it."""
    offers = [read_offer(one, dict.fromkeys(one, source), decimal=None, declared=context.currency) for one in found]
    prices = {
        (one.price_minor, one.currency) if one.price_minor is not None and one.currency else None for one in offers
    }
    stock = {
        read_availability(text, context.availability_phrases)
        for one in found
        if isinstance(text := one.get("availability"), str)
    }
    return _Said(prices.pop() if len(prices) == 1 else None, stock.pop() if len(stock) == 1 else None)


def _shown(card: etree._Element, hint: str | None, context: Context) -> _Said:
    view = _look(card)
    done: set[etree._Element] = set()
    amounts = [amount_at(view.elements[at], hint, done, in_link=True) for at in view.numbers[:_MAX_AMOUNTS]]
    price = settle([one for one in amounts if one is not None and not _is_in_title(one, card)], [])
    return _Said(_minor(price, hint, context), _stock(card, view, context))


def _look(card: etree._Element) -> View:
    """Go once through a card and keep what is on show."""
    view = View()
    stack = [(card, 0)]
    while stack:
        element, depth = stack.pop()
        if not isinstance(element.tag, str) or element.tag in _HIDDEN_TAGS or (depth and is_hidden(element)):
            continue
        children = list(element)
        view.add(element, children, depth)
        stack += [(child, depth + 1) for child in reversed(children)]
    return view


def _is_in_title(seen: Seen, card: etree._Element) -> bool:
    """Say whether an amount is a part of the product's name: "Gift card $50"."""
    if seen.is_marked:
        return False
    inside = seen.path[seen.path.index(card) :] if card in seen.path else seen.path[-1:]
    return any(element.tag in _HEADINGS for element in inside)


def _minor(seen: Seen | None, hint: str | None, context: Context) -> tuple[int, str] | None:
    """Return an amount as a record would have it."""
    if seen is None or seen.kind != "exact" or seen.is_foreign:
        return None
    offer = read_offer({"price": seen.text}, {"price": _SOURCE}, decimal=context.decimal, declared=hint)
    return (offer.price_minor, offer.currency) if offer.price_minor is not None and offer.currency else None


def _stock(card: etree._Element, view: View, context: Context) -> Availability | None:
    """Return what a short line of a card says of stock, or else its class."""
    phrases = context.availability_phrases
    for element, line in view.texts:
        if not _MIN_STOCK <= len(line) <= _MAX_STOCK or element.tag in CLICKABLE or line.endswith("?"):
            continue
        if element.tag not in _HEADINGS and (found := read_availability(line, phrases)) is not None:
            return found
    return next((term for name, term in _STOCK_CLASSES.items() if name in tokens(card)), None)
