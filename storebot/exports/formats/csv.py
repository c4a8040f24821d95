"""CSV as RFC 4180 has it, in UTF-8: for spreadsheets and for programs."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from storebot.core.export.cells import encodable, neutralised, text
from storebot.core.export.columns import Column, Kind, Row
from storebot.exports.format import Format

_NEVER_FORMULAS = (Kind.MONEY, Kind.INTEGER, Kind.TIME)


class CSV(Format):
    """A header, CRLF at the ends of lines, quotes where they are needed. No byte order mark.

    A text that a spreadsheet would run as a formula has an apostrophe before it, counted in the manifest. Unknown is
    empty.
    """

    name = "csv"
    suffix = ".csv"
    about = "CSV (RFC 4180, UTF-8); formulas are neutralised"
    encoding: ClassVar[str] = "utf-8"

    def __init__(self, path: Path, what: str, columns: Sequence[Column]) -> None:
        super().__init__(path, what, columns)
        self._file = path.open("w", encoding=self.encoding, newline="")
        self._writer = csv.writer(self._file, lineterminator="\r\n")
        self._writer.writerow([column.name for column in columns])

    def write(self, rows: Sequence[Row]) -> None:
        self._writer.writerows([self._cell(column, row[column.name]) for column in self.columns] for row in rows)
        self.rows += len(rows)

    def close(self) -> None:
        self._file.close()

    @staticmethod
    def count(path: Path) -> int:
        csv.field_size_limit(2**31 - 1)
        try:
            with path.open(encoding="utf-8", newline="") as file:
                return sum(1 for _ in csv.reader(file, strict=True)) - 1
        except csv.Error as error:
            raise ValueError(f"no CSV: {error}") from error

    def _cell(self, column: Column, value: object) -> str:
        written = text(column, value)
        if written is None:
            return ""
        if column.kind in _NEVER_FORMULAS:
            return written
        return neutralised(encodable(written, self.notes), self.notes)


class MarkedCSV(CSV):
    """The same with a byte order mark: Excel, by double click, takes other files for the system's old encoding."""

    name = "csv-bom"
    suffix = ".bom.csv"
    about = "the same with a byte order mark, for Excel by double click"
    encoding = "utf-8-sig"
