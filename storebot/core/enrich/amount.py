"""How much of a thing there is, by what a text says: "500 g", "6 x 0,33 l", "1.5L", "2-pack"."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import NamedTuple

from storebot.core.enrich.amount_words import (
    BY_LENGTH,
    CAPACITY,
    IMPERIAL_FLUID_OUNCE,
    LIMIT_BEFORE,
    NET_LABEL,
    PACK_OF,
    PIECES,
    PIECES_PACK,
    UNITS,
)
from storebot.core.parsing.price_text import plain_text

KG, LITRE, METRE, PIECE = "kg", "l", "m", "piece"
_SAME = Decimal("0.03")  # "12 oz / 340 g": two spellings of one amount, each rounded
_MAX_TEXT = 2_000

_NUMBER = r"(?P<{name}>\d{{1,6}}(?:[.,]\d{{1,4}})?)"
_SPELLINGS = {unit.replace(" ", ""): meaning for unit, meaning in UNITS.items()}
_UNIT = "|".join(sorted((unit.replace(" ", "[ .]{0,2}") for unit in UNITS), key=len, reverse=True))
_TIMES = r"[ ]?[x×*✕][ ]?"
_ALONE = r"(?<![\w.,])(?<!\d[/–x×*~-])(?<!\d[–x×*~-][ ])(?<!\d[ ][–x×*~-][ ])"  # "10-15 kg", "3 x 4 x 5 m": no amounts
# Behind a unit no letter, power, rate or further factor: 16 gb, 10 m², 80 g/m², 5 mg/ml.
_MENTION = re.compile(
    rf"{_ALONE}(?:{_NUMBER.format(name='count')}{_TIMES})?{_NUMBER.format(name='size')}(?P<gap>[ -]?)(?P<unit>{_UNIT})"
    rf"(?![\w²³^]|[ ]?/[ ]?[^\W\d]|{_TIMES}\d+(?:[.,]\d+)?(?:{_TIMES}|[ ]?(?:{_UNIT})\b)|[ ]?[–-][ ]?\d)"
    rf"(?:{_TIMES}(?P<after>\d{{1,4}})(?![\w²³]))?",
    re.IGNORECASE,
)
_PIECES = re.compile(
    rf"{_ALONE}(?:(?P<a>\d{{1,5}})[ -]?(?:{PIECES}|{PIECES_PACK})|(?:{PACK_OF})[ ](?P<b>\d{{1,5}}))(?![\w²³]|[.,]\d)",
    re.IGNORECASE,
)
_LIMIT = re.compile(rf"(?:\b(?:{LIMIT_BEFORE})|[<>≤≥~+])[ :]{{0,2}}$", re.IGNORECASE)
_CAPACITY = re.compile(rf"(?:{CAPACITY})", re.IGNORECASE)
_BY_LENGTH = re.compile(rf"(?:{BY_LENGTH})", re.IGNORECASE)
_NET_LABEL = re.compile(rf"\b(?:{NET_LABEL})[ ]?:[ ]?(?P<rest>.{{1,40}})", re.IGNORECASE)
_NO_GRAMS = re.compile(r"[2-6][gG]|(?:8|16|32|64|128|256|512)G")  # 5G is a radio, 16G are bytes
_HEAD = re.compile(r"\d $")  # "2 500 g": two and a half kilos, or number two


class Amount(NamedTuple):
    """A quantity of one of the four units, exactly."""

    quantity: Decimal
    unit: str  # kg | l | m | piece

    def agrees(self, other: Amount) -> bool:
        """Whether both are spellings of one amount."""
        low, high = sorted((self.quantity, other.quantity))
        return self.unit == other.unit and high - low <= _SAME * high


def read_amount(text: str, *, imperial: bool = False, context: str = "") -> Amount | None:
    """Return the one amount that a text states; None where it states none, or two that differ.

    Pieces count only where nothing is weighed or measured, and both together ("2-pack 500 g") are ambiguous: each, or
    in all? A volume is none where the text or its ``context`` (name, category) speaks of what holds things (a kettle
    of 1.7 l), a length only where they speak of what is sold by it (cable, tape). ``imperial`` has the fluid ounce be
    the British one.
    """
    plain = plain_text(text[:_MAX_TEXT])
    pieces = {int(match["a"] or match["b"]) for match in _PIECES.finditer(plain)}
    matches = list(_MENTION.finditer(plain))
    if pieces:
        count = pieces.pop()
        return Amount(Decimal(count), PIECE) if count and not pieces and not matches else None
    room = _CAPACITY.search(f"{plain} {context}") is not None
    by_length = _BY_LENGTH.search(f"{plain} {context}") is not None
    trusted = {KG: True, LITRE: not room, METRE: by_length}
    ounce = IMPERIAL_FLUID_OUNCE if imperial else _SPELLINGS["floz"][1]
    for fluid in (False, True):  # "16 oz (473 ml)": then its ounces are fluid
        if amount := _agreed([_amount(match, ounce, fluid=fluid, trusted=trusted) for match in matches]):
            return amount
    return None


def labelled(text: str) -> str:
    """Return what stands behind "net weight:", "contents:" and their like in other languages; "" where none does."""
    match = _NET_LABEL.search(plain_text(text[: 10 * _MAX_TEXT]))
    return match["rest"] if match else ""


def _agreed(amounts: Sequence[Amount | None]) -> Amount | None:
    """Return the roundest of the amounts, which is the metric one; None unless all are there and agree."""
    known = [amount for amount in amounts if amount is not None]
    if not known or len(known) < len(amounts) or not all(amount.agrees(known[0]) for amount in known):
        return None
    return min(known, key=lambda amount: len(amount.quantity.normalize().as_tuple().digits))


def _amount(match: re.Match[str], ounce: Decimal, *, fluid: bool, trusted: Mapping[str, bool]) -> Amount | None:
    """Read one mention; None where it can't be trusted."""
    spelled = re.sub(r"[ .]", "", match["unit"].lower())
    unit, factor = _SPELLINGS[spelled]
    if spelled.startswith("fl") or (fluid and spelled in ("oz", "ounce", "ounces")):
        unit, factor = LITRE, ounce
    numbers = [number for name in ("size", "count", "after") if (number := match[name])]
    values = [value for number in numbers if (value := _number(number))]
    before = match.string[: match.start()]
    if (
        not trusted[unit]
        or len(values) < len(numbers)
        or len(values) > (1 if unit == METRE else 2)
        or _LIMIT.search(before)
        or (_HEAD.search(before) and re.match(r"\d{3}(?![\d.,])", match[0]))
        or (not match["gap"] and _NO_GRAMS.fullmatch(match[0]))
    ):
        return None
    return Amount(math.prod(values, start=factor), unit)


def _number(text: str) -> Decimal | None:
    """Return a number above 0; None for "1.500", which is two numbers in two countries ("0.500" is one)."""
    whole, _, decimals = text.replace(",", ".").partition(".")
    if len(decimals) == 3 and int(whole) and len(whole) <= 3:
        return None
    return Decimal(f"{whole}.{decimals or 0}") or None
