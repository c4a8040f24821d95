"""What can be asked for: one entry an address, from which both the routes and the OpenAPI document are made."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from storebot.core.fingerprint import TRACKED
from storebot.core.webhooks.subscription import TYPES
from storebot.db import change_feed, reading
from storebot.db.sifting import LOOKED_AT
from storebot.db.types import Connection
from storebot.items import Availability, ListingStatus

MOST_ROWS = 1000
DEFAULT_ROWS = 100
_LARGEST = 2**63 - 1

Values = Mapping[str, Any]  # of parameters, by name


class Parameter(NamedTuple):
    """One of them, a whole number unless ``least`` is None: then it's text. Without a default it's of the path."""

    name: str
    about: str
    default: int | str | None = None
    least: int | None = 0
    most: int = _LARGEST
    known: tuple[str, ...] = ()  # the texts that there are; empty: any
    is_time: bool = False  # text that is read as milliseconds; the default is 0


class Operation(NamedTuple):
    """One address. Rows that aren't paged by their number come all at once."""

    name: str
    path: str
    about: str
    shape: str  # of a row: a schema of `openapi`
    parameters: tuple[Parameter, ...]
    read: Callable[[Connection, Values], Any]  # a `Page` where it's paged, else all rows, or one; None: no such thing
    paged: bool = False
    many: bool = True


STORE = Parameter("store", "the store's name", least=None)
LISTING = Parameter("listing", "number of the listing", least=1)
URL_KEY = Parameter("url_key", "only listings of this page, by its key, or one that it had", "", least=None)
_PAGE = (
    Parameter("after", "only what has a number above this one: `after` of the answer before", 0),
    Parameter("limit", f"at most so many, up to {MOST_ROWS}", DEFAULT_ROWS, 1, MOST_ROWS),
)


def _filter(name: str, about: str, *known: str) -> Parameter:
    return Parameter(name, about, "", least=None, known=known)


def _since(about: str) -> Parameter:
    return Parameter("since", about, 0, least=None, is_time=True)


_SIFTED = f"an answer looks at {LOOKED_AT:,} rows: it may have few, or none, and `more`."

OPERATIONS = (
    Operation(
        "listings",
        "/v1/stores/{store}/listings",
        "The listings of a store as they are known now, whatever their status. "
        f"With `availability` or `since` {_SIFTED}",
        "Listing",
        (
            STORE,
            *_PAGE,
            URL_KEY,
            _filter("status", "only listings of this status", *(one.value for one in ListingStatus)),
            _filter("availability", "only listings of this availability", *(one.value for one in Availability)),
            _since("only listings whose record changed at this time or later; what went missing is told by `changes`"),
        ),
        lambda conn, values: reading.listings_after(
            conn,
            values["store"],
            values["after"],
            values["limit"],
            url_key=values["url_key"],
            status=values["status"],
            availability=values["availability"],
            changed_since_ms=values["since"],
        ),
        paged=True,
    ),
    Operation(
        "listing",
        "/v1/stores/{store}/listings/{listing}",
        "One listing.",
        "Listing",
        (STORE, LISTING),
        lambda conn, values: reading.one_listing(conn, values["store"], values["listing"]),
        many=False,
    ),
    Operation(
        "history",
        "/v1/stores/{store}/listings/{listing}/history",
        "What was observed of a listing, from when to when; and when it couldn't be observed.",
        "Span",
        (STORE, LISTING),
        lambda conn, values: reading.history_of(conn, values["store"], values["listing"]),
    ),
    Operation(
        "changes",
        "/v1/stores/{store}/changes",
        "What changed at a store, in the order in which it was found. Nothing is ever inserted before `after`. "
        f"With a filter {_SIFTED}",
        "Change",
        (
            STORE,
            *_PAGE,
            _filter("type", "only changes of this type", *TYPES),
            _filter("field", "only changes of this field", *TRACKED, "status"),
            _since("only changes found at this time or later"),
        ),
        lambda conn, values: change_feed.where(
            conn,
            values["store"],
            values["after"],
            values["limit"],
            type=values["type"],
            field=values["field"],
            since_ms=values["since"],
        ),
        paged=True,
    ),
    Operation(
        "runs",
        "/v1/stores/{store}/runs",
        "The runs over a store, the oldest first.",
        "Run",
        (STORE, *_PAGE),
        lambda conn, values: reading.runs_after(conn, values["store"], values["after"], values["limit"]),
        paged=True,
    ),
)
