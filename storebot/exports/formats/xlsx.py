"""XLSX for people: a formatted header, filters, real dates and money; numbers that are names stay text."""

from __future__ import annotations

import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lxml import etree

from storebot.core.export.cells import cell, escapable, text
from storebot.core.export.columns import Column, Kind, Row
from storebot.exceptions import ConfigurationError
from storebot.exports.format import Format

MOST_ROWS = 1_048_576  # of a sheet, the header's one of them
MOST_LINKS = 65_530  # of a sheet
_LINKS = ("url", "canonical_url", "main_image")
_WIDTHS = {Kind.TEXT: 16, Kind.MONEY: 12, Kind.INTEGER: 10, Kind.TIME: 19, Kind.LIST: 28, Kind.MAP: 28, Kind.FIELDS: 60}
_WIDE = {"name": 44, "url": 44, "url_key": 30, "description": 40, "store": 12, "status": 10, "currency": 9}
_ROW_POINTS = 14.25  # what is the default is left out of the file, and then it grows with the text
_ROW_TAG = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}row"


class XLSX(Format):
    """As many sheets as the rows need. Times are UTC. Text is never taken for a formula, a number or a link.

    Addresses of products can be clicked, as far as Excel holds so many links; the rest are text.
    """

    name = "xlsx"
    suffix = ".xlsx"
    about = "Excel workbook; more sheets where there are more rows than one holds"

    def __init__(self, path: Path, what: str, columns: Sequence[Column], *, most_rows: int = MOST_ROWS) -> None:
        super().__init__(path, what, columns)
        try:
            import xlsxwriter
        except ModuleNotFoundError as error:
            raise ConfigurationError(
                f"--format xlsx: {error}; install it with `pip install 'storebot[export]'`"
            ) from error
        self._most_rows = most_rows
        self._book = xlsxwriter.Workbook(path, {"constant_memory": True, "use_zip64": True})
        self._header = self._book.add_format({"bold": True, "bg_color": "#1F3A5F", "font_color": "#FFFFFF"})
        self._text = self._book.add_format({"num_format": "@"})
        self._lines = self._book.add_format({"num_format": "@", "text_wrap": True, "valign": "top"})
        self._time = self._book.add_format({"num_format": "yyyy-mm-dd hh:mm:ss"})
        self._link = self._book.get_default_url_format()
        self._money: dict[int, Any] = {}
        self._sheets = 0
        self._begin()

    def write(self, rows: Sequence[Row]) -> None:
        for row in rows:
            if self._next == self._most_rows:
                self._end()
                self._begin()
            for place, column in enumerate(self.columns):
                value = row[column.name]
                if value is not None:
                    self._put(place, column, value)
            self._next += 1
        self.rows += len(rows)

    def close(self) -> None:
        from xlsxwriter.exceptions import FileCreateError

        self._end()
        try:
            self._book.close()
        except FileCreateError as error:  # an OSError in wrapping: a full disk, for one
            raise OSError(f"{self.path.name}: {error}") from error

    @staticmethod
    def count(path: Path) -> int:
        rows = 0
        try:
            with zipfile.ZipFile(path) as book:
                sheets = [name for name in book.namelist() if name.startswith("xl/worksheets/sheet")]
                for sheet in sheets:
                    with book.open(sheet) as file:
                        for _, row in etree.iterparse(file, tag=_ROW_TAG, resolve_entities=False):
                            rows += 1
                            row.clear()
                            while row.getprevious() is not None:
                                del row.getparent()[0]
        except (zipfile.BadZipFile, etree.XMLSyntaxError) as error:
            raise ValueError(f"no XLSX: {error}") from error
        return rows - len(sheets)

    def _begin(self) -> None:
        self._sheets += 1
        title = self.what.capitalize() if self._sheets == 1 else f"{self.what.capitalize()} {self._sheets}"
        self._sheet = self._book.add_worksheet(title)
        self._sheet.freeze_panes(1, 0)
        self._sheet.set_landscape()
        self._sheet.repeat_rows(0)
        for place, column in enumerate(self.columns):
            self._sheet.set_column(place, place, _WIDE.get(column.name, _WIDTHS[column.kind]))
        for place, column in enumerate(self.columns):
            suffix = " (UTC)" if column.kind is Kind.TIME else ""
            self._sheet.write_string(0, place, column.name + suffix, self._header)
        self._next, self._links = 1, 0

    def _end(self) -> None:
        self._sheet.autofilter(0, 0, max(self._next - 1, 1), len(self.columns) - 1)

    def _put(self, place: int, column: Column, value: Any) -> None:
        if column.kind is Kind.MONEY:
            self._sheet.write_number(self._next, place, float(value), self._amount(-value.as_tuple().exponent))
        elif column.kind is Kind.INTEGER:
            self._sheet.write_number(self._next, place, value)
        elif column.kind is Kind.TIME:
            self._sheet.write_datetime(self._next, place, value.replace(tzinfo=None), self._time)
        elif written := text(column, value):
            if column.name in _LINKS and self._is_linked(place, written):
                return
            content = self._cell(written)
            if "\n" in content:  # LibreOffice would draw its lines over the rows beside
                self._sheet.set_row(self._next, _ROW_POINTS)
            self._sheet.write_string(self._next, place, content, self._lines if "\n" in content else self._text)

    def _is_linked(self, place: int, url: str) -> bool:
        """Write an address that can be clicked; False where it has to be text."""
        if not url.startswith(("http://", "https://")) or len(url) > 2_000 or self._links >= MOST_LINKS:
            return False
        self._links += 1
        return bool(self._sheet.write_url(self._next, place, url, self._link, string=self._cell(url)) == 0)

    def _cell(self, value: str) -> str:
        return escapable(cell(value, self.notes), self.notes)

    def _amount(self, decimals: int) -> Any:
        if decimals not in self._money:
            shown = f"#,##0.{'0' * decimals}" if decimals else "#,##0"
            self._money[decimals] = self._book.add_format({"num_format": shown})
        return self._money[decimals]
