"""The keys that a store file may have, read from the model: for error messages and for the documentation."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import NamedTuple, get_args

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from storebot.stores.sections import StoreFile


class Key(NamedTuple):
    """One key: its dotted name, its default as TOML text, and what it says."""

    name: str
    default: str  # "required" and "none" are no TOML values
    description: str
    is_section: bool


def known_keys() -> tuple[Key, ...]:
    """Return every section and key, in the order of the model."""
    return keys_of(StoreFile)


def keys_of(model: type[BaseModel]) -> tuple[Key, ...]:
    """Return every section and key of another file's model."""
    return tuple(_keys(model, ""))


def _keys(model: type[BaseModel], prefix: str) -> Iterator[Key]:
    for name, info in model.model_fields.items():
        section = _section(info)
        name = info.alias or name
        yield Key(prefix + name, "" if section else _default(info), info.description or "", section is not None)
        if section:
            yield from _keys(section, f"{prefix}{name}.")


def _section(info: FieldInfo) -> type[BaseModel] | None:
    """Return the model behind ``Model`` or ``Model | None``."""
    candidates = (info.annotation, *get_args(info.annotation))
    return next((kind for kind in candidates if isinstance(kind, type) and issubclass(kind, BaseModel)), None)


def _default(info: FieldInfo) -> str:
    if info.is_required():
        return "required"
    default = info.get_default(call_default_factory=True)
    return "none" if default in (None, {}) else json.dumps(default)
