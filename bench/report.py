"""Writes a section of docs/benchmarks.md between its markers, and the raw numbers beside it."""

from __future__ import annotations

import json
import os
import platform
import re
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from bench.shop import ROOT

PAGE = ROOT / "docs" / "benchmarks.md"
_HEAD = """# Benchmarks

Written by `make bench`; what stands between the markers is replaced by each run. Read ratios, not seconds: all numbers
of one table come from one run on one machine.
"""
_PACKAGES = (
    "scrapy",
    "twisted",
    "aiohttp",
    "uvloop",
    "lxml",
    "orjson",
    "sqlalchemy",
    "requests",
    "crawlee",
    "scrapling",
    "extruct",
    "pandas",
    "polars",
    "pyarrow",
)


def write(section: str, text: str, raw: dict[str, Any], page: Path = PAGE, *, after: str = "") -> None:
    """Replace one section of the page, or append it, and write ``benchmarks-<section>.json`` beside it.

    A new one goes below the section ``after``, where that is there.
    """
    start, end = f"<!-- bench:{section} -->", f"<!-- /bench:{section} -->"
    block = f"{start}\n{text.strip()}\n{end}"
    page.parent.mkdir(parents=True, exist_ok=True)
    old = page.read_text(encoding="utf-8") if page.exists() else _HEAD
    pattern = re.compile(re.escape(start) + ".*?" + re.escape(end), re.DOTALL)
    if pattern.search(old):
        new = pattern.sub(lambda _: block, old)
    elif after and (above := f"<!-- /bench:{after} -->") in old:
        new = old.replace(above, f"{above}\n\n{block}")
    else:
        new = f"{old.rstrip()}\n\n{block}\n"
    replace(page, new)
    replace(page.with_name(f"benchmarks-{section}.json"), json.dumps(raw, indent=1) + "\n")


def replace(path: Path, text: str) -> None:
    """Write beside, then rename."""
    beside = path.with_name(path.name + ".new")
    beside.write_text(text, encoding="utf-8")
    beside.replace(path)


def machine() -> dict[str, str]:
    """Return what the numbers depend on; nothing that names the machine or a folder of it."""
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "cores": str(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        **{package: installed for package in _PACKAGES if (installed := _version(package))},
    }


def facts(found: dict[str, str]) -> str:
    """Return the same as one line."""
    return ", ".join(f"{name} {value}" for name, value in found.items())


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""
