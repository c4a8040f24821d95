"""One export: a snapshot, read once, into all the files that are asked for; the manifest is written last."""

from __future__ import annotations

import hashlib
import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import orjson

from storebot import __version__
from storebot.core.export.columns import COLUMNS, Column, Row
from storebot.core.export.filters import Filter
from storebot.core.export.manifest import NAME, FileEntry, manifest
from storebot.db import exporting
from storebot.db.database import Database
from storebot.db.schema import REVISION
from storebot.exceptions import ExportFailed
from storebot.exports.destinations import Destination, Folder
from storebot.exports.format import Format

_CHUNK = 1 << 20
_DAY_S = 24 * 60 * 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What is to be exported. ``columns`` in their order; times in milliseconds."""

    store: str
    what: str
    formats: Sequence[type[Format]]
    columns: Sequence[Column]
    filters: Sequence[Filter] = ()
    filters_text: Sequence[str] = ()
    since_ms: int | None = None
    as_of_ms: int | None = None


def export(
    database: Database, order: Order, to: Destination, scratch: Path, told: Callable[[int], object] = lambda _: None
) -> dict[str, Any]:
    """Write one export and return its manifest. ``told`` gets the number of rows that were read so far.

    The files are made in ``scratch``, a folder of this export alone, and are handed to the destination when they are
    whole: killed at any instant, what is there is the export before this one, or this one.
    """
    with database.explaining(), database.snapshot() as conn:
        facts = exporting.facts(conn, order.store)
        rows, writers = _written(
            exporting.batches(conn, order.store, order.what, since_ms=order.since_ms, as_of_ms=order.as_of_ms),
            order,
            scratch,
            told,
        )
    found = manifest(
        store=order.store,
        what=order.what,
        columns=[column.name for column in order.columns],
        filters=order.filters_text,
        since_ms=order.since_ms,
        as_of_ms=order.as_of_ms,
        rows=rows,
        facts=facts,
        files=[_entry(writer) for writer in writers] + _explained(writers),
        generator=f"storebot {__version__}",
        schema_version=REVISION,
    )
    to.put([scratch / one["name"] for one in found["files"]], _saved(scratch / NAME, found))
    return found


def _written(
    batches: Iterable[list[dict[str, Any]]], order: Order, scratch: Path, told: Callable[[int], object]
) -> tuple[int, list[Format]]:
    writers: list[Format] = []
    rows = read = 0
    try:
        for kind in order.formats:
            columns = COLUMNS[order.what] if kind.needs_all_columns else order.columns
            writers.append(kind(scratch / f"{order.what}{kind.suffix}", order.what, columns))
        for batch in batches:
            wanted: list[Row] = [row for row in batch if all(one.admits(row) for one in order.filters)]
            for writer in writers:
                writer.write(wanted)
            rows, read = rows + len(wanted), read + len(batch)
            told(read)
    finally:
        for writer in writers:
            writer.close()
    return rows, writers


def _explained(writers: Sequence[Format]) -> list[FileEntry]:
    found = []
    for writer in writers:
        for suffix, content in writer.beside().items():
            path = writer.path.with_name(f"{writer.what}{suffix}")
            path.write_bytes(content)
            found.append(FileEntry(name=path.name, format="schema", rows=0, **_measured(path)))
    return found


def _entry(writer: Format) -> FileEntry:
    measured = _measured(writer.path)
    notes = dict(sorted(writer.notes.items()))
    return FileEntry(name=writer.path.name, format=writer.name, rows=writer.rows, notes=notes, **measured)


def _measured(path: Path) -> dict[str, Any]:
    return {"size_bytes": path.stat().st_size, "sha256": sha256(path)}


def sha256(path: Path) -> str:
    """Return the SHA-256 of a file, in hex."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
        return digest.hexdigest()


def _saved(path: Path, found: dict[str, Any]) -> Path:
    path.write_bytes(orjson.dumps(found, option=orjson.OPT_INDENT_2) + b"\n")
    return path


@contextmanager
def scratch_for(to: Destination) -> Iterator[Path]:
    """Give an empty folder to make the files in; it's gone when the block ends, unless it was moved into its place.

    `ExportFailed` says where a folder can't be made, or a disk is full.
    """
    try:
        if isinstance(to, Folder):
            _sweep(to.scratch.parent)
            to.scratch.mkdir(parents=True)
            try:
                yield to.scratch
            finally:
                shutil.rmtree(to.scratch, ignore_errors=True)  # it's there only where the export failed
        else:
            with TemporaryDirectory(prefix="storebot-export-") as folder:
                yield Path(folder)
    except OSError as error:
        raise ExportFailed(f"{to.store}: the export can't be written: {error}; nothing there was touched") from error


def _sweep(folder: Path) -> None:
    """Remove what exports that were killed left behind, a day ago or more: a younger one may be at work."""
    for left in folder.glob(".*.part"):
        if time.time() - left.stat().st_mtime > _DAY_S:
            shutil.rmtree(left)
