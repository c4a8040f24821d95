"""What the contenders share, so that nothing but the crawler differs: arguments, fields, saving, the last line."""

from __future__ import annotations

import json
import sqlite3
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
CONCURRENCY = 32

_SCHEMA = "create table if not exists products (url text primary key, fields text not null)"
_SAVE = "insert into products values (?, ?) on conflict (url) do update set fields = excluded.fields"


def arguments() -> tuple[list[str], str]:
    """Return the URLs to crawl and the SQLite file to save to."""
    urls_file, database = sys.argv[1:3]
    return Path(urls_file).read_text(encoding="utf-8").split(), database


def finish(pages: int, saved: int = 0) -> None:
    """Print what was done, for the harness to check that nothing was left out."""
    print(json.dumps({"pages": pages, "saved": saved}))


def selectors() -> dict[str, str]:
    """Return field → CSS of its text, by the demo store's own file: everybody reads the fields that storebot reads."""
    store = ROOT / "storebot" / "stores" / "demo" / "store.toml"
    product = tomllib.loads(store.read_text(encoding="utf-8"))["product"]
    return {field: _text(paths[0]) for field, paths in product.items() if isinstance(paths, list)}


def _text(path: str) -> str:
    return path if "::" in path else f"{path}::text"


def read(css: Callable[[str], Any], paths: dict[str, str]) -> dict[str, str | None]:
    """Return the first text of each field; ``css`` is the method of whatever parsed the page."""
    return {field: css(path).get() for field, path in paths.items()}


class Database:
    """A SQLite file with one row per page, committed every ``batch`` rows."""

    def __init__(self, path: str, batch: int) -> None:
        self.connection = sqlite3.connect(path)
        self.batch, self.waiting, self.saved = batch, 0, 0
        if batch > 1:
            self.connection.execute("pragma journal_mode = wal")
            self.connection.execute("pragma synchronous = normal")
        self.connection.execute(_SCHEMA)

    def save(self, url: str, fields: dict[str, str | None]) -> None:
        """Save one page; without a name it isn't one, and the harness will miss it."""
        if not fields["name"]:
            return
        self.connection.execute(_SAVE, (url, json.dumps(fields)))
        self.saved += 1
        self.waiting += 1
        if self.waiting >= self.batch:
            self.connection.commit()
            self.waiting = 0

    def close(self) -> None:
        """Commit what waits, and close."""
        self.connection.commit()
        self.connection.close()
