"""One store's archive file: pages by URL key and time, bodies once per distinct content."""

from __future__ import annotations

import hashlib
import logging
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple, Self

from storebot.archive import rows
from storebot.archive.file import opened, opened_to_read
from storebot.archive.packing import Packer, Unpacker, grown, shrunk
from storebot.archive.retention import Expiry, Mark
from storebot.exceptions import SaveFailed
from storebot.items import KeptPage, PackedPage

logger = logging.getLogger(__name__)

Generation = tuple[str, int]  # URL key, time in milliseconds


class Damage(NamedTuple):
    """A generation that can't be given back as it was."""

    url_key: str
    fetched_at_ms: int
    reason: str


class Archive:
    """The pages of one store. One writer at a time, on one thread; any number of readers beside it.

    A write is one transaction in WAL mode: after a crash the file holds whole generations only.
    """

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path, self.connection = path, connection
        self.unreadable: set[bytes] = set()  # SHA-256 of bodies that can't be given back: when they come, written anew
        self._unpacker = Unpacker(self._dictionary)

    @classmethod
    def open(cls, path: Path, *, create: bool = True) -> Self:
        """Open a store's archive, or begin one. Raises `ArchiveUnusable` with the file and what to do."""
        return cls(path, opened(path, create=create))

    @classmethod
    def read(cls, path: Path) -> Self:
        """Open an archive that is there, to read. Raises `ArchiveUnusable`."""
        return cls(path, opened_to_read(path))

    def packer(self) -> Packer:
        """Return a packer that goes on with the newest dictionaries of this archive."""
        packer = Packer()
        found = self.connection.execute("SELECT page_type, name FROM dictionaries ORDER BY made_at, rowid")
        for page_type, name in dict(found.fetchall()).items():
            try:
                packer.resume(page_type, self._dictionary(name))
            except ValueError as error:  # its pages count as not kept, and new ones get a new one (case K01)
                logger.warning("%s: %s", self.path, error)
        return packer

    @property
    def is_empty(self) -> bool:
        """Whether it has no page yet."""
        return self.connection.execute("SELECT 1 FROM generations LIMIT 1").fetchone() is None

    def sizes(self, most: int = 500) -> list[tuple[str, int]]:
        """Return page type and size in bytes of the bodies of so many pages, those that came last at the end."""
        found = self.connection.execute(
            "SELECT p.page_type, b.size FROM (SELECT id, page_type FROM pages ORDER BY id DESC LIMIT ?) p"
            " JOIN generations g ON g.page_id = p.id JOIN bodies b ON b.id = g.body_id WHERE NOT g.held"
            " ORDER BY p.id, g.fetched_at",
            (most,),
        )
        return found.fetchall()

    def keep(self, pages: Sequence[PackedPage], packer: Packer, expiry: Expiry | None = None) -> None:
        """Write pages, and the dictionaries that they need, in one transaction; a page of the same time is replaced.

        With ``expiry``, the generations of these pages that it doesn't ask for go. Raises `SaveFailed`, with nothing of
        it written.
        """
        with self._transaction("written"):
            dictionaries = self._write_dictionaries(pages, packer)
            found = [rows.parameters(one) for one in pages]
            for statement in (rows.BODY, rows.PAGE, rows.HEADERS, rows.GENERATION):
                self.connection.executemany(statement, found)
            if self.unreadable:
                self.connection.executemany(rows.BODY_ANEW, (one for one in found if one["sha256"] in self.unreadable))
            if expiry is not None:
                self._drop(self._outlived({one.page.url_key for one in pages}, expiry))
        for name in dictionaries:
            packer.unwritten.pop(name)

    def latest(self, url_key: str, *, origin: int | None = None) -> KeptPage | None:
        """Return the newest generation of a page that can be read; None where there is none (what can't is logged).

        With ``origin``: the newest that was fetched for this database, and wasn't held.
        """
        mine = "" if origin is None else " AND g.origin = :origin AND NOT g.held"
        query = f"{rows.GENERATIONS} WHERE p.url_key = :key{mine} ORDER BY g.fetched_at DESC"
        found = self.connection.execute(query, {"key": url_key, "origin": origin})
        return next((page for row in found if (page := self._read(row)) is not None), None)

    def at(self, url_keys: Sequence[str], fetched_at_ms: int) -> KeptPage | None:
        """Return the generation of a time, under the first of these keys that has it and can be read."""
        for key in url_keys:
            query = f"{rows.GENERATIONS} WHERE p.url_key = ? AND g.fetched_at = ?"
            row = self.connection.execute(query, (key, fetched_at_ms)).fetchone()
            if row is not None and (page := self._read(row)) is not None:
                return page
        return None

    def generations(self, url_key: str) -> list[KeptPage]:
        """Return what can be read of all generations of a page, the oldest first."""
        query = f"{rows.GENERATIONS} WHERE p.url_key = ? ORDER BY g.fetched_at"
        return [page for row in self.connection.execute(query, (url_key,)) if (page := self._read(row)) is not None]

    def every(self) -> Iterator[KeptPage]:
        """Yield all generations that can be read, by key and time."""
        for row in self.connection.execute(f"{rows.GENERATIONS} ORDER BY p.url_key, g.fetched_at"):
            if (page := self._read(row)) is not None:
                yield page

    def verify(self) -> Iterator[Damage | None]:
        """Read everything; yield for each generation its damage, or None where it comes back byte for byte."""
        for row in self.connection.execute(rows.GENERATIONS):
            yield self._damage(row)

    def marks(self, after: int, limit: int) -> list[tuple[int, str, list[Mark]]]:
        """Return (id, key, marks) of up to ``limit`` pages behind an id, the oldest mark first."""
        query = """
            SELECT p.id, p.url_key, g.fetched_at, g.content_hash FROM generations g JOIN pages p ON p.id = g.page_id
            WHERE g.page_id IN (SELECT id FROM pages WHERE id > ? ORDER BY id LIMIT ?) ORDER BY g.page_id, g.fetched_at
        """
        found: dict[int, tuple[str, list[Mark]]] = {}
        for number, key, *mark in self.connection.execute(query, (after, limit)):
            found.setdefault(number, (key, []))[1].append(Mark(*mark))
        return [(number, key, marks) for number, (key, marks) in found.items()]

    def drop(self, generations: Sequence[Generation]) -> None:
        """Delete generations in one transaction, and the bodies that none refers to any more."""
        with self._transaction("pruned"):
            self._drop(generations)

    def tidy(self) -> None:
        """Delete what nothing refers to any more, and give free space back to the disk."""
        with self._transaction("pruned"):
            self.connection.execute("DELETE FROM bodies WHERE id NOT IN (SELECT body_id FROM generations)")
            self.connection.execute("DELETE FROM pages WHERE id NOT IN (SELECT page_id FROM generations)")
            self.connection.execute(
                "DELETE FROM dictionaries WHERE name NOT IN (SELECT dictionary FROM bodies)"
                " AND 2 <= (SELECT count(*) FROM dictionaries d"  # a crawl may be about to write with the newest two
                " WHERE d.page_type = dictionaries.page_type AND d.rowid > dictionaries.rowid)"
            )
        self.connection.execute("PRAGMA incremental_vacuum").fetchall()

    def close(self) -> None:
        """Close the file."""
        self.connection.close()

    @contextmanager
    def _transaction(self, what: str) -> Iterator[None]:
        """Commit what is done inside, or nothing of it, and raise `SaveFailed`."""
        try:
            self.connection.execute("BEGIN IMMEDIATE")
            yield
            self.connection.execute("COMMIT")
        except BaseException as error:
            if self.connection.in_transaction:  # SQLite itself rolls back when the disk is full
                self.connection.execute("ROLLBACK")
            if isinstance(error, sqlite3.Error):
                raise SaveFailed(f"{self.path}: the page archive can't be {what}: {error}") from error
            raise

    def _dictionary(self, name: bytes) -> bytes:
        row = self.connection.execute("SELECT content FROM dictionaries WHERE name = ?", (name,)).fetchone()
        if row is None:
            raise ValueError(f"its dictionary {name.hex()} isn't in the archive")
        return grown(row[0])

    def _write_dictionaries(self, pages: Iterable[PackedPage], packer: Packer) -> list[bytes]:
        """Write those that aren't in the file, each with its first page, and return their names."""
        written = []
        for packed in pages:
            if (content := packer.unwritten.get(packed.dictionary)) is not None and packed.dictionary not in written:
                made = (packed.dictionary, packed.page.page_type, packed.page.fetched_at_ms, shrunk(content))
                self.connection.execute("INSERT OR IGNORE INTO dictionaries VALUES (?, ?, ?, ?)", made)
                written.append(packed.dictionary)
        return written

    def _outlived(self, url_keys: Iterable[str], expiry: Expiry) -> list[Generation]:
        query = """
            SELECT g.fetched_at, g.content_hash FROM generations g JOIN pages p ON p.id = g.page_id
            WHERE p.url_key = ? ORDER BY g.fetched_at
        """
        gone: list[Generation] = []
        for key in url_keys:
            marks = [Mark(*found) for found in self.connection.execute(query, (key,))]
            gone += [(key, at) for at in expiry.of(key, marks)] if len(marks) > 1 else ()
        return gone

    def _drop(self, generations: Iterable[Generation]) -> None:
        for key, at in generations:
            where = "page_id = (SELECT id FROM pages WHERE url_key = ?) AND fetched_at = ?"
            query = f"DELETE FROM generations WHERE {where} RETURNING body_id"
            for (body,) in self.connection.execute(query, (key, at)).fetchall():
                unused = "NOT EXISTS (SELECT 1 FROM generations WHERE body_id = :id)"
                self.connection.execute(f"DELETE FROM bodies WHERE id = :id AND {unused}", {"id": body})

    def _read(self, row: rows.Row) -> KeptPage | None:
        """Return the page of a row; a generation that can't be read is a miss, with a warning (case K01)."""
        try:
            return self._page(row)
        except ValueError as error:
            self.unreadable.add(row[-4])
            logger.warning("%s: %s at %s can't be read and counts as not kept: %s", self.path, row[0], row[1], error)
            return None

    def _damage(self, row: rows.Row) -> Damage | None:
        try:
            body = self._page(row).body
        except ValueError as error:
            return Damage(row[0], row[1], str(error))
        if hashlib.sha256(body).digest() != row[-4]:
            return Damage(row[0], row[1], "its bytes aren't those that were kept: SHA-256 differs")
        return None

    def _page(self, row: rows.Row) -> KeptPage:
        return rows.page_of(row, self._unpacker)
