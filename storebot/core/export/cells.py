"""Values as text and cells: what CSV, a spreadsheet or JSON can hold of them, and what must be changed for it."""

from __future__ import annotations

import re
from collections import Counter
from datetime import datetime
from decimal import Decimal
from typing import Any

import orjson

from storebot.core.export.columns import Column, Kind, iso

LONGEST_CELL = 32_767
"""UTF-16 units that a cell of a spreadsheet holds: Excel's limit."""
CUT = " […]"

# What a spreadsheet takes for the start of a formula (OWASP, CSV Injection).
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]")
_SURROGATES = re.compile("[\ud800-\udfff]")
_ESCAPES_THAT_SHARE = re.compile("(?<=_x[0-9A-Fa-f]{4})_(?=x[0-9A-Fa-f]{4}_)")
REPLACEMENT = "\N{REPLACEMENT CHARACTER}"


class Notes(Counter[str]):
    """How many cells of a file were changed, and how: for its manifest."""


def text(column: Column, value: Any) -> str | None:
    """Return a value as plain text: decimals with a point, times as ISO 8601, lists and maps as JSON.

    A path of categories is joined by " > ". None stays None.
    """
    if value is None:
        return None
    if column.kind is Kind.TIME:
        return iso(value)
    if column.kind in (Kind.MAP, Kind.FIELDS):
        return orjson.dumps(jsonable(value), option=orjson.OPT_SORT_KEYS).decode() if value else None
    if column.kind is Kind.LIST:
        if not value:
            return None
        return " > ".join(value) if column.name == "category_path" else orjson.dumps(jsonable(value)).decode()
    return f"{value:f}" if isinstance(value, Decimal) else str(value)


def neutralised(value: str, notes: Notes) -> str:
    """Return a text that no spreadsheet runs: an apostrophe goes before what looks like a formula (case O01)."""
    if value.startswith(_FORMULA):
        notes["neutralised"] += 1
        return f"'{value}"
    return value


def encodable(value: str, notes: Notes) -> str:
    """Return a text that UTF-8 can hold: half a pair of surrogates becomes U+FFFD."""
    if value.isascii() or not _SURROGATES.search(value):
        return value
    notes["replaced"] += 1
    return _SURROGATES.sub(REPLACEMENT, value)


def cell(value: str, notes: Notes) -> str:
    """Return a text that a cell of XLSX can hold (cases O04, O08).

    Characters that XML can't hold become U+FFFD; a text that is too long is cut between two characters, and says so.
    Every line ends as Excel's own do, with LF.
    """
    if "\r" in value:
        value = value.replace("\r\n", "\n").replace("\r", "\n")
    if _NOT_XML.search(value):
        notes["replaced"] += 1
        value = _NOT_XML.sub(REPLACEMENT, value)
    if len(value) * 2 > LONGEST_CELL and _units(value) > LONGEST_CELL:
        notes["truncated"] += 1
        value = _cut(value, LONGEST_CELL - len(CUT)) + CUT
    return value


def escapable(value: str, notes: Notes) -> str:
    """Return a text that XlsxWriter escapes right: of two ``_xHHHH_`` with a common underscore it sees one."""
    if "_x" in value and _ESCAPES_THAT_SHARE.search(value):
        notes["replaced"] += 1
        return _ESCAPES_THAT_SHARE.sub(REPLACEMENT, value)
    return value


def _units(value: str) -> int:
    return len(value) + sum(character > "\uffff" for character in value)


def _cut(value: str, units: int) -> str:
    kept = 0
    for place, character in enumerate(value):
        kept += 2 if character > "\uffff" else 1
        if kept > units:
            return value[:place]
    return value


def jsonable(value: Any) -> Any:
    """Return a value as JSON has it: money as decimal text, times as ISO 8601, text that UTF-8 can hold."""
    if isinstance(value, str):
        return value if value.isascii() else _SURROGATES.sub(REPLACEMENT, value)
    if isinstance(value, Decimal):
        return f"{value:f}"
    if isinstance(value, datetime):
        return iso(value)
    if isinstance(value, dict):
        return {jsonable(name): jsonable(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [jsonable(one) for one in value]
    return value
