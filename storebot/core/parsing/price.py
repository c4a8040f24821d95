"""A price out of a text that a page shows or declares: how much, of which currency, what kind of amount."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Literal

from storebot.core.money import EXPONENTS
from storebot.core.parsing import price_words as words
from storebot.core.parsing.amount import AMOUNT, read_amount
from storebot.core.parsing.currency import USUAL, WEAK, Mention, codes_of, currencies_named, mentions

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
_AROUND = 60  # characters before and behind an amount that can say what it is
_PLAIN = re.compile(r"\d{1,15}(?:\.\d{1,12})?")
_EXPONENT = re.compile(r"\d{1,15}(?:\.\d{1,20})?[eE][+-]?\d{1,2}")
_BROKEN_EXPONENT = re.compile(r"\s*[+-]?[\d.]+[eE][+-]?\d")
_BARE = re.compile(r"[\s\d.,']+")
_CENT, _FIVE_NINES = Decimal("0.01"), Decimal(99_999)
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
    cleaned = _cleaned(text)
    if words.UNRENDERED.search(cleaned):
        return None
    found = _scan(cleaned, decimal, currency_hint)
    if found is None:
        return _in_words(cleaned, currency_hint)
    return _judged(found)


def resolve_currency(codes: tuple[str, ...], symbol: str, hint: str | None) -> str | None:
    """Pick one of the currencies that a symbol can mean, by a hint (a code, or a text with one); None if unsure."""
    hinted = _hinted(hint)
    if not codes and not symbol:
        return hinted[0] if len(hinted) == 1 else None
    if len(codes) == 1:
        return codes[0]
    both = [code for code in codes if code in hinted]
    return both[0] if len(both) == 1 else USUAL.get(symbol)


def _machine(text: str, hint: str | None) -> Price | None:
    if _PLAIN.fullmatch(text) is None and _EXPONENT.fullmatch(text) is None:
        return None
    amount = Decimal(text)
    codes = (hint,) if hint in EXPONENTS else _hinted(hint)
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
    number = read_amount(body, decimal=decimal, digits=_digits(currency, codes))
    if number is None:
        return None
    one = _Candidate(0, 0, body, number.value, number.ambiguous, codes, symbol, 0, 0)
    return _price(one, hint, decimal)


def _cleaned(text: str) -> str:
    """Bring digits, spaces and look-alike marks of all scripts to ASCII; letters and currency signs stay."""
    text = text[:_MAX_TEXT]
    if text.isascii():
        return " ".join(text.split())
    return " ".join("".join(_plain_char(char) for char in text).split())


# Invisible marks go, look-alike marks become the one of ASCII.
_CHARACTERS = dict.fromkeys(
    "\u00ad\u200b\u200c\u200d\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2060\u2066\u2067\u2068\u2069\u061c\ufeff", ""
)
_CHARACTERS |= dict.fromkeys("’‘ʼ´`′", "'") | {"٫": ".", "٬": ",", "،": ",", "·": ".", "。": "."}


def _plain_char(char: str) -> str:
    if char < "\x80":
        return char
    if char in _CHARACTERS:
        return _CHARACTERS[char]
    category = unicodedata.category(char)
    if category == "Nd":
        return str(unicodedata.digit(char))
    if category == "Zs":
        return " "
    if "\uff01" <= char <= "\uff5e" and char not in "～＄":
        return chr(ord(char) - 0xFEE0)
    return char


@dataclass(slots=True)
class _Candidate:
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


def _scan(text: str, decimal: str | None, hint: str | None) -> Price | None:
    text = _joined_cents(text, decimal)
    marks = mentions(text)
    candidates = _candidates(text, marks, decimal, hint)
    if not candidates:
        return None
    _see_around(candidates, text)
    _assign_roles(candidates)
    money = _money(candidates)
    if not money:
        return None
    if words.ON_REQUEST.search(text) and not any(one.has_currency for one in money):
        return None
    return _chosen(money, hint, decimal, text)


def _see_around(candidates: list[_Candidate], text: str) -> None:
    since = 0
    for index, one in enumerate(candidates):
        previous_end = candidates[index - 1].outer_end if index else 0
        next_start = candidates[index + 1].outer_start if index + 1 < len(candidates) else len(text)
        one.before = text[previous_end : one.outer_start][-_AROUND:]
        one.after = text[one.outer_end : next_start][:_AROUND]
        one.since_money = text[since : one.outer_start][-_AROUND:]
        since = one.outer_end if one.has_currency else since


def _joined_cents(text: str, decimal: str | None) -> str:
    """Put a decimal point where the page has an element boundary or a currency sign in its place: 19 99, 35€ 99."""
    if decimal and decimal not in ".,":
        return re.sub(rf"(\d)({re.escape(decimal)})(\d+)", r"\1.\3\2", text)
    text = re.sub(r"(?<![\d.,])(\d+)(€) ?(\d\d)(?![\d.,%€'])(?! ?[€%])", r"\1.\3\2", text)
    return re.sub(r"^(\D{0,5}(?:\d{1,3}(?:[.,]\d{3})+|\d+)) (\d\d)(?=\D{0,5}$)", _with_point, text)


def _with_point(match: re.Match[str]) -> str:
    whole, cents = match.groups()
    return f"{whole.replace('.', '').replace(',', '')}.{cents}"


def _candidates(text: str, marks: list[Mention], decimal: str | None, hint: str | None) -> list[_Candidate]:
    dates = [match.span() for match in words.DATE.finditer(text)]
    found: list[_Candidate] = []
    for match in AMOUNT.finditer(text):
        start, end = match.start("body"), match.end()
        left, right = _beside(text, marks, start, end)
        left, right = (_confirmed(side, hint) for side in (left, right))
        codes, symbol = _agreed(left, right)
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
            match["body"], lead=lead, whole=bool(match["whole"]), decimal=decimal, digits=_digits(currency, codes)
        )
        if number is None:
            continue
        amount = number.value
        cents = text[end : end + 1] == "¢" or (not symbol and re.match(r"p(?![^\W\d_])", text[end : end + 2]))
        if cents and "." not in match["body"]:
            amount, codes, symbol, outer_end = amount / 100, (*codes, *_cent_codes(text[end])), text[end], end + 1
        found.append(
            _Candidate(start, end, match["body"], amount, number.ambiguous, codes, symbol, outer_start, outer_end)
        )
    return found


def _cent_codes(sign: str) -> tuple[str, ...]:
    return ("GBP",) if sign == "p" else ("USD", "CAD", "AUD", "NZD")


def _digits(currency: str | None, codes: tuple[str, ...]) -> int | None:
    """How many decimals the currency has; where it is open, the most that any of its meanings has."""
    if currency:
        return EXPONENTS.get(currency)
    return max((EXPONENTS[code] for code in codes), default=None)


def _beside(text: str, marks: list[Mention], start: int, end: int) -> tuple[list[Mention], list[Mention]]:
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


def _confirmed(marks: list[Mention], hint: str | None) -> list[Mention]:
    """Drop the marks that are currencies only if a hint says so, and didn't."""
    if not any(mark.text in WEAK for mark in marks):
        return marks
    hinted = _hinted(hint)
    return [mark for mark in marks if mark.text not in WEAK or any(code in hinted for code in mark.codes)]


