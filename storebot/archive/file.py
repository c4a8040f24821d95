"""The file of one store's archive: its tables, and how it's opened."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from storebot.exceptions import ArchiveUnusable

FORMAT = "1"
_BUSY_S = 10
_TABLES = """
CREATE TABLE IF NOT EXISTS about (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS dictionaries (
    name BLOB PRIMARY KEY, page_type TEXT NOT NULL, made_at INTEGER NOT NULL, content BLOB NOT NULL
);
CREATE TABLE IF NOT EXISTS bodies (
    id INTEGER PRIMARY KEY, sha256 BLOB NOT NULL UNIQUE, size INTEGER NOT NULL, dictionary BLOB NOT NULL,
    packed BLOB NOT NULL
);
CREATE TABLE IF NOT EXISTS pages (
    id INTEGER PRIMARY KEY, url_key TEXT NOT NULL UNIQUE, page_type TEXT NOT NULL, url TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS headers (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE);
CREATE TABLE IF NOT EXISTS generations (
    page_id INTEGER NOT NULL REFERENCES pages (id), fetched_at INTEGER NOT NULL, origin INTEGER NOT NULL,
    body_id INTEGER NOT NULL REFERENCES bodies (id), held INTEGER NOT NULL, status INTEGER NOT NULL,
    url TEXT NOT NULL, final_url TEXT NOT NULL, headers_id INTEGER NOT NULL REFERENCES headers (id),
    own_headers TEXT NOT NULL, tier TEXT NOT NULL, content_hash BLOB NOT NULL,
    PRIMARY KEY (page_id, fetched_at)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS generations_by_body ON generations (body_id);
"""


def archive_path(folder: Path, store: str) -> Path:
    """Return where a store's archive lies."""
    return folder / f"{store}.pages.db"


def opened(path: Path, *, create: bool) -> sqlite3.Connection:
    """Return a connection that may write, to an archive that is there or, with ``create``, is begun.

    Raises `ArchiveUnusable` with the file and what to do.
    """
    if not create and not path.exists():
        raise ArchiveUnusable(f"{path}: there is no page archive; a backfill or refresh of the store makes it")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        connection = sqlite3.connect(path, timeout=_BUSY_S, check_same_thread=False, isolation_level=None)
        _set_up(connection)
    except (OSError, sqlite3.Error) as error:
        raise ArchiveUnusable(f"{path}: the page archive can't be opened: {error}") from error
    return _known(connection, path)


def opened_to_read(path: Path) -> sqlite3.Connection:
    """Return a connection that only reads, and takes no lock that a writer would wait for.

    Raises `ArchiveUnusable`.
    """
    if not path.exists():
        raise ArchiveUnusable(f"{path}: there is no page archive; a backfill or refresh of the store makes it")
    try:
        connection = sqlite3.connect(path, timeout=_BUSY_S, check_same_thread=False, isolation_level=None)
        connection.execute("PRAGMA query_only = ON")
        return _known(connection, path)
    except sqlite3.Error as error:
        raise ArchiveUnusable(f"{path}: the page archive can't be opened: {error}") from error


def _set_up(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA page_size = 16384")  # bodies are 1 to 5 KB: of pages of 4 KB a third would stay empty
    connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
    connection.execute("PRAGMA journal_mode = WAL")
    # What a database server has committed must find its page after a power cut, too: one fsync a batch.
    connection.execute("PRAGMA synchronous = FULL")
    with closing(connection.cursor()) as cursor:
        cursor.executescript(_TABLES)
        cursor.execute("INSERT OR IGNORE INTO about VALUES ('format', ?)", (FORMAT,))


def _known(connection: sqlite3.Connection, path: Path) -> sqlite3.Connection:
    (found,) = connection.execute("SELECT value FROM about WHERE name = 'format'").fetchone()
    if found != FORMAT:
        connection.close()
        raise ArchiveUnusable(f"{path}: format {found} of the page archive is unknown here; update storebot")
    return connection
