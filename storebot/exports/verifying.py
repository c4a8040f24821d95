"""``scrapy export verify``: whether an export is what its manifest says."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import orjson

from storebot.core.export.manifest import LATEST, NAME, VERSION
from storebot.exceptions import ExportFailed
from storebot.exports.format import formats
from storebot.exports.running import sha256


def manifest_in(folder: Path, what: str = "listings") -> tuple[Path, Mapping[str, Any]]:
    """Return the folder of an export and its manifest. ``folder`` is that folder, or the store's: then its latest of
    ``what``.

    Raises `ExportFailed` where there is no export, or its manifest can't be read.
    """
    latest = folder / LATEST.format(what=what)
    if not (folder / NAME).is_file() and latest.is_file():
        folder = folder / str(_read(latest).get("folder"))
    if not (folder / NAME).is_file():
        raise ExportFailed(f"{folder}: no {NAME} in it: that is no export, or one that was not finished")
    found = _read(folder / NAME)
    if found.get("manifest_version") != VERSION or not isinstance(found.get("files"), list):
        raise ExportFailed(f"{folder / NAME}: not a manifest of version {VERSION}")
    for one in found["files"]:
        name = str(one.get("name", "")) if isinstance(one, dict) else ""
        if not name or name in (".", "..") or Path(name).name != name:
            raise ExportFailed(f"{folder / NAME}: it names a file that isn't beside it: {name[:80]!r}")
    return folder, found


def faults(folder: Path, found: Mapping[str, Any]) -> Iterator[str]:
    """Yield what is wrong with the files of an export, a sentence each: size, SHA-256, and rows counted by reading."""
    known = formats()
    for one in found["files"]:
        path = folder / one["name"]
        if not path.is_file():
            yield f"{path}: is missing"
        elif path.stat().st_size != one["size_bytes"]:
            yield f"{path}: has {path.stat().st_size} bytes, and the manifest says {one['size_bytes']}"
        elif sha256(path) != one["sha256"]:
            yield f"{path}: its SHA-256 is not the manifest's: it was changed"
        elif one["format"] in known:
            try:
                rows = known[one["format"]].count(path)
            except ValueError as error:
                yield f"{path}: can't be read back: {error}"
                continue
            if rows != one["rows"]:
                yield f"{path}: has {rows} rows, and the manifest says {one['rows']}"


def _read(path: Path) -> Mapping[str, Any]:
    try:
        found = orjson.loads(path.read_bytes())
    except (OSError, orjson.JSONDecodeError) as error:
        raise ExportFailed(f"{path}: can't be read: {error}") from error
    if not isinstance(found, dict):
        raise ExportFailed(f"{path}: is no JSON object")
    return found
