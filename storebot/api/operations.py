"""What can be asked for: one entry an address, from which both the routes and the OpenAPI document are made."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from storebot.db import change_feed, reading
from storebot.db.types import Connection

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


class Operation(NamedTuple):
    """One address. ``key`` names the number that rows are paged by; "" where all of them come at once."""

    name: str
    path: str
    about: str
    shape: str  # of a row: a schema of `openapi`
    parameters: tuple[Parameter, ...]
    read: Callable[[Connection, Values], Any]  # rows, or one; None: there is no such thing
    key: str = ""
    many: bool = True


STORE = Parameter("store", "the store's name", least=None)
LISTING = Parameter("listing", "number of the listing", least=1)
URL_KEY = Parameter("url_key", "only listings of this page, by its key, or one that it had", "", least=None)
_PAGE = (
    Parameter("after", "only what has a number above this one: `after` of the answer before", 0),
    Parameter("limit", f"at most so many, up to {MOST_ROWS}", DEFAULT_ROWS, 1, MOST_ROWS),
)


def _paged(read: Callable[[Connection, str, int, int], reading.Rows]) -> Callable[[Connection, Values], reading.Rows]:
    """Read one row more than asked for: it says whether there are more."""
    return lambda conn, values: read(conn, values["store"], values["after"], values["limit"] + 1)


OPERATIONS = (
    Operation(
        "listings",
        "/v1/stores/{store}/listings",
        "The listings of a store as they are known now, whatever their status.",
        "Listing",
        (STORE, *_PAGE, URL_KEY),
        lambda conn, values: reading.listings_after(
            conn, values["store"], values["after"], values["limit"] + 1, values["url_key"]
        ),
        "id",
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
        "What changed at a store, in the order in which it was found. Nothing is ever inserted before `after`.",
        "Change",
        (STORE, *_PAGE),
        _paged(lambda conn, store, after, limit: change_feed.after(conn, store, after, limit=limit)),
        "seq",
    ),
    Operation(
        "runs",
        "/v1/stores/{store}/runs",
        "The runs over a store, the oldest first.",
        "Run",
        (STORE, *_PAGE),
        _paged(reading.runs_after),
        "id",
    ),
)
