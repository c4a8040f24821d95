"""Exports in a folder of this machine: found by their manifests, and only below that folder (case H04)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from storebot.core.export.manifest import NAME
from storebot.dashboard.files import inside
from storebot.exceptions import ExportFailed
from storebot.exports.verifying import manifest_in

MOST_FOLDERS = 2000  # of one store that are looked at
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")


class Found(NamedTuple):
    """One export, or what can't be read as one: then ``manifest`` is None, and ``why`` says it."""

    store: str
    name: str
    manifest: Mapping[str, Any] | None
    why: str = ""


def stores(folder: Path | None) -> list[str]:
    """Return the stores that have exports there."""
    return _names(folder) if folder is not None else []


def of_store(folder: Path | None, store: str, before: str, limit: int) -> list[Found]:
    """Return the exports of a store whose name comes before ``before`` ("": all), the newest first, one more than
    ``limit``. Names begin with the time.
    """
    if folder is None or not _NAME.fullmatch(store):
        return []
    names = sorted(_names(folder / store)[:MOST_FOLDERS], reverse=True)
    return [_read(folder, store, name) for name in names if not before or name < before][: limit + 1]


def place(folder: Path | None, store: str, name: str) -> Path | None:
    """Return where an export is; None for whatever isn't the name of one, or leads elsewhere."""
    if folder is None or not _NAME.fullmatch(store) or not _NAME.fullmatch(name):
        return None
    found = inside(folder, folder / store / name)
    return found if found is not None and (found / NAME).is_file() else None


def _read(folder: Path, store: str, name: str) -> Found:
    where = place(folder, store, name)
    if where is None:
        return Found(store, name, None, f"it has no {NAME}: it isn't finished, or was broken off")
    try:
        return Found(store, name, manifest_in(where)[1])
    except ExportFailed as error:
        return Found(store, name, None, str(error))


def _names(folder: Path) -> list[str]:
    """Return the names of the folders in one, hidden ones left out: those are being made."""
    try:
        return sorted(one.name for one in folder.iterdir() if _NAME.fullmatch(one.name) and one.is_dir())
    except OSError:  # there is none: nothing was exported yet
        return []
