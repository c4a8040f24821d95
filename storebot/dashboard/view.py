"""What a module of `storebot.dashboard.pages` declares: views, charts and deeds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, NamedTuple

from storebot.core.dashboard.paging import Cursor
from storebot.dashboard.site import Site, Visitor
from storebot.db.types import Connection

Facts = dict[str, Any]
"""What a page shows, as plain values: text, numbers, Decimal, aware datetimes, lists and dicts of them. The page's
``.json`` gives exactly these, its template gets them as names."""


class NotFound(Exception):
    """Raised by a view for something that isn't there; the text says what."""


@dataclass(frozen=True, slots=True)
class Ask:
    """One request for a page. Everything is read through ``conn``, in one transaction that only reads."""

    conn: Connection
    site: Site
    visitor: Visitor
    path: Mapping[str, str]
    query: Mapping[str, str]
    now_ms: int
    marked: Mapping[str, Sequence[str]] = field(default_factory=dict)  # all values of those that may come many times

    def number(self, name: str) -> int:
        """Return a number of the path. Raises NotFound where it is none."""
        text = str(self.path[name])
        if not (text.isascii() and text.isdecimal() and len(text) < 19):
            raise NotFound(f"{text[:40]} is no number of a {name}")
        return int(text)


class Choice(NamedTuple):
    """A filter of a list. Without ``values`` any text may be given; with them, one of these."""

    name: str
    label: str
    values: tuple[tuple[str, str], ...] = ()  # value, and how it's called


class Sort(NamedTuple):
    """An order of a list. ``kinds`` are the types of its cursor's values: the last is that of the unique one."""

    name: str
    label: str
    kinds: tuple[type, ...]
    descending: bool = False  # where nothing else is asked for


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """How a list may be asked for. The first order is the usual one."""

    sorts: tuple[Sort, ...]
    choices: tuple[Choice, ...] = ()
    per_page: int = 50


@dataclass(frozen=True, slots=True)
class View:
    """A page at ``path``, and as JSON at ``path.json``; ``template`` is a file of the folder templates.

    ``read`` returns the facts, or raises `NotFound`; ValueError is wrong use of the address (400).
    """

    path: str
    name: str
    template: str
    read: Callable[[Ask], Facts]
    listed: Listed | None = None  # its list; its address takes sort, after, limit and the choices
    parameters: tuple[str, ...] = ()  # others that its address takes
    many: tuple[str, ...] = ()  # others that it takes any number of times


@dataclass(frozen=True, slots=True)
class Picture:
    """An SVG at ``path``, drawn of the same rows as a table beside it; ``narrow`` is what a phone asks for."""

    path: str
    name: str
    draw: Callable[[Ask, bool], bytes]
    parameters: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Foreign:
    """A page of a shop, as it was kept, at ``path``: for a frame in which nothing runs and nothing is loaded."""

    path: str
    name: str
    read: Callable[[Ask], str]


@dataclass(frozen=True, slots=True)
class Order:
    """One deed that somebody asks for by a form. ``form`` has the fields, each with all its values."""

    site: Site
    visitor: Visitor
    form: Mapping[str, Sequence[str]]
    path: Mapping[str, str]

    def one(self, name: str, default: str = "") -> str:
        """Return the value of a field that has one."""
        return self.form[name][0].strip() if self.form.get(name) else default

    def numbers(self, name: str) -> list[int]:
        """Return the numbers that were marked. Raises ValueError for none, or what is no number."""
        texts = self.form.get(name, ())
        if not texts:
            raise ValueError("nothing was marked: mark at least one row")
        if not all(text.isascii() and text.isdecimal() and len(text) < 19 for text in texts):
            raise ValueError(f"{name}: expected numbers")
        return [int(text) for text in texts]


class Told(NamedTuple):
    """What an audit row says of a deed."""

    store: str
    subject: str
    why: str = ""


@dataclass(frozen=True, slots=True)
class Deed:
    """Something that an operator does, by POST to ``path``; then the browser goes back to where it was.

    ``tell`` says what is about to be done, for the audit, before anything is; ``do`` does it through the verbs that the
    commands use, and returns a sentence. Both may raise ValueError (nothing is done), ``do`` also StorebotError:
    refused, with its text.
    """

    path: str
    verb: str  # of the audit
    tell: Callable[[Order], Told]
    do: Callable[[Order], str]


@dataclass(frozen=True, slots=True)
class Asked:
    """What a list's address asks for."""

    sort: Sort
    descending: bool
    after: Cursor | None
    limit: int
    choices: Mapping[str, str]  # by name, those that are set


def moment(at_ms: int | None) -> datetime | None:
    """Return a time of the database as one with UTC; None for none, be it NULL or 0."""
    return datetime.fromtimestamp(at_ms / 1000, UTC) if at_ms else None
