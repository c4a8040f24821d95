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
from storebot.stores.code import Code, joined, load_code
from storebot.stores.locations import absolute_url
from storebot.stores.model import Store
from storebot.stores.problems import problems, syntax_problem
from storebot.stores.sections import StoreFile
from storebot.stores.wording import nearest

FILE = "store.toml"
KINDS = ("product", "catalogue")  # page types that a store may have code for: product.py, catalogue.py
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}")


def check_name(name: str) -> None:
    """Raise ConfigurationError for what can't be the name of a store."""
    if not _NAME.fullmatch(name):
        raise ConfigurationError(
            f"store {name!r}: a store's name is its folder's: 1 to 63 of a-z, 0-9, - and _, not starting with - or _"
        )


def load_store(name: str, folders: Sequence[Path | str] = (), base_url: str | None = None) -> Store:
    """Return the store whose folder has this name: the first of ``folders`` that holds it, then storebot's own.

    ``base_url`` stands in for the one of the file, for the same shop at another address: a local copy, a test server.

    Raises UnknownStore where no folder has the name, StoreFileError for a file (store.toml, product.py, catalogue.py)
    that can't be read or isn't valid (its text has one line for each fault), ConfigurationError for a bad name, folder
    or ``base_url``.
    """
    check_name(name)
    folder = next((root / name for root in _roots(folders) if (root / name / FILE).is_file()), None)
    if folder is None:
        raise _unknown(name, folders)
    found, code = _read_all(folder)
    values = {key: getattr(found, key) for key in found.model_fields_set}
    override = found.base_url if base_url is None else _override(base_url)
    return Store(
        **{**values, "base_url": override},
        name=name,
        path=str(folder / FILE),
        file_base_url=found.base_url,
        product_code=code.get("product"),
        catalogue_code=code.get("catalogue"),
    )


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


def _read_all(folder: Traversable) -> tuple[StoreFile, dict[str, Code]]:
    """Return the store file and the code beside it; raises the faults of all of them as one error."""
    found, code, faults = None, {}, []
    try:
        found = _read(folder / FILE)
    except StoreFileError as error:
        faults.append(error)
    for kind in KINDS:
        path = folder / f"{kind}.py"
        try:
            if path.is_file():
                code[kind] = load_code(path, kind)
        except StoreFileError as error:
            faults.append(error)
    if "catalogue" in code and found is not None and found.catalogue is None:
        path = folder / "catalogue.py"
        faults.append(StoreFileError(str(path), "", f"has no effect, because {FILE} has no [catalogue] with a url"))
    if faults or found is None:
        raise joined(faults)
    return found, code


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
