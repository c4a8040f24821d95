"""``--filter``: which rows of an export are wanted."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal, InvalidOperation
from typing import Any, NamedTuple

from storebot.core.export.cells import text
from storebot.core.export.columns import COLUMNS, Column, Kind, Row

_WRITTEN = re.compile(r"([a-z_]+)\s*(!=|<=|>=|=|<|>|~)\s*(.*)", re.DOTALL)
_ORDERED = (Kind.MONEY, Kind.INTEGER, Kind.TIME)


class Filter(NamedTuple):
    """One condition on one column."""

    column: Column
    sign: str  # = != < <= > >= ~
    value: Any

    def admits(self, row: Row) -> bool:
        """Whether a row meets it. What isn't known equals the empty text alone, and is in no order."""
        found = row.get(self.column.name)
        if self.sign in ("=", "!="):
            return (self._comparable(found) == self.value) is (self.sign == "=")
        if self.sign == "~":
            return str(self.value).casefold() in (text(self.column, found) or "").casefold()
        if found is None:
            return False
        ours = text(self.column, found) if self.column.kind is Kind.TIME else found
        if self.sign == "<":
            return bool(ours < self.value)
        if self.sign == "<=":
            return bool(ours <= self.value)
        if self.sign == ">":
            return bool(ours > self.value)
        return bool(ours >= self.value)

    def _comparable(self, found: Any) -> Any:
        if self.column.kind in (Kind.MONEY, Kind.INTEGER) and found is not None:
            return found
        return text(self.column, found) or ""


def parse(what: str, written: Sequence[str]) -> tuple[Filter, ...]:
    """Read conditions such as ``brand=Acme``, ``price<=20``, ``name~anvil``, ``gtin!=``; a row has to meet all.

    Signs: ``=`` ``!=`` ``<`` ``<=`` ``>`` ``>=``, and ``~`` for texts that contain it, whatever the case. ValueError
    says which condition can't be read, and why.
    """
    return tuple(_one(what, text) for text in written)


def _one(what: str, written: str) -> Filter:
    found = _WRITTEN.fullmatch(written.strip())
    if found is None:
        raise ValueError(f"--filter {written!r}: expected COLUMN SIGN VALUE, such as 'brand=Acme' or 'price<20'")
    name, sign, value = found.groups()
    known = {column.name: column for column in COLUMNS[what]}
    if name not in known:
        raise ValueError(f"--filter {written!r}: {what} have no column {name!r}: choose of {', '.join(known)}")
    column = known[name]
    if sign in ("<", "<=", ">", ">=") and column.kind not in _ORDERED:
        raise ValueError(f"--filter {written!r}: {name} is {column.kind}, which is in no order: use =, != or ~")
    if column.kind in (Kind.MONEY, Kind.INTEGER) and sign != "~" and value:
        return Filter(column, sign, _number(written, value))
    return Filter(column, sign, value)


def _number(written: str, value: str) -> Decimal:
    try:
        number = Decimal(value)
    except InvalidOperation:
        number = Decimal("nan")
    if not number.is_finite():
        raise ValueError(f"--filter {written!r}: {value!r} is no number; write 1234.50")
    return number