def _agreed(left: list[Mention], right: list[Mention]) -> tuple[tuple[str, ...], str]:
    beside = [*left, *right]
    if not beside:
        return (), ""
    codes = beside[0].codes
    for mark in beside[1:]:
        both = tuple(code for code in mark.codes if code in codes)
        codes = both or (codes if codes else mark.codes)
    return codes, beside[0].text


def _assign_roles(candidates: list[_Candidate]) -> None:
    for index, one in enumerate(candidates):
        previous = candidates[index - 1] if index else None
        following = candidates[index + 1] if index + 1 < len(candidates) else None
        one.role = _role(one, previous, following)
        one.from_ = bool(words.FROM_BEFORE.search(one.before) or words.FROM_AFTER.search(one.after))


def _role(one: _Candidate, previous: _Candidate | None, following: _Candidate | None) -> str:
    if not one.has_currency and words.QUANTITY_AFTER.search(one.after):
        return "quantity"
    if previous and _is_count(previous):
        if words.TIMES_BETWEEN.search(one.before):
            previous.role = "quantity"
            return "instalment"
        if one.has_currency and words.MULTI_BUY.search(one.before):
            previous.role = "quantity"
            return "multi_buy"
    if words.PERIOD_AFTER.search(one.after) or words.INSTALMENT_BEFORE.search(one.before):
        return "instalment"
    if following and _is_count(following) and words.TIMES_AFTER.search(one.after):
        return "instalment"
    if words.PER_UNIT_AFTER.search(one.after) or words.UNIT_PRICE_BEFORE.search(one.before):
        return "per_unit"
    if previous and not previous.has_currency and words.UNIT_IS_BEFORE.search(one.before):
        return "per_unit"
    if following and words.PER_AFTER.search(one.after) and words.QUANTITY_AFTER.search(following.after):
        return "per_unit"
    if words.SAVING_BEFORE.search(one.before) and not _is_dash_of_a_range(one, previous):
        return "saving"
    if words.SAVING_AFTER.search(one.after):
        return "saving"
    if words.FEE_BEFORE.search(one.before) or words.FEE_AFTER.search(one.after):
        return "fee"
    if words.NOW_BEFORE.search(one.before):
        return "now"
    if words.WAS_BEFORE.search(one.since_money):
        return "was"
    return _tax_role(one, previous)


