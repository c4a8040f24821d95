"""Numbers as shops print them, read into `Decimal`: which separator groups, which one is the decimal point."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import NamedTuple

# "1 298,00" · "1.837, 32" · "1'049.95" · ".99" · "1.299,-" · "105. –" · "610,"
AMOUNT = re.compile(
    r"""(?<!\d)(?P<lead>[.,]{0,2})
    (?P<body>\d{1,3}(?:[ ']\d{3})+(?!\d)(?:[.,]\d+|[.,][ ]\d\d(?!\d))?
           | \d+(?:[.,']\d+)*(?:[.,][ ]\d\d(?![\d.,]))?)
    (?P<whole>[.,:][ ]?[-–—=]+)?""",
    re.VERBOSE,
)
_MAX_DIGITS = 15  # before the decimal point; a longer run is a code or a phone number
_INDIAN = re.compile(r"\d{1,3}(?:,\d\d)+,\d{3}")  # 1,23,456


class Reading(NamedTuple):
    """A number, and whether its text could as well mean another one."""

    value: Decimal
    ambiguous: bool = False


def read_amount(
    body: str, *, lead: bool = False, whole: bool = False, decimal: str | None, digits: int | None
) -> Reading | None:
    """Read the text of one number; None where no convention writes numbers like this (a date, a version).

    ``lead`` says that a separator precedes the first digit (``.99``), ``whole`` that the text marks a round amount
    (``1.299,-``), ``decimal`` is the separator that the store declares, ``digits`` the decimals of the currency.
    One separator with three digits behind it is the classic trap ('3.350'): the declared separator decides; else the
    currency, since a price with more decimals than its currency has is rarer than one with a thousands separator; else
    thousands, ambiguous.
    """
    body = body.replace(" ", "").replace("'", "")
    if lead and not any(mark in body for mark in ".,"):
        return _reading("0." + body)
    if decimal in (".", ",") and not whole:
        reading = _declared(body, decimal, digits)
    else:
        reading = _structural(body, whole, digits)
    # A mark before a number that has marks of its own ("$.75,333") is punctuation, or the number is broken.
    return Reading(reading.value, True) if lead and reading else reading


def _declared(body: str, decimal: str, digits: int | None) -> Reading | None:
    group = "," if decimal == "." else "."
    head, point, tail = body.rpartition(decimal) if decimal in body else (body, "", "")
    contradicts = decimal in head or group in tail or not _grouped(head, group)
    if contradicts:
        # The page doesn't write numbers the way its store declares: what the digits themselves say, but flagged.
        reading = _structural(body, False, digits)
        return reading and Reading(reading.value, True)
    return _reading(f"{head.replace(group, '')}{'.' if point else ''}{tail}")


def _structural(body: str, whole: bool, digits: int | None) -> Reading | None:
    marks = [mark for mark in body if mark in ".,"]
    if not marks:
        return _reading(body)
    last = marks[-1]
    head, _, tail = body.rpartition(last)
    if len(set(marks)) == 2:
        group = "," if last == "." else "."
        if marks.count(last) == 1 and _grouped(head, group):
            return _reading(f"{head.replace(group, '')}.{tail}")
        return None
    if len(marks) > 1:
        return _repeated(body, head, tail, last)
    if len(tail) != 3:
        return _reading(f"{head}.{tail}")
    if whole:
        return _reading(head + tail)
    if len(head) > 3 or head.startswith("0"):
        return _reading(f"{head}.{tail}")
    if digits is None:
        return _reading(head + tail, ambiguous=True)
    if digits >= 3:
        return _reading(f"{head}.{tail}", ambiguous=True)
    return _reading(head + tail)


def _repeated(body: str, head: str, tail: str, mark: str) -> Reading | None:
    if _grouped(body, mark):
        return _reading(body.replace(mark, ""))
    if len(tail) == 2 and _grouped(head, mark):  # "1.299.00": groups and a point that look alike
        return _reading(f"{head.replace(mark, '')}.{tail}")
    return None


def _grouped(text: str, mark: str) -> bool:
    """Whether the text is a whole number, and its separators, if any, stand where groups of digits end."""
    first, *rest = text.split(mark)
    if not rest:
        return first.isdigit() or not first
    return (1 <= len(first) <= 3 and all(len(part) == 3 for part in rest)) or bool(
        mark == "," and _INDIAN.fullmatch(text)
    )


def _reading(text: str, *, ambiguous: bool = False) -> Reading | None:
    whole = text.partition(".")[0].lstrip("0")
    if len(whole) > _MAX_DIGITS or len(text) > 2 * _MAX_DIGITS:
        return None
    return Reading(Decimal(text), ambiguous)
