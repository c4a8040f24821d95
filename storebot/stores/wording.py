"""How errors of store files are worded: what was expected, what was found, and the nearest valid name."""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from difflib import get_close_matches

from pydantic_core import PydanticCustomError

_CREDENTIALS = re.compile(r"\b(h\w*:/*)[^/?#@\s]*@", re.IGNORECASE)


def wrong(problem: str, *, key: str = "", nearest: str | None = None) -> PydanticCustomError:
    """Return the error for one value; ``key`` (dotted) says where, when it isn't the value that is being read."""
    return PydanticCustomError("store_file", "{problem}", {"problem": problem, "key": key, "nearest": nearest})


def shown(value: object) -> str:
    """Return a value as an error names it, short and with its TOML type."""
    match value:
        case bool():
            return f"the boolean {str(value).lower()}"
        case str():
            return f"the text {clipped(value)}"
        case int() | float():
            return f"the number {value}"
        case list():
            return f"a list of {len(value)}"
        case dict():
            return "a table"
        case _:
            return f"the date or time {value}"


def clipped(text: str, width: int = 60) -> str:
    """Return ``text`` in double quotes on one line, cut at ``width`` characters, without a password it may hold."""
    text = _CREDENTIALS.sub(r"\1…@", text)
    return json.dumps(text if len(text) <= width else text[: width - 1] + "…", ensure_ascii=False)


def nearest(name: str, names: Collection[str]) -> str | None:
    """Return the one of ``names`` that ``name`` was probably meant to be, or None when nothing is close."""
    lower = {known.lower(): known for known in names}
    close = get_close_matches(name.lower(), lower, n=1, cutoff=0.6)
    return lower[close[0]] if close else None