def _tax_role(one: _Candidate, previous: _Candidate | None) -> str:
    """A label between two amounts belongs to the first, unless a colon says otherwise."""
    labelled = one.before if previous is None or one.before.rstrip().endswith(":") else ""
    if words.NET_AFTER.search(one.after) or words.NET_BEFORE.search(labelled):
        return "net"
    if words.GROSS_AFTER.search(one.after) or words.GROSS_BEFORE.search(labelled):
        return "gross"
    return "money"


def _is_count(one: _Candidate) -> bool:
    return not one.has_currency and one.body.isdigit() and len(one.body) <= 3


def _is_dash_of_a_range(one: _Candidate, previous: _Candidate | None) -> bool:
    """Whether the dash before an amount stands between two things: only one that touches the amount is a minus."""
    return one.before.endswith(("- ", "– ", "− ")) or (previous is not None and one.before.strip() in ("-", "–", "−"))


def _money(candidates: list[_Candidate]) -> list[_Candidate]:
    """Drop counts and measures, and bare numbers beside amounts that name their currency."""
    money = [one for one in candidates if one.role != "quantity"]
    if not any(one.has_currency for one in money):
        return money
    kept = []
    for index, one in enumerate(money):
        partner = money[index + 1] if index + 1 < len(money) else None
        in_range = (
            partner is not None
            and partner.has_currency
            and one.amount <= partner.amount
            and words.RANGE_BETWEEN.search(one.after)
            and not one.after.startswith(" - ")
        )
        if one.has_currency or in_range:
            kept.append(one)
    return kept


_NOT_A_PRICE: dict[str, Kind] = {
    "instalment": "instalment",
    "per_unit": "per_unit",
    "multi_buy": "multi_buy",
    "saving": "saving",
    "fee": "fee",
}


def _chosen(money: list[_Candidate], hint: str | None, decimal: str | None, text: str) -> Price:
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


def _range(first: _Candidate, second: _Candidate, hint: str | None, decimal: str | None) -> Price:
    if not first.has_currency:
        first.codes, first.symbol = second.codes, second.symbol
    if first.amount == second.amount:
        return _price(first, hint, decimal)
    price = _price(first, hint, decimal, kind="range")
    return replace(price, low=first.amount, high=second.amount, ambiguous=price.ambiguous or second.ambiguous)


def _doubt(first: _Candidate, current: list[_Candidate], text: str) -> str:
    others = {one.amount for one in current if not one.before.rstrip().endswith("(")} - {first.amount}
    if others:
        return f"{text!r} holds several amounts"
    if not first.has_currency and re.match(r"\s?[^\W\d_]", first.after) and first.role == "money":
        return f"{text!r} names no currency, and its number may count something"
    return ""


def _price(
    one: _Candidate, hint: str | None, decimal: str | None, *, kind: Kind = "exact", note: str = "", doubtful: str = ""
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


def _hinted(hint: str | None) -> tuple[str, ...]:
    """The currencies that a hint names: a code, a symbol, or a text in which they stand beside a number."""
    if not hint:
        return ()
    if hint in EXPONENTS:
        return (hint,)
    whole = currencies_named(hint)
    if whole:
        return _usual(hint.strip(), whole)
    text = _cleaned(hint)
    head = re.match(r"([^\W\d_.]+\.?)(?=\s*[/(])", text)
    if head and currencies_named(head[1]):
        return currencies_named(head[1])
    marks = mentions(text)
    touching = [
        mark for match in AMOUNT.finditer(text) for side in _beside(text, marks, *match.span()) for mark in side
    ]
    codes = {_usual(mark.text, mark.codes) for mark in touching}
    return codes.pop() if len(codes) == 1 else ()


def _usual(symbol: str, codes: tuple[str, ...]) -> tuple[str, ...]:
    return (USUAL[symbol],) if symbol in USUAL else codes
