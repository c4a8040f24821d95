"""What each format makes of any text, read back by another library: the same, or changed as it says and counted."""

from __future__ import annotations

import csv
import json
import re
import tempfile
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from lxml import etree
from pyarrow import parquet

from storebot.core.export.cells import CUT, LONGEST_CELL
from storebot.core.export.columns import LISTINGS, Row, chosen
from storebot.exports.format import Format, formats
from storebot.items import Availability

NASTY = st.one_of(
    st.text(st.characters(exclude_categories=()), max_size=30),
    st.text("=+-@'\t\r\n \"',;|_x0041\x00\x16\u200f\u05e9\ud83d\ude00😀é", max_size=20),
)
LONG = ["x" * 40_000, "😀" * 20_000, "=" + "é" * 40_000, "\ud83d" * 40_000, "\r\n" * 20_000]
BOUNDED = settings(max_examples=60, deadline=None)
WORST = (
    "=1+1",
    "\x00",
    "a\x00b",
    "\ud83d",
    "\ude00\ud83d",
    "שלום",
    "\u202egnp",
    "a\r\nb\rc",
    "'=x",
    "_x000D_",
    "_x005F_x000D_",
    "",
    " ",
    "\x85",
)


def listing_row(name: str) -> dict[str, Any]:
    """Return a row that a Merchant feed takes too, with a text in each kind of place."""
    row: dict[str, Any] = {column.name: None for column in LISTINGS}
    return row | {
        "store": "shop",
        "name": name,
        "description": name,
        "url": "https://shop.example/p/1",
        "url_key": "https://shop.example/p/1",
        "variant_id": "",
        "main_image": "https://shop.example/1.jpg",
        "status": "active",
        "availability": Availability.IN_STOCK.value,
        "price": None,
        "images": [name],
        "category_path": [name],
        "disagreements": [],
        "options": {name: name},
        "field_source": {},
    }


def written(name: str, rows: Sequence[Row], folder: str, columns: Sequence[str] = ()) -> Format:
    kind = formats()[name]
    made = kind(Path(folder) / f"listings{kind.suffix}", "listings", chosen("listings", [*columns]))
    made.write(rows)
    made.close()
    return made


def utf_8(text: str) -> str:
    """Return the text as UTF-8 can hold it."""
    return "".join("\ufffd" if "\ud800" <= one <= "\udfff" else one for one in text)


@given(st.lists(NASTY, max_size=5))
@example([*WORST])
@example(LONG)
@BOUNDED
def test_json_lines_and_parquet_have_any_text_as_it_is(names: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        rows = [listing_row(name) for name in names]
        lines = written("jsonl", rows, folder).path.read_bytes().decode().split("\n")
        read = [json.loads(line) for line in lines if line]
        table: list[dict[str, Any]] = parquet.read_table(written("parquet", rows, folder).path).to_pylist()
    for found in (read, table):
        assert [one["name"] for one in found] == [utf_8(name) for name in names]
        assert [one["category_path"] for one in found] == [[utf_8(name)] for name in names]
        assert [dict(one["options"]) for one in found] == [{utf_8(name): utf_8(name)} for name in names]


@pytest.mark.parametrize("name", ["csv", "csv-bom"])
@given(texts=st.lists(NASTY, max_size=5))
@example(texts=[*WORST])
@example(texts=LONG)
@BOUNDED
def test_csv_has_any_text_behind_an_apostrophe_at_most(name: str, texts: list[str]) -> None:
    """Cases O01, O12: by Python's reader, which is strict here; NUL is what it reads since 3.11."""
    csv.field_size_limit(2**31 - 1)
    with tempfile.TemporaryDirectory() as folder:
        made = written(name, [listing_row(text) for text in texts], folder, ["name", "sku"])
        content = made.path.read_bytes()
        with made.path.open(encoding="utf-8-sig" if name == "csv-bom" else "utf-8", newline="") as file:
            head, *rows = csv.reader(file, strict=True)
    assert content.startswith(b"\xef\xbb\xbf") is (name == "csv-bom")
    assert head == ["name", "sku"]
    starts = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
    assert [one for one, _ in rows] == [("'" if text.startswith(starts) else "") + utf_8(text) for text in texts]
    assert made.notes["neutralised"] == sum(text.startswith(starts) for text in texts)
    assert made.notes["replaced"] == sum(utf_8(text) != text for text in texts)


@given(st.lists(NASTY, max_size=5))
@example([*WORST])
@example(LONG)
@BOUNDED
def test_a_workbook_has_any_text_that_xml_can_hold_and_no_formula(texts: list[str]) -> None:
    """Cases O01, O04, O08."""
    with tempfile.TemporaryDirectory() as folder:
        made = written("xlsx", [listing_row(text) for text in texts], folder, ["name", "sku"])
        book = openpyxl.load_workbook(made.path)
        found = [row[0] for row in book.worksheets[0].iter_rows(min_row=2, max_row=1 + len(texts))]
    assert all(cell.data_type != "f" for cell in found)
    for cell, text in zip(found, texts, strict=True):
        expected = re.sub("(?<=_x[0-9A-Fa-f]{4})_(?=x[0-9A-Fa-f]{4}_)", "\ufffd", _as_xml(text))
        read = _unescaped(cell.value or "")
        if len(expected.encode("utf-16-le")) // 2 <= LONGEST_CELL:
            assert read == expected
        else:
            assert read.endswith(CUT)
            assert expected.startswith(read.removesuffix(CUT))
            assert LONGEST_CELL - 2 <= len(read.encode("utf-16-le")) // 2 <= LONGEST_CELL


def _unescaped(text: str) -> str:
    """Read the escapes of XLSX (ECMA-376 §22.9.2.19), which openpyxl does for shared texts alone."""
    return re.sub("_x([0-9A-Fa-f]{4})_", lambda found: chr(int(found[1], 16)), text)


def _as_xml(text: str) -> str:
    text = utf_8(text).replace("\r\n", "\n").replace("\r", "\n")
    return "".join(one if one in "\t\n" or (one >= " " and one not in "\ufffe\uffff") else "\ufffd" for one in text)


@given(st.lists(NASTY, max_size=5))
@example([*WORST])
@example(LONG)
@BOUNDED
def test_merchant_feeds_are_read_whatever_the_text(texts: list[str]) -> None:
    csv.field_size_limit(2**31 - 1)
    rows = [{**listing_row(f"x{text}"), "price": Decimal("9.99"), "currency": "EUR"} for text in texts]
    with tempfile.TemporaryDirectory() as folder:
        tsv, xml = written("merchant", rows, folder), written("merchant-xml", rows, folder)
        with tsv.path.open(encoding="utf-8", newline="") as file:
            table = [*csv.DictReader(file, delimiter="\t", strict=True)]
        items = etree.parse(xml.path, etree.XMLParser(huge_tree=True)).findall("channel/item")
    titles = [" ".join(f"x{utf_8(text)}".split())[:150] for text in texts]
    assert [row["title"] for row in table] == titles
    google = "{http://base.google.com/ns/1.0}"
    assert [item.findtext(f"{google}title") for item in items] == [_as_xml(title) for title in titles]
