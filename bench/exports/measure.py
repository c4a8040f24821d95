"""``python -m bench exports``: time and peak memory of each format, beside pandas and polars from the same database."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench import measure, report, table
from bench.crawl import say
from bench.exports.reading import MOST_GB
from bench.exports.store import STORE, make
from bench.shop import ROOT
from storebot.exports.format import formats

FULL, QUICK = 1_000_000, 20_000
OTHERS = {"pandas": ("csv", "jsonl", "parquet", "xlsx"), "polars": ("csv", "jsonl", "parquet")}
"""What the others write. Both have XLSX from the same library, so one of them is enough."""
FLAT_MB = 400
"""The promise: memory that the rows don't make grow; Arrow's and SQLite's own buffers are in it."""
_TIMEOUT_S = 3600
_MB = 1024 * 1024


def exports(*, rows: int, write: bool) -> int:
    """Export a store of so many listings in each format, print the table; return 1 where memory grew with the rows."""
    with tempfile.TemporaryDirectory(prefix="storebot-bench-") as folder:
        path = Path(folder) / "bench.db"
        say(f"exports: a store of {rows:,} listings")
        make(path, rows)
        found = []
        for one in _measured(Path(folder), path, rows):
            say(f"exports: {one}")
            found.append(one)
    most = max(one["peak_mb"] for one in found if one["by"] == "storebot")
    text = _text(found, rows, most)
    print(text)
    if write:
        report.write("exports", text, {"machine": report.machine(), "rows": rows, "exports": found})
    return int(most > FLAT_MB)


def _measured(folder: Path, path: Path, rows: int) -> Iterator[dict[str, Any]]:
    for name, kind in formats().items():
        yield _ours(folder / name, path, rows, name)
        for by in (one for one, theirs in OTHERS.items() if name in theirs):
            yield _theirs(folder / f"{by}{kind.suffix}", path, name, by)


def _ours(out: Path, path: Path, rows: int, name: str) -> dict[str, Any]:
    argv = [sys.executable, "-m", "scrapy", "export", "--store", STORE, "--json", f"--format={name}", f"--out={out}"]
    used = measure.run(argv, env={"STOREBOT_DATABASE_URL": f"sqlite:///{path}"}, cwd=ROOT, timeout_s=_TIMEOUT_S)
    if used.summary["rows"] != rows:
        raise measure.RunFailed(f"{name}: {used.summary['rows']} of {rows} rows")
    (file,) = [one for one in used.summary["files"] if one["format"] == name]
    return _line("storebot", name, used, file["size_bytes"])


def _theirs(file: Path, path: Path, name: str, by: str) -> dict[str, Any]:
    argv = [sys.executable, "-m", f"bench.exports.with_{by}", str(path), name, str(file)]
    try:
        used = measure.run(argv, env={}, cwd=ROOT, timeout_s=_TIMEOUT_S)
        return _line(by, name, used, file.stat().st_size)
    except measure.RunFailed as error:
        text = str(error)
        memory = "MemoryError" in text or "memory allocation" in text or "malloc of size" in text
        why = f"more than {MOST_GB} GB" if memory else text.partition(":")[0]
        return {"by": by, "format": name, "failed": why}
    finally:
        file.unlink(missing_ok=True)


def _line(by: str, name: str, used: measure.Usage, size: int) -> dict[str, Any]:
    return {
        "by": by,
        "format": name,
        "wall_s": round(used.wall_s, 1),
        "cpu_s": round(used.cpu_s, 1),
        "peak_mb": round(used.peak_rss_bytes / _MB),
        "size_mb": round(size / _MB, 1),
    }


def _text(found: list[dict[str, Any]], rows: int, most: int) -> str:
    cells = {(one["format"], one["by"]): one for one in found}
    lines = []
    for name in formats():
        ours = cells[name, "storebot"]
        beside = [cell for by in OTHERS for cell in _beside(cells.get((name, by)))]
        lines.append([name, *_beside(ours), f"{ours['size_mb']} MB", *beside])
    others = [f"{by}: {what}" for by in OTHERS for what in ("CPU", "time", "peak memory")]
    head = ["format", "CPU", "time", "peak memory", "files", *others]
    kept = "kept" if most <= FLAT_MB else "**missed**"
    return f"""## What an export takes

`python -m bench exports`: {rows:,} listings in SQLite, each format by itself: rows are read in one snapshot, written,
synced and hashed. pandas and polars read the same table by one query and write it by one call, without a manifest and
with prices as floats; they may take {MOST_GB} GB. CPU is user and system time of all threads: where the machine is
shared with other work, it says more than the time does.

{report.facts(report.machine())}.

{table.markdown(head, lines)}

- {kept}: peak memory {most:,} MB (at most {FLAT_MB}, whatever the number of rows)
"""


def _beside(one: dict[str, Any] | None) -> list[str]:
    if one is None:
        return ["", "", ""]
    if "failed" in one:
        return ["–", "–", str(one["failed"])]
    return [f"{one['cpu_s']} s", f"{one['wall_s']} s", f"{one['peak_mb']:,} MB"]
