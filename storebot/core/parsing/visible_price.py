"""The price beside the name and the buy button, as a buyer sees it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice

from lxml import etree

from storebot.core.parsing.price import parse_price
from storebot.core.parsing.visible_amount import Seen, amount_at
from storebot.core.parsing.visible_tree import Path, View, leads_away, shared, text_of_amount, tokens

_MAX_TILE_LINKS = 3  # where more stand together, it is a part of the page and no tile
_MAX_LINKS = 20  # of one part: a tile has a picture, a name, a button
_MAX_TILE = 7  # levels that a tile is deep
_MAX_TRIED = 150  # numbers that are looked at until one is a price
_MAX_AMOUNTS = 60  # of one part of the page: who has more is a list
_MAX_BESIDE = 8  # different amounts beside one name
_FEE = 10  # what is ten times cheaper than the price beside it is a bonus, a deposit, an instalment
_SUBHEADINGS = ("h2", "h3", "h4", "h5", "h6")


def prices_near(view: View, place: Path, hint: str | None, *, marked_only: bool, title: str = "") -> list[Seen]:
    """Return the amounts that share the smallest part of the page with an element: those of the product it names.

    No unit prices, no instalments, no tiles of other products, nothing that is a part of the ``title``.
    ``marked_only``: an amount counts only where the page calls it a price.
    """
    done: set[etree._Element] = set()
    tried = 0
    start = end = -1
    for depth in range(len(place) - 1, 0, -1):
        first, last = view.span(place[depth - 1])
        ring = [*view.numbers_in(first, start), *view.numbers_in(end, last)] if start >= 0 else []
        if start < 0:
            ring = view.numbers_in(first, last)
        start, end = first, last
        tried += len(ring)
        if found := _among(view, ring[:_MAX_AMOUNTS], place, hint, done, marked_only, title):
            return found
        if tried > _MAX_TRIED:
            break
    return []


def _among(
    view: View,
    ring: Iterable[int],
    place: Path,
    hint: str | None,
    done: set[etree._Element],
    marked_only: bool,
    title: str,
) -> list[Seen]:
    found: list[Seen] = []
    for at in ring:
        seen = amount_at(view.elements[at], hint, done)
        if seen is None or (marked_only and not seen.is_marked) or seen.text.casefold() in title:
            continue
        if place[-1] not in seen.path and not is_in_tile(seen.path[shared(seen.path, place) :]):
            found.append(seen)
    return found


def is_in_tile(path: Sequence[etree._Element]) -> bool:
    """Say whether the end of a path, from where it leaves the product's own, stands in what shows another product."""
    for level in reversed(path[-_MAX_TILE:]):
        links = [link for link in islice(level.iter("a"), _MAX_LINKS) if leads_away(link)]
        if len({link.get("href") for link in links}) > _MAX_TILE_LINKS:
            return False
        if _names_another(links):  # the picture and the name of a tile mostly lead to one page
            return True
    return False


def _names_another(links: Sequence[etree._Element]) -> bool:
    for link in links:
        pictures = [tokens(image) for image in islice(link.iter("img"), _MAX_LINKS)]
        near = frozenset().union(tokens(link), *pictures)
        if "product" in near and near & {"name", "title", "link", "image"}:
            return True
        parent = link.getparent()
        if (parent is not None and parent.tag in _SUBHEADINGS) or next(link.iter(*_SUBHEADINGS), None) is not None:
            return True
    return False


def settle(seen: Sequence[Seen], buys: Sequence[Path]) -> Seen | None:
    """Return the one price among those beside the name; None where several differ and nothing decides.

    By this order: the only amount (with tax, where both are shown; outside of buttons, where both are); the only one
    beside a buy button; the only one that the page marks as current; the only one beside a higher amount that is
    crossed out; the marked one before a tiny one; two ends of one range.
    """
    left = _plainest(seen)
    if _is_one(left):
        return left[0]
    current = [one for one in left if one.is_current]
    close = _closest(left, buys)
    if _is_one(close):
        # Two kinds of evidence for two amounts decide nothing: one of them may include the delivery.
        return None if _is_one(current) and current[0].amount != close[0].amount else close[0]
    if len({one.amount for one in left}) > _MAX_BESIDE:
        return None  # a list, whatever one of its members is marked as
    if _is_one(current):
        return current[0]
    struck = [one for one in seen if one.is_struck]
    if _is_one(struck):
        return _beside_struck(left, struck[0])
    return _before_tiny(left) or _range_of(left)


_LESSER: tuple[Callable[[Seen], bool], ...] = (
    lambda one: one.is_foreign,
    lambda one: one.is_net,
    lambda one: not one.named,
    lambda one: one.is_option,
)


def _plainest(seen: Sequence[Seen]) -> list[Seen]:
    left = [one for one in seen if not one.is_struck]
    for is_lesser in _LESSER:
        left = [one for one in left if not is_lesser(one)] or left
    return left


def _beside_struck(left: Sequence[Seen], struck: Seen) -> Seen | None:
    """Return the one amount that stands closest to a higher crossed-out one: a fee is far below it."""
    lower = [one for one in left if struck.amount / _FEE < one.amount < struck.amount]
    close = _closest(lower, [struck.path])
    return close[0] if _is_one(close) else None


def _closest(seen: Sequence[Seen], places: Sequence[Path]) -> list[Seen]:
    """Return the amounts that share the smallest part of the page with one of the places."""
    depths = [max((shared(one.path, place) for place in places), default=0) for one in seen]
    return [one for depth, one in zip(depths, seen, strict=True) if places and depth == max(depths)]


def _before_tiny(left: Sequence[Seen]) -> Seen | None:
    """Return the first amount where it is marked as a price and all others behind it are tiny beside it."""
    first = left[0] if left else None
    if first is None or not first.is_marked:
        return None
    others = [one for one in left if one.amount != first.amount]
    return first if all(one.amount * _FEE < first.amount for one in others) else None


def _range_of(left: Sequence[Seen]) -> Seen | None:
    """Return the two ends of a range ("$8.00 – $32.00") as one; None where the two are something else."""
    if len(left) != 2 or any(one.kind != "exact" for one in left):
        return None
    low, high = left
    common = low.path[shared(low.path, high.path) - 1]
    text = text_of_amount(common)
    price = parse_price(text)
    if price is None or price.kind != "range" or (price.low, price.high) != (low.amount, high.amount):
        return None
    return low.with_text(text, "range")


def _is_one(seen: Sequence[Seen]) -> bool:
    return len({(one.amount, one.kind) for one in seen}) == 1


def differing(price: Seen, near_button: Iterable[Seen]) -> Iterator[Seen]:
    """Yield the amounts beside the buy button that may be a price too, and are another one."""
    for one in _plainest(list(near_button)):
        if one.amount != price.amount and not one.is_struck and price.amount / _FEE < one.amount < price.amount * _FEE:
            yield one
