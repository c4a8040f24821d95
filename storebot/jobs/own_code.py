"""Which code this is, wherever it was imported from: a checkout, an installed package or a Scrapyd egg."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable

SUFFIXES = (".py", ".toml", ".mako", ".ini", ".json", ".html", ".css", ".js", ".svg")  # what pyproject.toml has packed
_DIGITS = 12


def own_code(package: Traversable | None = None) -> str:
    """Return 12 digits that tell this code, with the store files in it, from any other.

    They're read anew each time, because what is started now is what lies there now.
    """
    digest = hashlib.sha256()
    for name, file in sorted(_files(package or files("storebot"), ""), key=lambda found: found[0]):
        content = file.read_bytes()
        digest.update(f"{name}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()[:_DIGITS]


def _files(folder: Traversable, path: str) -> Iterator[tuple[str, Traversable]]:
    for each in folder.iterdir():
        if each.is_dir():
            if each.name != "__pycache__":
                yield from _files(each, f"{path}{each.name}/")
        elif each.name.endswith(SUFFIXES):
            yield path + each.name, each
