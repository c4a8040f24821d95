"""Runs ``scrapy crawl`` as a user does, in a process of its own, and reads the database that it leaves."""

from __future__ import annotations

import os
import re
import sqlite3
import subprocess
import sys
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
Row = dict[str, Any]
_PAIR = re.compile(r'(\w+)=("(?:[^"\\]|\\.)*"|\S+)')


@dataclass(frozen=True, slots=True)
class Crawl:
    """What one run of the command gave."""

    exit_code: int
    line: str  # the last line of stdout
    stderr: str
    fields: dict[str, str] = field(default_factory=dict)  # its key=value pairs, as text

    def count(self, name: str) -> int:
        """Return a number of the last line; an outcome that it doesn't name happened to no page."""
        return int(self.fields.get(name, "0"))


def start(
    phase: str,
    store: str,
    *,
    database: Path,
    stores: Path | None = None,
    base_url: str | None = None,
    settings: Mapping[str, object] | None = None,
    env: Mapping[str, str] | None = None,
) -> subprocess.Popen[str]:
    """Start ``scrapy crawl PHASE -a store=STORE`` without delays; the caller waits for it, or kills it.

    ``database`` is a SQLite file, ``stores`` a folder of store folders, ``settings`` are given as ``-s NAME=VALUE``.
    """
    command = [sys.executable, "-m", "scrapy", "crawl", phase, "-a", f"store={store}"]
    if base_url:
        command += ["-a", f"base_url={base_url}"]
    for name, value in {"DOWNLOAD_DELAY": 0, "LOG_LEVEL": "WARNING", **(settings or {})}.items():
        command += ["-s", f"{name}={value}"]
    own = {
        "STOREBOT_DATABASE_URL": f"sqlite:///{database}",
        "STOREBOT_STORES": str(stores or ""),
        "STOREBOT_ARCHIVE": str(database.with_suffix(".pages")),
        "STOREBOT_PROGRESS": "off",
        "STOREBOT_SUMMARY": "",
    }
    return subprocess.Popen(
        command,
        cwd=ROOT,
        env={**os.environ, **own, **(env or {})},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process: subprocess.Popen[str], timeout: float = 120) -> Crawl:
    """Wait for a process that `start` gave; one that outlives ``timeout`` seconds is killed, and raises."""
    with process:
        try:
            stdout, stderr = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            process.kill()
            _, stderr = process.communicate()
            raise TimeoutError(f"the crawl ran longer than {timeout} s; its stderr:\n{stderr}") from None
    line = stdout.rstrip("\n").rpartition("\n")[2]
    return Crawl(process.returncode, line, stderr, pairs(line))


def pairs(line: str) -> dict[str, str]:
    """Return the ``key=value`` pairs of a last line, as text."""
    return dict(_PAIR.findall(line))


def crawl(
    phase: str,
    store: str,
    *,
    database: Path,
    stores: Path | None = None,
    base_url: str | None = None,
    settings: Mapping[str, object] | None = None,
    env: Mapping[str, str] | None = None,
    timeout: float = 120,
) -> Crawl:
    """Run `start` to its end."""
    started = start(phase, store, database=database, stores=stores, base_url=base_url, settings=settings, env=env)
    return finish(started, timeout)


def rows(database: Path, query: str, *parameters: object) -> list[Row]:
    """Return the rows of one SELECT."""
    with closing(sqlite3.connect(database)) as connection:
        connection.row_factory = sqlite3.Row
        return [dict(row) for row in connection.execute(query, parameters)]


def listings(database: Path) -> dict[tuple[str, str], Row]:
    """Return every listing with its page's key and status (``page_status``), by key and variant."""
    query = """
        SELECT listings.*, pages.url_key, pages.status AS page_status
        FROM listings JOIN pages ON pages.id = listings.page_id
    """
    return {(row["url_key"], row["variant_id"]): row for row in rows(database, query)}


def pages(database: Path) -> dict[str, Row]:
    """Return every page, by key."""
    return {row["url_key"]: row for row in rows(database, "SELECT * FROM pages")}


def changes(database: Path, run: int | None = None) -> list[Row]:
    """Return the change events in their order, those of one run where it is named."""
    return rows(database, "SELECT * FROM changes WHERE ? IS NULL OR run_id = ? ORDER BY seq", run, run)


def checkpoints(database: Path) -> dict[str, Row]:
    """Return the checkpoint of every walk, by the walk's name."""
    return {row["walk"]: row for row in rows(database, "SELECT * FROM checkpoints")}
