"""``python -m bench exports``: time and peak memory of each format, beside pandas from the same database."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench import measure, report, table
from bench.crawl import say
from bench.exports.store import STORE, make
from bench.shop import ROOT
from storebot.exports.format import formats

FULL, QUICK = 1_000_000, 20_000
PANDAS = ("csv", "jsonl", "parquet", "xlsx")
FLAT_MB = 400
"""The promise: memory that the rows don't make grow; Arrow's and SQLite's own buffers are in it."""
_MB = 1024 * 1024


def exports(*, rows: int, write: bool) -> int:
    """Export a store of so many listings in each format, print the table; return 1 where memory grew with the rows."""
    with tempfile.TemporaryDirectory(prefix="storebot-bench-") as folder:
        path = Path(folder) / "bench.db"
        say(f"exports: a store of {rows:,} listings")
        make(path, rows)
        found = [*_measured(Path(folder), path, rows)]
    most = max(one["peak_mb"] for one in found if one["by"] == "storebot")
    text = _text(found, rows, most)
    print(text)
    if write:
        report.write("exports", text, {"machine": report.machine(), "rows": rows, "exports": found})
    return int(most > FLAT_MB)


def _measured(folder: Path, path: Path, rows: int) -> Iterator[dict[str, Any]]:
    for name, kind in formats().items():
        out = folder / name
        argv = [
            sys.executable,
            "-m",
            "scrapy",
            "export",
            "--store",
            STORE,
            "--format",
            name,
            "--out",
            str(out),
            "--json",
        ]
        used = measure.run(argv, env={"STOREBOT_DATABASE_URL": f"sqlite:///{path}"}, cwd=ROOT)
        if used.summary["rows"] != rows:
            raise measure.RunFailed(f"{name}: {used.summary['rows']} of {rows} rows")
        (file,) = [one for one in used.summary["files"] if one["format"] == name]
        yield _line("storebot", name, used, file["size_bytes"])
        if name in PANDAS:
            other = folder / f"pandas{kind.suffix}"
            argv = [sys.executable, "-m", "bench.exports.with_pandas", str(path), name, str(other)]
            used = measure.run(argv, env={}, cwd=ROOT)
            yield _line("pandas", name, used, other.stat().st_size)
            other.unlink()


def _line(by: str, name: str, used: measure.Usage, size: int) -> dict[str, Any]:
    line = {"by": by, "format": name, "wall_s": round(used.wall_s, 1), "peak_mb": round(used.peak_rss_bytes / _MB)}
    say(f"exports: {line}")
    return {**line, "size_mb": round(size / _MB, 1)}


def _text(found: list[dict[str, Any]], rows: int, most: int) -> str:
    cells = {(one["format"], one["by"]): one for one in found}
    lines = []
    for name in formats():
        ours, theirs = cells[name, "storebot"], cells.get((name, "pandas"))
        beside = [f"{theirs['wall_s']} s", f"{theirs['peak_mb']:,} MB"] if theirs else ["", ""]
        lines.append([name, f"{ours['wall_s']} s", f"{ours['peak_mb']:,} MB", f"{ours['size_mb']} MB", *beside])
    head = ["format", "time", "peak memory", "file", "pandas: time", "pandas: peak memory"]
    kept = "kept" if most <= FLAT_MB else "**missed**"
    return f"""## What an export takes

`python -m bench exports`: {rows:,} listings in SQLite, each format by itself: rows are read in one snapshot, written,
synced and hashed. pandas reads the same table by one query and writes it by one call, without a manifest, and with
prices as floats.

{table.markdown(head, lines)}

- {kept}: peak memory {most:,} MB (at most {FLAT_MB}, whatever the number of rows)
"""
