"""The price beside the name and the buy button, as a buyer sees it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import islice

from lxml import etree

from storebot.core.parsing import visible_words as words
from storebot.core.parsing.currency import WEAK, mentions
from storebot.core.parsing.price import parse_price
from storebot.core.parsing.visible_tree import ancestors, leads_away, shared, text_of_amount, tokens

_MAX_TEXT = 60  # characters; a price line is shorter, and a sentence that names an amount is none
_MAX_LETTERS = 16  # beside the amount: "EUR", "incl. VAT", not "free delivery over"
_MAX_TILE_LINKS = 3  # where more stand together, it is a part of the page and no tile
_MAX_SIGN = 4
_UP = 4  # levels above an amount that say what it is
_MAX_RAW = 200  # white space included
_MAX_AMOUNTS = 60  # of one page: the price stands before the long lists
_MODEL = re.compile(r"\d[^\W\d_]")
_SUBHEADINGS = ("h2", "h3", "h4", "h5", "h6")
_MAX_BESIDE = 8  # different amounts beside one name
_DIGIT = re.compile(r"\d")
_LETTERS = re.compile(r"[^\W\d_]")


@dataclass(frozen=True, slots=True)
class Seen:
    """One amount on show; ``named``: its text names a currency; ``is_marked``: the page calls it a price."""

    amount: Decimal
    text: str
    path: list[etree._Element]
    is_struck: bool
    is_current: bool
    is_net: bool
    named: bool
    is_marked: bool


def amounts_of(elements: Sequence[etree._Element], hint: str | None) -> list[Seen]:
    """Return the prices among elements, in page order; no unit prices, instalments, or links to other products."""
    found: list[Seen] = []
    done: set[etree._Element] = set()
    for element in elements:
        if not _has_own_digit(element):
            continue
        holder = _whole(element)
        if holder in done:
            continue
        done.add(holder)
        if (seen := _seen(holder, hint)) is not None:
            found.append(seen)
            if len(found) >= _MAX_AMOUNTS:
                break
    return found


def without_tiles(seen: Sequence[Seen], heading: list[etree._Element]) -> list[Seen]:
    """Drop the amounts that stand beside a link to the page of another product: a tile of a list."""
    return [one for one in seen if not _is_in_tile(one.path[shared(one.path, heading) :])]


def _is_in_tile(path: Sequence[etree._Element]) -> bool:
    for level in reversed(path[-7:]):
        links: dict[str, etree._Element] = {}
        for link in level.iter("a"):
            if leads_away(link):
                links.setdefault(link.get("href") or "", link)
            if len(links) > _MAX_TILE_LINKS:
                return False
        if _names_another(list(links.values())):
            return True
    return False


def _names_another(links: Sequence[etree._Element]) -> bool:
    for link in links:
        pictures = [tokens(image) for image in link.iter("img")]
        near = frozenset().union(tokens(link), *pictures)
        if "product" in near and near & {"name", "title", "link", "image"}:
            return True
        parent = link.getparent()
        if (parent is not None and parent.tag in _SUBHEADINGS) or any(
            child.tag in _SUBHEADINGS for child in link.iter("*")
        ):
            return True
    return False


def nearest(seen: Sequence[Seen], heading: list[etree._Element]) -> list[Seen]:
    """Return the amounts that share the smallest part of the page with the name."""
    depths = [shared(one.path, heading) for one in seen]
    best = max(depths, default=0)
    return [one for depth, one in zip(depths, seen, strict=True) if depth >= best]


def settle(seen: Sequence[Seen], buys: Sequence[list[etree._Element]]) -> Seen | None:
    """Return the one price among those beside the name; None where several differ and nothing decides.

    By this order: the only amount (with tax, where both are shown); the only one beside a buy button; the only one
    that the page marks as current; the only one beside a higher amount that is crossed out.
    """
    left = [one for one in seen if not one.is_struck]
    left = [one for one in left if not one.is_net] or left
    if any(one.named for one in left):
        left = [one for one in left if one.named]
    if _is_one(left):
        return left[0]
    if buys and left:
        depths = [max(shared(one.path, buy) for buy in buys) for one in left]
        close = [one for depth, one in zip(depths, left, strict=True) if depth == max(depths)]
        if _is_one(close):
            return close[0]
    if len({one.amount for one in left}) > _MAX_BESIDE:
        return None  # a list, whatever one of its members is marked as
    current = [one for one in left if one.is_current]
    if _is_one(current):
        return current[0]
    struck = [one for one in seen if one.is_struck]
    return _beside_struck(left, struck[0]) if _is_one(struck) else None


def _beside_struck(left: Sequence[Seen], struck: Seen) -> Seen | None:
    """Return the one amount that stands closest to a higher crossed-out one: a fee is far below it."""
    lower = [one for one in left if struck.amount / 10 < one.amount < struck.amount]
    depths = [shared(one.path, struck.path) for one in lower]
    close = [one for depth, one in zip(depths, lower, strict=True) if depth == max(depths)]
    return close[0] if _is_one(close) else None


def _is_one(seen: Sequence[Seen]) -> bool:
    return len({one.amount for one in seen}) == 1


def _has_own_digit(element: etree._Element) -> bool:
    text = element.text
    if text and _DIGIT.search(text):
        return len(text) <= _MAX_RAW
    if len(element) == 0:
        return False
    for child in element:
        tail = child.tail
        if tail and _DIGIT.search(tail):
            return len(tail) <= _MAX_RAW
    return False


def _whole(element: etree._Element) -> etree._Element:
    """Return the largest short element around an amount: its sign and its cents may stand in elements of their own."""
    holder = element
    size = len(text_of_amount(element))
    for ancestor in islice(element.iterancestors(), _UP):
        if size > _MAX_TEXT or (larger := len(text_of_amount(ancestor))) > size + 6 or _is_struck(holder):
            break
        size = larger
        holder = ancestor
    return holder


def _seen(holder: etree._Element, hint: str | None) -> Seen | None:
    text = _with_sign(holder, text_of_amount(holder))
    if "=" in text or text.startswith("("):  # "1 point = $1"
        return None
    if len(text) > _MAX_TEXT or len(_LETTERS.findall(text)) > _MAX_LETTERS or words.INSTALMENT.search(text.lower()):
        return None
    marks = [mark for mark in mentions(text) if mark.text not in WEAK]
    if any(match.end() - 1 not in {mark.start for mark in marks} for match in _MODEL.finditer(text)):
        return None  # "Ft 108r": the name of a thing
    named = bool(marks)
    above = list(islice(holder.iterancestors(), _UP))
    near = [tokens(one) for one in (holder, *above)]
    marked = any("price" in token for found in near[:3] for token in found)
    if not (named or marked):
        return None
    price = parse_price(text, currency_hint=hint)
    if price is None or price.amount is None or price.amount <= 0 or price.kind not in ("exact", "sale"):
        return None
    if any(one.tag == "a" and leads_away(one) for one in (holder, *above)):
        return None
    struck = _is_struck(holder)
    parts = [tokens(part) for part in holder.iterdescendants() if isinstance(part.tag, str)][:6]
    current = any(found & words.CURRENT for found in (*near[:2], *parts))
    net = any(
        words.NET.search(label.lower())
        for one in (holder, *above[:2])
        if not any(map(str.isdigit, (label := text_of_amount(one)).replace(text, "", 1)))
    )
    return Seen(price.amount, text, ancestors(holder), struck, current, net, named, marked)


def _with_sign(holder: etree._Element, text: str) -> str:
    """Add the sign that stands just outside of a bare number: "$<b>42</b>", "<b>2320</b><i>元</i>"."""
    if not text.replace(",", "").replace(".", "").replace(" ", "").isdigit():
        return text
    following, previous, parent = holder.getnext(), holder.getprevious(), holder.getparent()
    before = (previous.tail if previous is not None else parent.text if parent is not None else "") or ""
    after = (holder.tail or "").strip()
    if not after and following is not None and isinstance(following.tag, str):
        after = text_of_amount(following)
    sign = before.strip()[-1:]
    if sign and mentions(sign):
        return f"{sign}{text}"
    return f"{text} {after}" if len(after) <= _MAX_SIGN and mentions(after) else text


def _is_struck(element: etree._Element) -> bool:
    text = element.text or ""
    inside = [] if any(map(str.isdigit, text)) else [one for one in element.iter("*") if _has_own_digit(one)][:6]
    for one in (element, *inside, *list(element.iterancestors())[:2]):
        if one.tag in ("del", "s", "strike") or tokens(one) & words.STRUCK:
            return True
        if "line-through" in (one.get("style") or ""):
            return True
    return False
