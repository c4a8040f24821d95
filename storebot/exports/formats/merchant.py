"""Product feeds in the words of Google Merchant, as TSV and as RSS 2.0."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

from lxml import etree

from storebot.core.export.cells import cell
from storebot.core.export.columns import Column, Row
from storebot.core.export.merchant import FIELDS, product
from storebot.exports.format import Format

_NAMESPACE = "http://base.google.com/ns/1.0"


class MerchantTSV(Format):
    """Tab-separated, the header has Google's names; several images are joined by commas. Active listings only."""

    name = "merchant"
    suffix = ".merchant.tsv"
    about = "Google Merchant feed, TSV"
    only = ("listings",)
    needs_all_columns = True

    def __init__(self, path: Path, what: str, columns: Sequence[Column]) -> None:
        super().__init__(path, what, columns)
        self._file = path.open("w", encoding="utf-8", newline="")
        self._writer = csv.writer(self._file, delimiter="\t", lineterminator="\n")
        self._writer.writerow(FIELDS)

    def write(self, rows: Sequence[Row]) -> None:
        for row in rows:
            if found := product(row, self.notes):
                self._writer.writerow([_joined(found.get(name, "")) for name in FIELDS])
                self.rows += 1

    def close(self) -> None:
        self._file.close()

    @staticmethod
    def count(path: Path) -> int:
        csv.field_size_limit(2**31 - 1)
        with path.open(encoding="utf-8", newline="") as file:
            return sum(1 for _ in csv.reader(file, delimiter="\t")) - 1


class MerchantXML(Format):
    """RSS 2.0 with Google's names in their namespace, one ``item`` a product. Active listings only."""

    name = "merchant-xml"
    suffix = ".merchant.xml"
    about = "Google Merchant feed, RSS 2.0"
    only = ("listings",)
    needs_all_columns = True

    def __init__(self, path: Path, what: str, columns: Sequence[Column]) -> None:
        super().__init__(path, what, columns)
        self._file = path.open("w", encoding="utf-8", newline="\n")
        self._file.write(
            f'<?xml version="1.0" encoding="UTF-8"?>\n<rss version="2.0" xmlns:g="{_NAMESPACE}">\n<channel>\n'
            "<title>Products</title>\n<description>Active listings, by storebot</description>\n"
        )

    def write(self, rows: Sequence[Row]) -> None:
        for row in rows:
            if found := product(row, self.notes):
                self._file.write(f"<item>{''.join(self._elements(found))}</item>\n")
                self.rows += 1

    def close(self) -> None:
        self._file.write("</channel>\n</rss>\n")
        self._file.close()

    @staticmethod
    def count(path: Path) -> int:
        count = 0
        try:
            for _, item in etree.iterparse(path, tag="item", resolve_entities=False):
                count += 1
                item.clear()
                while item.getprevious() is not None:
                    del item.getparent()[0]
        except etree.XMLSyntaxError as error:
            raise ValueError(f"no XML: {error}") from error
        return count

    def _elements(self, found: dict[str, Any]) -> list[str]:
        values = [
            (name, one) for name, value in found.items() for one in (value if isinstance(value, list) else [value])
        ]
        return [f"<g:{name}>{escape(cell(value, self.notes))}</g:{name}>" for name, value in values]


def _joined(value: Any) -> str:
    return ",".join(one.replace(",", "%2C") for one in value) if isinstance(value, list) else value
