"""The numbers of a text that may be amounts, each with its currency and the words around it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from itertools import islice

from storebot.core.money import EXPONENTS
from storebot.core.parsing import price_words as words
from storebot.core.parsing.amount import AMOUNT, read_amount
from storebot.core.parsing.currency import Mention
from storebot.core.parsing.currency_hint import agreed, beside, confirmed, resolve_currency

_MAX_AMOUNTS = 30  # numbers of one text that are looked at: who has more isn't a price
_AROUND = 60  # characters before and behind an amount that can say what it is


@dataclass(slots=True)
class Candidate:
    """One number of the text with what stands around it."""

    start: int
    end: int
    body: str
    amount: Decimal
    ambiguous: bool
    codes: tuple[str, ...]
    symbol: str
    outer_start: int  # with the currency signs beside it
    outer_end: int
    before: str = ""
    after: str = ""
    since_money: str = ""  # like `before`, reaching back over numbers that name no currency: "… in 30 days: "
    role: str = "money"  # money | was | net | gross | now | a kind that is no price
    from_: bool = False

    @property
    def has_currency(self) -> bool:
        return bool(self.symbol)


def find_candidates(text: str, marks: list[Mention], decimal: str | None, hint: str | None) -> list[Candidate]:
    dates = [match.span() for match in words.DATE.finditer(text)]
    found: list[Candidate] = []
    for match in islice(AMOUNT.finditer(text), _MAX_AMOUNTS):
        start, end = match.start("body"), match.end()
        left, right = beside(text, marks, start, end)
        left, right = (confirmed(side, hint) for side in (left, right))
        codes, symbol = agreed(left, right)
        outer_start = min([match.start(), *(mark.start for mark in left)])
        outer_end = max([end, *(mark.end for mark in right)])
        before, after = text[outer_start - 1 : outer_start], text[outer_end : outer_end + 1]
        if not symbol and (before.isalpha() or before == "#" or any(a <= start < b for a, b in dates)):
            continue  # "M2", "#12", a date
        if after == "%" or text[end : end + 2] in ("%", " %") or text[end : end + 1] == "%":
            continue
        if not symbol and words.MONTH.search(text[:start]):
            continue
        currency = resolve_currency(codes, symbol, hint)
        lead = match["lead"] != "" and not text[max(0, match.start() - 1) : match.start()].isalpha()
        number = read_amount(
            match["body"], lead=lead, whole=bool(match["whole"]), decimal=decimal, digits=digits_of(currency, codes)
        )
        if number is None:
            continue
        amount = number.value
        cents = text[end : end + 1] == "¢" or (not symbol and re.match(r"p(?![^\W\d_])", text[end : end + 2]))
        if cents and "." not in match["body"]:
            amount, codes, symbol, outer_end = amount / 100, (*codes, *_cent_codes(text[end])), text[end], end + 1
        found.append(
            Candidate(start, end, match["body"], amount, number.ambiguous, codes, symbol, outer_start, outer_end)
        )
    return found


def _cent_codes(sign: str) -> tuple[str, ...]:
    return ("GBP",) if sign == "p" else ("USD", "CAD", "AUD", "NZD")


def digits_of(currency: str | None, codes: tuple[str, ...]) -> int | None:
    """How many decimals the currency has; where it is open, the most that any of its meanings has."""
    if currency:
        return EXPONENTS.get(currency)
    return max((EXPONENTS[code] for code in codes), default=None)


def see_around(candidates: list[Candidate], text: str) -> None:
    since = 0
    for index, one in enumerate(candidates):
        previous_end = candidates[index - 1].outer_end if index else 0
        next_start = candidates[index + 1].outer_start if index + 1 < len(candidates) else len(text)
        one.before = text[previous_end : one.outer_start][-_AROUND:]
        one.after = text[one.outer_end : next_start][:_AROUND]
        one.since_money = text[since : one.outer_start][-_AROUND:]
        since = one.outer_end if one.has_currency else since
