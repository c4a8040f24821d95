"""What a format is: the base of all of them, and where they are found."""

from __future__ import annotations

import importlib
import pkgutil
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import ClassVar

from storebot.core.export.cells import Notes
from storebot.core.export.columns import Column, Row
from storebot.exceptions import ConfigurationError


class Format(ABC):
    """Writes rows to one file of one format. Made with the file's path; `write` as often as there are batches; `close`.

    Memory doesn't grow with the rows. ``notes`` counts what the format couldn't hold as it was; ``rows`` those written,
    which is less than those given where ``only`` some can be told in its words.
    """

    name: ClassVar[str]
    suffix: ClassVar[str]
    about: ClassVar[str]
    only: ClassVar[tuple[str, ...]] = ()  # what it can hold, of listings, changes, offers; empty: all
    needs_all_columns: ClassVar[bool] = False

    def __init__(self, path: Path, what: str, columns: Sequence[Column]) -> None:
        self.path, self.what, self.columns = path, what, columns
        self.notes = Notes()
        self.rows = 0

    @abstractmethod
    def write(self, rows: Sequence[Row]) -> None:
        """Append these rows."""

    @abstractmethod
    def close(self) -> None:
        """Finish the file. Without it what was written is nothing to be read."""

    def beside(self) -> Mapping[str, bytes]:
        """Return the files that explain this one, by suffix; none for most formats."""
        return {}

    @staticmethod
    @abstractmethod
    def count(path: Path) -> int:
        """Read a finished file and return how many rows are in it. ValueError where it can't be read."""


@cache
def formats() -> Mapping[str, type[Format]]:
    """Return the formats by name: the subclasses of `Format` in the modules of `storebot.exports.formats`."""
    package = importlib.import_module("storebot.exports.formats")
    found: dict[str, type[Format]] = {}
    for module in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
        for value in vars(importlib.import_module(module.name)).values():
            if isinstance(value, type) and issubclass(value, Format) and value.__module__ == module.name:
                found[value.name] = value
    return dict(sorted(found.items()))


def format_of(name: str, what: str) -> type[Format]:
    """Return a format by its name; `ConfigurationError` where there is none, or where it can't hold ``what``."""
    known = formats()
    if name not in known:
        raise ConfigurationError(f"there is no format {name!r}: choose of {', '.join(known)}")
    if known[name].only and what not in known[name].only:
        raise ConfigurationError(f"{name} holds {', '.join(known[name].only)}, not {what}")
    return known[name]
