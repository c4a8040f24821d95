"""Backups of a SQLite file that are whole: a plain copy misses what is still in the write-ahead log."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

from storebot.db.addresses import database_url, shown
from storebot.exceptions import ConfigurationError, DatabaseUnavailable

_TOOLS = {"mysql": "mariadb-dump --single-transaction", "postgresql": "pg_dump"}


def backup(url: str, to: Path) -> int:
    """Copy the database to a file, while others may write to it; return its size in bytes.

    The file appears at once and whole: it's written beside its place, checked, and renamed. Raises
    `ConfigurationError` for a database server (with the tool to use) and for a file that exists,
    `DatabaseUnavailable` where the database can't be read or the copy can't be written.
    """
    source = database_url(url)
    if source.get_backend_name() != "sqlite":
        tool = _TOOLS[source.get_backend_name()]
        raise ConfigurationError(f"{shown(source)}: this backs up SQLite files; for a database server use `{tool}`")
    if to.exists():
        raise ConfigurationError(f"{to} exists: name a new file")
    path = Path(str(source.database))
    if not path.is_file():
        raise DatabaseUnavailable(f"{shown(source)}: no such file")
    beside = to.with_name(f".{to.name}.{os.getpid()}.part")
    try:
        _copy(path, beside)
        beside.rename(to)
    except (sqlite3.Error, OSError) as error:
        raise DatabaseUnavailable(f"{shown(source)} can't be copied to {to}: {error}") from error
    finally:
        beside.unlink(missing_ok=True)
    return to.stat().st_size


def _copy(path: Path, beside: Path) -> None:
    """Copy through SQLite's backup API (https://sqlite.org/backup.html) and see that the copy is sound."""
    read_only = f"{path.absolute().as_uri()}?mode=ro"
    with closing(sqlite3.connect(read_only, uri=True)) as source, closing(sqlite3.connect(beside)) as copy:
        source.backup(copy)
        copy.execute("PRAGMA journal_mode = DELETE")  # one file, with nothing beside it
        (verdict,) = copy.execute("PRAGMA quick_check").fetchone()
    if verdict != "ok":
        raise sqlite3.DatabaseError(f"the copy is damaged: {verdict}")
    with beside.open("rb+") as written:
        os.fsync(written.fileno())
