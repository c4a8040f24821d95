"""Writes a new store file: only one that loads, and never over one that is there."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from storebot.exceptions import ConfigurationError
from storebot.stores.loading import FILE, check_name, load_store
from storebot.stores.model import Store


def store_path(name: str, out: str | None, folders: Sequence[str]) -> Path:
    """Return where a store's file goes: into ``out``, else the first folder of STOREBOT_STORES, else ./stores.

    Raises ConfigurationError for a name that no store can have: it must not lead out of that folder.
    """
    check_name(name)
    return Path(out or next(iter(folders), "stores")) / name / FILE


def refuse_existing(path: Path) -> None:
    """Raise ConfigurationError where the file is there."""
    if path.exists():
        raise ConfigurationError(f"{path} is there already: give another --name, or --force to overwrite it")


def checked(name: str, text: str) -> Store:
    """Return the store that a text declares; raises what `load_store` raises for it."""
    check_name(name)
    with TemporaryDirectory() as folder:
        path = Path(folder) / name / FILE
        path.parent.mkdir()
        path.write_text(text, encoding="utf-8")
        return load_store(name, [folder])


def write(path: Path, text: str, *, force: bool = False) -> None:
    """Write a store file whole or not at all; raises ConfigurationError where one is there, unless by ``force``."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f"{path.name}.{os.getpid()}.new")
    beside.write_text(text, encoding="utf-8")
    try:
        if force:
            os.replace(beside, path)
        else:
            refuse_existing(path)
            os.link(beside, path)  # fails where a file came to be in between: nobody's file is overwritten
    finally:
        beside.unlink(missing_ok=True)
