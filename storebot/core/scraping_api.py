"""What is sent to a scraping API, and what its answer says: templates with placeholders, and paths into JSON."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import quote

from storebot.exceptions import ApiAnswerUnreadable

PLACEHOLDERS = ("url", "key", "country", "language", "render")
"""What ``{…}`` in a template may name: the page, the key, and the store file's country, language and render."""

_PLACEHOLDER = re.compile(r"\{([a-z_]+)\}")
_NAMED_KEYS = 8  # of an answer without the page, in the sentence that says so


class Paths(NamedTuple):
    """Where an answer says something: keys with dots between them; a number is a place in a list."""

    html: Sequence[str]  # the first that leads to a text
    status: str | None = None
    final_url: str | None = None
    cost: str | None = None


class Answer(NamedTuple):
    """What an API says of one page: its HTML, what the shop answered, and where a redirect ended."""

    html: str
    status: int = 200
    final_url: str = ""


def placeholders(template: object) -> set[str]:
    """Return the names of all placeholders in a template of JSON values."""
    match template:
        case str():
            return set(_PLACEHOLDER.findall(template))
        case dict():
            return set().union(*(placeholders(value) for value in template.values()))
        case list() | tuple():
            return set().union(*(placeholders(value) for value in template))
        case _:
            return set()


def filled(template: Any, values: Mapping[str, str | bool]) -> Any:
    """Return a template of JSON values with its placeholders filled.

    A text that is nothing but one placeholder becomes its value, whatever its type; within a text it becomes text.
    """
    match template:
        case str():
            whole = _PLACEHOLDER.fullmatch(template)
            return values[whole[1]] if whole else _PLACEHOLDER.sub(lambda found: _text(values[found[1]]), template)
        case dict():
            return {name: filled(value, values) for name, value in template.items()}
        case list() | tuple():
            return [filled(value, values) for value in template]
        case _:
            return template


def filled_url(template: str, values: Mapping[str, str | bool]) -> str:
    """Return a URL with its placeholders filled, percent-encoded as values of a query."""
    return _PLACEHOLDER.sub(lambda found: quote(_text(values[found[1]]), safe=""), template)


def _text(value: str | bool) -> str:
    return value if isinstance(value, str) else str(value).lower()


def loaded(body: bytes, content_type: str = "") -> Any:
    """Return what an answer's JSON holds.

    Raises `ApiAnswerUnreadable` for anything else, without quoting it: an answer may repeat the key.
    """
    try:
        return json.loads(body)  # not orjson: it refuses half a surrogate pair, which pages do have
    except (ValueError, RecursionError) as error:
        kind = content_type or "of no named type"
        raise ApiAnswerUnreadable(f"the scraping API answered no JSON, but {len(body):,} bytes {kind}") from error


def answer_of(document: Any, paths: Paths) -> Answer:
    """Return what an answer says of the page.

    An answer without HTML is the shop's own refusal where it names a status of 400 or more, with an empty body; else it
    raises `ApiAnswerUnreadable`: an empty page must not be taken for the shop's.
    """
    html = _first_text(document, paths.html)
    status = _status(at(document, paths.status) if paths.status else None)
    if not html and status < 400:
        names = ", ".join(list(document)[:_NAMED_KEYS]) if isinstance(document, dict) else type(document).__name__
        where = " or ".join(paths.html)
        raise ApiAnswerUnreadable(f"the scraping API's answer has no HTML at {where}; it has {names or 'nothing'}")
    final_url = at(document, paths.final_url) if paths.final_url else None
    followed = isinstance(final_url, str) and final_url.startswith(("https://", "http://"))
    return Answer(html, status, str(final_url) if followed else "")


def _first_text(document: Any, paths: Sequence[str]) -> str:
    for path in paths:
        if isinstance(found := at(document, path), str) and found:
            return found
    return ""


def _status(said: Any) -> int:
    """Return a status of HTTP; 200 where the API says none, or something else."""
    return said if isinstance(said, int) and 100 <= said <= 599 else 200


def cost_of(document: Any, path: str | None) -> int | None:
    """Return what an answer says that its call cost, rounded up; None where it doesn't say."""
    cost = at(document, path) if path else None
    if isinstance(cost, bool) or not isinstance(cost, (int, float)) or not 0 <= cost < math.inf:
        return None
    return math.ceil(cost)


def at(document: Any, path: str) -> Any:
    """Return what a dotted path leads to; None where it leads nowhere."""
    for part in path.split("."):
        if isinstance(document, dict):
            document = document.get(part)
        elif isinstance(document, list) and part.isdecimal() and int(part) < len(document):
            document = document[int(part)]
        else:
            return None
    return document
