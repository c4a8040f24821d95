"""A price out of a text that a page shows or declares: how much, of which currency, what kind of amount."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Literal

from storebot.core.money import EXPONENTS
from storebot.core.parsing import price_words as words
from storebot.core.parsing.amount import read_amount
from storebot.core.parsing.candidates import Candidate, digits_of, find_candidates, see_around
from storebot.core.parsing.currency import WEAK, codes_of, mentions
from storebot.core.parsing.currency_hint import hinted_currencies, resolve_currency
from storebot.core.parsing.price_text import joined_cents, plain_text
from storebot.core.parsing.roles import assign_roles, money_among

Kind = Literal[
    "exact",  # the price
    "from",  # the lowest price of several: "from $349", "30,000원~"
    "range",  # "£6.95 – £9.95"
    "placeholder",  # 0.00, 0.01, 9999999, "Free!": what shop software prints where there is no price
    "on_request",  # "Call for price"
    "per_unit",  # "€ 8.30 / kg": the price of a measure, not of the thing
    "instalment",  # "202 Kč/měs.", "12 x 44,00"
    "multi_buy",  # "3 für 10 €": what one costs is unknown
    "saving",  # "You save $15", "–15 €"
    "fee",  # shipping, a deposit, a recycling fee
]
_PRICES = frozenset({"exact", "from", "range"})
_MAX_TEXT = 1_000  # characters; a price's element is shorter, what is longer is a whole page taken by mistake
_PLAIN = re.compile(r"\d{1,15}(?:\.\d{1,12})?")
_EXPONENT = re.compile(r"\d{1,15}(?:\.\d{1,20})?[eE][+-]?\d{1,2}")
_BROKEN_EXPONENT = re.compile(r"\s*[+-]?[\d.]+[eE][+-]?\d")
_BARE = re.compile(r"[\s\d.,']+")
_CENT = Decimal("0.01")
_FIVE_NINES = Decimal(99_999)
_NINES = re.compile(r"9{5,}(?:\.(?:0*|9*0*))?")
# One unit buys so much in these that five nines in a row are a placeholder and no price; elsewhere it takes seven,
# and ten where a telephone costs millions.
_STRONG = frozenset({"EUR", "USD", "GBP", "CHF", "CAD", "AUD", "NZD", "KWD", "BHD", "OMR", "JOD", "SGD"})
_WEAK = frozenset({"IDR", "VND", "IRR", "LAK", "UZS", "GNF", "PYG", "COP", "KRW", "LBP", "KHR", "UGX", "MMK", "TZS"})
# Shops that print no decimals in a currency write "24.990" even into fields where '.' should be the decimal point.
_NO_CENTS_IN_SHOPS = frozenset({"IDR", "COP", "HUF", "ARS", "CRC", "UZS", "LAK", "MMK", "IRR", "LBP"})


@dataclass(frozen=True, slots=True)
class Price:
    """What a text says about money.

    ``amount`` is the number as read, whatever its kind: ask ``is_price`` before it is published. ``low`` and ``high``
    are set for ``from`` and ``range``, whose ``amount`` is ``low``. ``ambiguous`` says that the text could as well mean
    something else, ``note`` why, or what else is worth knowing. ``currency`` is None where the text and the hint leave
    it open.
    """

    amount: Decimal | None
    currency: str | None = None
    kind: Kind = "exact"
    low: Decimal | None = None
    high: Decimal | None = None
    ambiguous: bool = False
    note: str = ""

    @property
    def is_price(self) -> bool:
        """Whether the amount is what the thing costs, beyond doubt."""
        return self.amount is not None and self.kind in _PRICES and not self.ambiguous


def parse_price(
    text: str, *, decimal: str | None = None, machine: bool = False, currency_hint: str | None = None
) -> Price | None:
    """Read one text; None where it holds neither an amount nor a word in place of one.

    ``decimal`` is the separator that the store declares ("." or ","; a sign such as "€" for prices like 35€99).
    ``machine`` marks a value of structured data, where "." is always the decimal point ("140.000" is 140).
    ``currency_hint`` is a code, or a text with a currency in it: it decides between the meanings of a symbol and stands
    in where the text names no currency, but never overrules a currency that the text names for certain.
    Nothing is guessed silently: what can be read in two ways comes back ``ambiguous``. Never raises for any text.
    """
    text = text[:_MAX_TEXT]
    if machine:
        price = _machine(text.strip(), currency_hint)
        if price is not None:
            return price
        if _BROKEN_EXPONENT.match(text):
            return None
        if _BARE.fullmatch(text):  # a sign beside the number makes it text for people, whatever field it is in
            decimal = None if _looks_european(text, currency_hint) else "."
    simple = _simple(text, decimal, currency_hint)
    if simple is not None:
        return _judged(simple)
    cleaned = plain_text(text)
    if words.UNRENDERED.search(cleaned):
        return None
    found = _scan(cleaned, decimal, currency_hint)
    if found is None:
        return _in_words(cleaned, currency_hint)
    return _judged(found)


def _machine(text: str, hint: str | None) -> Price | None:
    if _PLAIN.fullmatch(text) is None and _EXPONENT.fullmatch(text) is None:
        return None
    amount = Decimal(text)
    codes = (hint,) if hint in EXPONENTS else hinted_currencies(hint)
    currency = codes[0] if len(codes) == 1 else None
    head, _, tail = text.partition(".")
    if currency and len(tail) == 3 and 1 <= len(head) <= 3 and head != "0":
        without_cents = EXPONENTS[currency] == 0 or currency in _NO_CENTS_IN_SHOPS
        if without_cents:
            note = f"{text} {currency} may mean {head}{tail}: shops print no decimals in this currency"
            return Price(amount, currency, ambiguous=True, note=note)
    return _judged(Price(amount, currency))


def _looks_european(text: str, hint: str | None) -> bool:
    """Whether a comma of a machine field may be the decimal point: "12,50", "1.250,00", and "1,250" of Kuwait."""
    if "." not in text and EXPONENTS.get(hint or "", 0) >= 3:
        return True
    return re.search(r"\d,\d{1,2}(?!\d)", text) is not None and re.search(r",\d+[.,]", text) is None


_SIMPLE = re.compile(
    r"\s*([^\s\d.,'+*/%()-]{0,4})\s?(\d{1,3}(?:[.,]\d{3})*(?:[.,]\d\d)?|\d+(?:[.,]\d\d)?)\s?([^\s\d.,'+*/%()-]{0,4})\s*"
)


def _simple(text: str, decimal: str | None, hint: str | None) -> Price | None:
    """Read the commonest texts, one number with at most one currency: what `_scan` answers, ten times faster."""
    match = _SIMPLE.fullmatch(text) if text.isprintable() else None
    if match is None or not (decimal is None or decimal in ".,"):
        return None
    before, body, after = match.groups()
    symbol = before or after
    codes = codes_of(symbol) if symbol else ()
    if codes is None or symbol in WEAK or (before and after):
        return None
    currency = resolve_currency(codes, symbol, hint)
    number = read_amount(body, decimal=decimal, digits=digits_of(currency, codes))
    if number is None:
        return None
    one = Candidate(0, 0, body, number.value, number.ambiguous, codes, symbol, 0, 0)
    return _price(one, hint, decimal)


def _scan(text: str, decimal: str | None, hint: str | None) -> Price | None:
    text = joined_cents(text, decimal)
    marks = mentions(text)
    candidates = find_candidates(text, marks, decimal, hint)
    if not candidates:
        return None
    see_around(candidates, text)
    assign_roles(candidates)
    money = money_among(candidates)
    if not money:
        return None
    if words.ON_REQUEST.search(text) and not any(one.has_currency for one in money):
        return None
    return _chosen(money, hint, decimal, text)


_NOT_A_PRICE: dict[str, Kind] = {
    "instalment": "instalment",
    "per_unit": "per_unit",
    "multi_buy": "multi_buy",
    "saving": "saving",
    "fee": "fee",
}


def _chosen(money: list[Candidate], hint: str | None, decimal: str | None, text: str) -> Price:
    prices = [one for one in money if one.role not in _NOT_A_PRICE]
    if not prices:
        first = money[0]
        return _price(first, hint, decimal, kind=_NOT_A_PRICE[first.role], note=f"{text!r} is no price: {first.role}")
    current = [one for one in prices if one.role == "now" and one.amount] or [
        one for one in prices if one.role != "was"
    ]
    doubtful = ""
    if len(prices) > 1 and any(one.role == "now" and not one.amount for one in prices):
        current, doubtful = prices[:1], "the current price is zero beside an old one"
    current = current or prices
    if any(one.role == "net" for one in current) and any(one.role == "gross" for one in current):
        current = [one for one in current if one.role == "gross"]
    first = current[0]
    second = current[1] if len(current) > 1 else None
    if second and first.amount <= second.amount and words.RANGE_BETWEEN.search(first.after.strip("*() ") or "|"):
        return _range(first, second, hint, decimal)
    if first.from_:
        return replace(_price(first, hint, decimal, kind="from"), low=first.amount)
    return _price(first, hint, decimal, note=doubtful or _doubt(first, current, text), doubtful=doubtful)


def _range(first: Candidate, second: Candidate, hint: str | None, decimal: str | None) -> Price:
    if not first.has_currency:
        first.codes, first.symbol = second.codes, second.symbol
    if first.amount == second.amount:
        return _price(first, hint, decimal)
    price = _price(first, hint, decimal, kind="range")
    return replace(price, low=first.amount, high=second.amount, ambiguous=price.ambiguous or second.ambiguous)


def _doubt(first: Candidate, current: list[Candidate], text: str) -> str:
    others = {one.amount for one in current if not one.before.rstrip().endswith("(")} - {first.amount}
    if others:
        return f"{text!r} holds several amounts"
    if not first.has_currency and re.match(r"\s?[^\W\d_]", first.after) and first.role == "money":
        return f"{text!r} names no currency, and its number may count something"
    return ""


def _price(
    one: Candidate, hint: str | None, decimal: str | None, *, kind: Kind = "exact", note: str = "", doubtful: str = ""
) -> Price:
    currency = resolve_currency(one.codes, one.symbol, hint)
    if one.ambiguous:
        note = (
            f"{one.body!r} doesn't fit the declared decimal separator {decimal!r}"
            if decimal
            else f"{one.body!r} can be read with either separator as the decimal point: declare `decimal`"
        )
    ambiguous = one.ambiguous or bool(doubtful) or (kind == "exact" and bool(note))
    if currency is None and one.symbol:
        note = note or f"{one.symbol!r} is the sign of several currencies, or of none that ISO 4217 lists"
    elif not note and one.role in ("net", "gross"):
        note = one.role
    return Price(one.amount, currency, kind, ambiguous=ambiguous, note=note)


def _judged(price: Price) -> Price:
    """Mark amounts that no shop means: zero, one cent, rows of nines."""
    amount = price.amount
    if amount is None or price.kind not in _PRICES:
        return price
    if amount <= _CENT and amount in (0, _CENT):
        return replace(price, kind="placeholder", note=f"{amount} isn't a price")
    text = str(amount) if amount >= _FIVE_NINES else ""
    if text[:1] == "9" and _NINES.fullmatch(text):
        nines = len(text.partition(".")[0])
        if nines >= (10 if price.currency in _WEAK else 5 if price.currency in _STRONG else 7):
            return replace(price, kind="placeholder", note=f"{amount} isn't a price")
    return price


def _in_words(text: str, hint: str | None) -> Price | None:
    marks = mentions(text)
    codes, symbol = (marks[0].codes, marks[0].text) if len(marks) == 1 else ((), "")
    currency = resolve_currency(codes, symbol, hint)
    if words.ON_REQUEST.search(text):
        return Price(None, currency, "on_request", note=f"{text!r} names no amount")
    if words.FREE.search(text) and not any(char.isdigit() for char in text):
        return Price(Decimal(0), currency, "placeholder", note=f"{text!r} isn't a price")
    return None
