"""Finding store folders and reading their files."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Sequence
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path

from pydantic import ValidationError
from pydantic_core import PydanticCustomError

from storebot.exceptions import ConfigurationError, StoreFileError, UnknownStore
from storebot.stores.locations import absolute_url
from storebot.stores.model import Store
from storebot.stores.problems import problems, syntax_problem
from storebot.stores.sections import StoreFile
from storebot.stores.wording import nearest

FILE = "store.toml"
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}")


def load_store(name: str, folders: Sequence[Path | str] = (), base_url: str | None = None) -> Store:
    """Return the store whose folder has this name: the first of ``folders`` that holds it, then storebot's own.

    ``base_url`` stands in for the one of the file, for the same shop at another address: a local copy, a test server.

    Raises UnknownStore where no folder has the name, StoreFileError for a file that can't be read or isn't valid (its
    text has one line for each fault), ConfigurationError for a bad name, folder or ``base_url``.
    """
    if not _NAME.fullmatch(name):
        raise ConfigurationError(
            f"store {name!r}: a store's name is its folder's: 1 to 63 of a-z, 0-9, - and _, not starting with - or _"
        )
    path = next((root / name / FILE for root in _roots(folders) if (root / name / FILE).is_file()), None)
    if path is None:
        raise _unknown(name, folders)
    found = _read(path)
    values = {key: getattr(found, key) for key in found.model_fields_set}
    override = found.base_url if base_url is None else _override(base_url)
    return Store(**{**values, "base_url": override}, name=name, path=str(path), file_base_url=found.base_url)


def list_stores(folders: Sequence[Path | str] = ()) -> list[str]:
    """Return the names of all folders with a store file, sorted; a name that `load_store` refuses is among them."""
    return sorted({entry.name for root in _roots(folders) for entry in root.iterdir() if (entry / FILE).is_file()})


def _roots(folders: Sequence[Path | str]) -> Iterator[Traversable]:
    """Yield the folders that hold store folders, those that win first."""
    for folder in folders:
        root = Path(folder)
        if not root.is_dir():
            raise ConfigurationError(
                f"store folder {root}: no such folder; STOREBOT_STORES lists folders, as PATH does"
            )
        if (root / FILE).is_file():
            raise ConfigurationError(
                f"store folder {root}: is itself a store; STOREBOT_STORES needs the folder that holds it, {root.parent}"
            )
        yield root
    yield resources.files(__package__)


def _read(path: Traversable) -> StoreFile:
    try:
        # -sig: editors on Windows put a byte order mark first, which TOML doesn't know
        document = tomllib.loads(path.read_bytes().decode("utf-8-sig"))
    except OSError as error:
        raise StoreFileError(str(path), "", f"can't be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise StoreFileError(
            str(path), f"byte {error.start}", "expected UTF-8; save the file in that encoding"
        ) from error
    except tomllib.TOMLDecodeError as error:
        raise syntax_problem(str(path), error) from error
    try:
        return StoreFile.model_validate(document)
    except ValidationError as error:
        raise problems(str(path), error) from error


def _override(base_url: str) -> str:
    try:
        return absolute_url(base_url)
    except PydanticCustomError as error:
        raise ConfigurationError(f"base_url: {error.message()}") from error


def _unknown(name: str, folders: Sequence[Path | str]) -> UnknownStore:
    names = list_stores(folders)
    close = nearest(name, names)
    meant = f" (did you mean {close!r}?)" if close else ""
    looked = ", ".join(["storebot's own stores", *map(str, folders)])
    empty = [f"; {Path(folder) / name} has no {FILE}" for folder in folders if (Path(folder) / name).is_dir()]
    return UnknownStore(
        f"no store is named {name!r}{meant}: looked in {looked}; there are {', '.join(names)}{''.join(empty)}"
    )
