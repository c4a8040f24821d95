"""One amount of money on show: how much, and what the page says it is."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import islice

from lxml import etree

from storebot.core.parsing import visible_words as words
from storebot.core.parsing.currency import WEAK, mentions
from storebot.core.parsing.price import Kind, parse_price
from storebot.core.parsing.visible_tree import Path, ancestors, leads_away, text_of_amount, tokens

_MAX_TEXT = 60  # characters; a price line is shorter, and a sentence that names an amount is none
_MAX_LETTERS = 16  # beside the amount: "EUR", "incl. VAT", not "free delivery over"
_MAX_SIGN = 4
_MORE = 6  # characters that an element around an amount may add: its sign, its cents
_INSIDE = 8  # elements in one amount: its sign, its cents, their wrappers
_CENT_DIGITS = 2
_UP = 4  # levels above an amount that say what it is
_KINDS = frozenset({"exact", "from", "range"})
_CHOICES = frozenset({"button", "label", "option"})
_RAISED = frozenset({"sup", "sub", "small"})
_MARKS = ("data-testid", "data-test", "data-qa", "data-auto")  # what an element is, for the shop's own tests
_MODEL = re.compile(r"\d[^\W\d_]")
_DIGIT = re.compile(r"\d")
_LETTER = re.compile(r"[^\W\d_]")
_EXTRA = re.compile(r"[+−–-]\s?[^\w\s]{0,3}\s?\d")
_WHOLE = re.compile(r"[^\w]{0,3}\s?\d[\d.,' \xa0]{0,12}")
_CENTS = re.compile(r"[.,]?\s?\d\d")


@dataclass(frozen=True, slots=True)
class Seen:
    """One amount on show; ``named``: its text names a currency; ``is_marked``: the page calls it a price.

    ``kind`` is that of `price.Price`: only ``exact`` is a price, ``from`` and ``range`` are the lowest of several.
    ``is_net``: without tax, or with the delivery. ``is_option``: it stands in something to choose or to press.
    ``is_foreign``: it is in another currency than the page's.
    """

    amount: Decimal
    text: str
    path: Path
    kind: Kind
    is_struck: bool
    is_current: bool
    is_net: bool
    named: bool
    is_marked: bool
    is_option: bool
    is_foreign: bool

    def with_text(self, text: str, kind: Kind) -> Seen:
        return replace(self, text=text, kind=kind)


def amount_at(
    element: etree._Element, hint: str | None, done: set[etree._Element], *, in_link: bool = False
) -> Seen | None:
    """Return the amount that an element which holds a digit is a part of; None where it is no price, or done.

    ``in_link``: it may stand in a link to another page, as all of a card does.
    """
    holder = _whole(element)
    if holder in done:
        return None
    done.add(holder)
    return _seen(holder, hint, in_link=in_link)


def _whole(element: etree._Element) -> etree._Element:
    """Return the largest short element around an amount: its sign and its cents may stand in elements of their own."""
    holder = _with_whole_part(element)
    text = text_of_amount(holder, _MAX_TEXT)
    for ancestor in islice(holder.iterancestors(), _UP):
        larger = text_of_amount(ancestor, len(text) + _MORE)
        if len(text) > _MAX_TEXT or len(larger) > len(text) + _MORE or _is_struck(holder) or _adds_one(text, larger):
            break
        text, holder = larger, ancestor
    return holder


def _adds_one(text: str, larger: str) -> bool:
    """Say whether the larger text holds another amount beside that of the other, and not only its cents or its sign."""
    more = len(_DIGIT.findall(larger)) - len(_DIGIT.findall(text))
    return more > _CENT_DIGITS or (more > 0 and len(mentions(larger)) > max(1, len(mentions(text))))


def _with_whole_part(element: etree._Element) -> etree._Element:
    """Return the element around raised cents and what they are the cents of, else the element."""
    parent = element.getparent()
    if parent is None or not _CENTS.fullmatch(text_of_amount(element, _MAX_SIGN)):
        return element
    previous = element.getprevious()
    before = (parent.text or "") if previous is None else previous.tail or text_of_amount(previous, _MAX_TEXT)
    raised = element.tag in _RAISED and before.rstrip()[-1:].isdigit()
    return parent if raised or _WHOLE.fullmatch(before.strip()) else element


def _seen(holder: etree._Element, hint: str | None, *, in_link: bool) -> Seen | None:
    text = _with_sign(holder, text_of_amount(holder, _MAX_TEXT))
    if len(text) > _MAX_TEXT or "=" in text or text.startswith("("):  # "1 point = $1"
        return None
    label = words.PRICE_LABEL.match(text)
    bare = text[label.end() :] if label else text
    if len(_LETTER.findall(bare)) > _MAX_LETTERS or words.INSTALMENT.search(text.lower()) or _EXTRA.match(bare):
        return None
    marks = [mark for mark in mentions(text) if mark.text not in WEAK]
    if any(match.end() - 1 not in {mark.start for mark in marks} for match in _MODEL.finditer(text)):
        return None  # "Ft 108r": the name of a thing
    above = list(islice(holder.iterancestors(), _UP))
    inside = [part for part in islice(holder.iterdescendants(), _INSIDE) if isinstance(part.tag, str)]
    marked = label is not None or any(_says_price(one) for one in (holder, *above[:2], *inside))
    if not (marks or marked):
        return None
    price = parse_price(text, currency_hint=hint)
    if price is None or price.amount is None or price.amount <= 0 or price.kind not in _KINDS:
        return None
    if not in_link and any(one.tag == "a" and leads_away(one) for one in (holder, *above)):
        return None
    return Seen(
        price.amount,
        text,
        ancestors(holder),
        price.kind,
        is_struck=_is_struck(holder) or words.WAS_LABEL.match(text) is not None,
        is_current=label is not None or any(tokens(one) & words.CURRENT for one in (holder, *above[:1], *inside)),
        is_net=_is_net(holder, above, text),
        named=bool(marks),
        is_marked=marked,
        is_option=any(one.tag in _CHOICES for one in (holder, *above)),
        is_foreign=hint is not None and price.currency not in (None, hint),
    )


def _says_price(element: etree._Element) -> bool:
    return any("price" in name for name in tokens(element)) or any(
        "price" in (element.get(mark) or "") for mark in _MARKS
    )


def _is_net(holder: etree._Element, above: list[etree._Element], text: str) -> bool:
    if words.OTHER_TERMS.search(text.lower()):
        return True
    for one in (holder, *above[:2]):
        around = text_of_amount(one).replace(text, "", 1)
        if not _DIGIT.search(around) and words.OTHER_TERMS.search(around.lower()):
            return True
    return False


def _with_sign(holder: etree._Element, text: str) -> str:
    """Add the sign that stands just outside of a bare number: "$<b>42</b>", "<b>2320</b><i>元</i>"."""
    if not text.replace(",", "").replace(".", "").replace(" ", "").isdigit():
        return text
    following, previous, parent = holder.getnext(), holder.getprevious(), holder.getparent()
    before = (previous.tail if previous is not None else parent.text if parent is not None else "") or ""
    after = (holder.tail or "").strip()
    if not after and following is not None and isinstance(following.tag, str):
        after = text_of_amount(following, _MAX_SIGN)
    sign = before.strip()[-1:]
    if sign and mentions(sign):
        return f"{sign}{text}"
    return f"{text} {after}" if len(after) <= _MAX_SIGN and mentions(after) else text


def _is_struck(element: etree._Element) -> bool:
    text = element.text or ""
    inside = [] if _DIGIT.search(text) else [one for one in islice(element.iter("*"), _INSIDE) if _holds_digit(one)]
    for one in (element, *inside, *islice(element.iterancestors(), 2)):
        if one.tag in ("del", "s", "strike") or _names_old(tokens(one)):
            return True
        if "line-through" in (one.get("style") or "") or "line-through" in (one.get("class") or ""):
            return True
    return False


def _holds_digit(element: etree._Element) -> bool:
    return _DIGIT.search(element.text or "") is not None


def _names_old(names: frozenset[str]) -> bool:
    return bool(names & words.STRUCK) or ("compare" in names and bool(names & words.PRICE))
