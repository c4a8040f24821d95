"""The local API of an anti-detect browser: what a call is filled with, and what its answer says."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from storebot.core.scraping_api import at

ASKED = ("profile", "key", "name", "proxy.scheme", "proxy.host", "proxy.port", "proxy.username", "proxy.password")
"""What ``{…}`` may name in a call: the profile, the key, a name for a new profile, and the identity's proxy."""

_PLACEHOLDER = re.compile(r"\{([A-Za-z0-9_.-]+)\}")


class Call(NamedTuple):
    """One call of such an API, filled."""

    method: str
    url: str
    headers: Mapping[str, str]
    body: Any = None  # JSON; None for none


def named(template: object) -> set[str]:
    """Return what the placeholders of a template of JSON values name."""
    match template:
        case str():
            return set(_PLACEHOLDER.findall(template))
        case dict():
            return set().union(*map(named, template.values()))
        case list() | tuple():
            return set().union(*map(named, template))
        case _:
            return set()


def filled(template: Any, values: Mapping[str, str]) -> Any:
    """Return a template of JSON values with its placeholders filled."""
    match template:
        case str():
            return _PLACEHOLDER.sub(lambda found: values.get(found[1], ""), template)
        case dict():
            return {name: filled(value, values) for name, value in template.items()}
        case list() | tuple():
            return [filled(value, values) for value in template]
        case _:
            return template


def read(document: Any, template: str) -> str:
    """Return a template filled from an answer, ``http://127.0.0.1:{data.port}``.

    Raises ValueError, with the path, where the answer has nothing at one.
    """

    def value(found: re.Match[str]) -> str:
        said = at(document, found[1])
        if not isinstance(said, (str, int)) or isinstance(said, bool) or said == "":
            raise ValueError(f"its answer has no {found[1]}")
        return str(said)

    return _PLACEHOLDER.sub(value, template)


def refusal(document: Any, expected: Mapping[str, str | int | bool]) -> str:
    """Say how an answer differs from what one that succeeded says; "" where it doesn't.

    Vendors answer 200 to what failed, with a code in the answer; its own words are repeated where it has some.
    """
    for path, value in expected.items():
        said = at(document, path)
        if said != value:
            words = next((text for name in _WORDS if isinstance(text := at(document, name), str) and text), "")
            return f"{path} is {said!r}, not {value!r}" + (f': "{words[:200]}"' if words else "")
    return ""


_WORDS = ("msg", "message", "error", "status.message", "error.message")
