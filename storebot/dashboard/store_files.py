"""Store files as the dashboard reads them: again only where they changed, as a page of two hundred stores needs all."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from storebot.exceptions import ConfigurationError, UnknownStore
from storebot.stores import list_stores, load_store
from storebot.stores.loading import FILE, KINDS
from storebot.stores.model import Store

GONE = "there is no store file of this name any more"
_PARTS = tuple(f"{kind}.py" for kind in KINDS)  # beside the file
_Stat = tuple[int, int]  # when it was written last, in nanoseconds, and its size
_NOTHING: _Stat = (0, 0)


class Read(NamedTuple):
    """A store's file, or why it can't be read. ``edited_ms``: when it was changed last; 0 for storebot's own."""

    store: Store | None
    error: str = ""
    edited_ms: int = 0

    @property
    def gone(self) -> bool:
        """Whether there is none."""
        return self.store is None and self.error == GONE


def read(name: str, folders: Sequence[str]) -> Read:
    """Return a store's file as it is now."""
    mark: list[_Stat] = []
    for folder in folders:
        mark.append(_stat(os.path.join(folder, name, FILE)))
        if mark[-1] != _NOTHING:
            mark += [_stat(os.path.join(folder, name, part)) for part in _PARTS]
            break
        mark.append((0, int(os.path.isdir(folder))))  # one that is gone is another fault than a store that is
    store, error = _load(name, tuple(folders), tuple(mark))
    return Read(store, error, max((at_ns for at_ns, _ in mark), default=0) // 1_000_000)


def own_stores(folders: Sequence[str]) -> list[str]:
    """Return the stores of these folders; storebot's own examples aren't among them."""
    try:
        names = list_stores(folders)
    except ConfigurationError:  # a folder that is gone: each store's file then says so by itself
        return []
    return [name for name in names if any((Path(folder) / name / FILE).is_file() for folder in folders)]


@lru_cache(maxsize=2000)
def _load(name: str, folders: tuple[str, ...], mark: tuple[_Stat, ...]) -> tuple[Store | None, str]:
    """Load it. ``mark`` is what the files on the disk looked like: other files are another entry."""
    try:
        return load_store(name, folders), ""
    except UnknownStore:
        return None, GONE
    except ConfigurationError as error:
        return None, " ".join(str(error).split())


def _stat(path: str) -> _Stat:
    try:
        found = os.stat(path)
    except OSError:
        return _NOTHING
    return found.st_mtime_ns, found.st_size
