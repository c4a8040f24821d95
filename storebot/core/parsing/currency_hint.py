"""The currency of an amount: what stands beside it, and what a page or a store says where that is open."""

from __future__ import annotations

import re

from storebot.core.money import EXPONENTS
from storebot.core.parsing.amount import AMOUNT
from storebot.core.parsing.currency import USUAL, WEAK, Mention, currencies_named, mentions
from storebot.core.parsing.price_text import plain_text


def resolve_currency(codes: tuple[str, ...], symbol: str, hint: str | None) -> str | None:
    """Pick one of the currencies that a symbol can mean, by a hint (a code, or a text with one); None if unsure."""
    hinted = hinted_currencies(hint)
    if not codes and not symbol:
        return hinted[0] if len(hinted) == 1 else None
    if len(codes) == 1:
        return codes[0]
    both = [code for code in codes if code in hinted]
    return both[0] if len(both) == 1 else USUAL.get(symbol)


def hinted_currencies(hint: str | None) -> tuple[str, ...]:
    """The currencies that a hint names: a code, a symbol, or a text in which they stand beside a number."""
    if not hint:
        return ()
    if hint in EXPONENTS:
        return (hint,)
    whole = currencies_named(hint)
    if whole:
        return _usual(hint.strip(), whole)
    text = plain_text(hint)
    head = re.match(r"([^\W\d_.]+\.?)(?=\s*[/(])", text)
    if head and currencies_named(head[1]):
        return currencies_named(head[1])
    marks = mentions(text)
    touching = [mark for match in AMOUNT.finditer(text) for side in beside(text, marks, *match.span()) for mark in side]
    codes = {_usual(mark.text, mark.codes) for mark in touching}
    return codes.pop() if len(codes) == 1 else ()


def _usual(symbol: str, codes: tuple[str, ...]) -> tuple[str, ...]:
    return (USUAL[symbol],) if symbol in USUAL else codes


def beside(text: str, marks: list[Mention], start: int, end: int) -> tuple[list[Mention], list[Mention]]:
    """The currencies that touch a number or stand a space away, two on each side at most ("NZD $100", "£94.50 GBP")."""
    left: list[Mention] = []
    for mark in reversed([mark for mark in marks if mark.end <= start]):
        if len(left) == 2 or text[mark.end : start].strip(" .:"):
            break
        left.append(mark)
        start = mark.start
    right: list[Mention] = []
    for mark in (mark for mark in marks if mark.start >= end):
        if len(right) == 2 or text[end : mark.start].strip(" "):
            break
        if left and re.match(r"[ .]?\d", text[mark.end : mark.end + 2]):
            break  # it belongs to the number behind it: "€ 10.00 € 8.00"
        right.append(mark)
        end = mark.end
    return left, right


def confirmed(marks: list[Mention], hint: str | None) -> list[Mention]:
    """Drop the marks that are currencies only if a hint says so, and didn't."""
    if not any(mark.text in WEAK for mark in marks):
        return marks
    hinted = hinted_currencies(hint)
    return [mark for mark in marks if mark.text not in WEAK or any(code in hinted for code in mark.codes)]


def agreed(left: list[Mention], right: list[Mention]) -> tuple[tuple[str, ...], str]:
    beside = [*left, *right]
    if not beside:
        return (), ""
    codes = beside[0].codes
    for mark in beside[1:]:
        both = tuple(code for code in mark.codes if code in codes)
        codes = both or (codes if codes else mark.codes)
    return codes, beside[0].text
