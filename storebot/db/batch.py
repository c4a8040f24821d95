"""The rows of one group commit, gathered by kind and written with one statement each."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from operator import itemgetter
from typing import TYPE_CHECKING, Any, cast

from sqlalchemy import (
    ClauseElement,
    Connection,
    Dialect,
    Executable,
    bindparam,
    func,
    insert,
    select,
    update,
)
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.schema import ScalarElementColumnDefault

from storebot.db import tallies
from storebot.db.schema import blocks, changes, listings, offers, pages, visits
from storebot.items import ListingStatus, PageStatus

if TYPE_CHECKING:
    from storebot.db.learning import Lesson

Rows = list[dict[str, Any]]

_PAGE = pages.c.id == bindparam("of_page")
_UNCLAIMED = {"claim_token": "", "claim_expires_at": 0, "tries": 0}
_LEARNED = ("change_credit", "exposure_h", "listed_at", "value")  # of a page's past, by a look at it: core.planner
_LOOKED = {"signal": 0}  # whatever said that it had changed
_FOUND = {"misses": 0, "first_missed_at": None, "missed_by": None, "delisted_at": None, "stray_hash": None}
_SEEN = {**_UNCLAIMED, **_FOUND, **_LOOKED, "status": PageStatus.PARSED.value, "last_error": "", "last_failure": ""}


def _set(*names: str, **fixed: Any) -> Executable:
    return update(pages).where(_PAGE).values({**fixed, **{name: bindparam(f"to_{name}") for name in names}})


_PARSED = [
    "content_hash",
    "details_hash",
    "source_hash",
    "hash_version",
    "parser_version",
    "etag",
    "last_modified",
    "fetched_at",
    "checked_at",
    "next_due_at",
    "canonical_key",
    *_LEARNED,
    "category_id",
]
_SHOWN = ("listed_at", "view_id", "card_price_minor", "card_stock")
_PAGE_SEEN_AT = select(pages.c.checked_at).where(_PAGE).scalar_subquery()
_MISSING = {"status": ListingStatus.MISSING.value}
_ACTIVE = {"status": ListingStatus.ACTIVE.value, "missing_why": ""}

# What of a listing isn't read from its page.
_NOT_READ = frozenset({"id", "page_id", "variant_id", "store", "status", "missing_why", "tier"}) | {
    column.name for column in listings.c if column.name.endswith("_at")
}

# In the order in which they're written: a listing's status follows its page's, then its own.
STATEMENTS: dict[str, Executable] = {
    "page_missing_listings": update(listings)
    .where(listings.c.page_id == bindparam("of_page"), listings.c.status == ListingStatus.ACTIVE.value)
    .values({**_MISSING, "missing_why": "page", "last_seen_at": _PAGE_SEEN_AT}),
    "page_back_listings": update(listings)
    .where(
        listings.c.page_id == bindparam("of_page"),
        listings.c.missing_why == "page",
        listings.c.status == ListingStatus.MISSING.value,
    )
    .values(_ACTIVE),
    "page_parsed": _set(*_PARSED, **_SEEN, carded_at=None),
    "page_not_modified": _set("checked_at", "next_due_at", *_LEARNED, "category_id", **_SEEN),
    "page_missing": _set(
        "status",
        "checked_at",
        "next_due_at",
        "last_error",
        "last_failure",
        "missed_by",
        "stray_hash",
        misses=pages.c.misses + 1,
        first_missed_at=func.coalesce(pages.c.first_missed_at, bindparam("to_checked_at")),
        **_UNCLAIMED,
        **_LOOKED,
    ),
    "page_failed": _set("status", "next_due_at", "last_error", "last_failure", "stray_hash", **_UNCLAIMED),
    "page_held": _set("status", "next_due_at", "last_error", last_failure="", **_UNCLAIMED),
    "page_distrusted": _set(etag=None, last_modified=None),
    # What a card says of its page; behind what looks at pages themselves wrote in the same batch.
    "page_shown": _set(*_SHOWN),
    "page_hinted": _set("signal", "next_due_at"),
    "page_seen_on_card": _set("change_credit", "exposure_h", "signal"),
    "page_carded": _set(
        "content_hash",
        "carded_at",
        "change_credit",
        "exposure_h",
        "signal",
        source_hash=None,
        etag=None,
        last_modified=None,
    ),
    "page_off_view": _set("view_id"),
    "variant_missing": update(listings)
    .where(listings.c.id == bindparam("of_listing"))
    .values({**_MISSING, "missing_why": "variant", "last_seen_at": bindparam("seen_at")}),
    "listing_relisted": update(listings)
    .where(listings.c.id == bindparam("of_listing"))
    .values({**_ACTIVE, "last_changed_at": bindparam("back_at")}),
    "listing_left_out": update(listings)  # of a product that came back without it: it stays delisted
    .where(listings.c.id == bindparam("of_listing"))
    .values(missing_why="variant"),
    "listing_new": insert(listings),
    "listing_rewritten": update(listings)
    .where(listings.c.id == bindparam("of_listing"))
    .values(
        {
            **{
                column.name: bindparam(f"to_{column.name}")
                for column in listings.c
                if column.name not in {"id", "page_id", "variant_id", "store", "first_seen_at", *_ACTIVE}
            },
            **_ACTIVE,
        }
    ),
    "page_corrected": _set("content_hash", "details_hash", "source_hash", "hash_version", "parser_version"),
    "variant_found": update(listings).where(listings.c.id == bindparam("of_listing")).values(_ACTIVE),
    "listing_corrected": update(listings)  # by a parser that read the same page again: neither seen nor changed anew
    .where(listings.c.id == bindparam("of_listing"))
    .values({column.name: bindparam(f"to_{column.name}") for column in listings.c if column.name not in _NOT_READ}),
    "offer": insert(offers),
    "change": insert(changes),
    "visit": insert(visits),
    "block": insert(blocks),
}


class _Direct:
    """A statement as its driver takes it: the rows of a batch don't each go through SQLAlchemy's types and names.

    That was half of what a new listing of forty-five columns cost to save. Sound because every column holds a number
    or text, which the drivers take as they are.
    """

    def __init__(self, statement: Executable, dialect: Dialect, names: Sequence[str]) -> None:
        compiled = cast("ClauseElement", statement).compile(
            dialect=dialect, column_keys=list(names), for_executemany=True
        )
        assert isinstance(compiled, SQLCompiler)
        self.sql = compiled.string
        self._fixed = {name: value for name, value in compiled.params.items() if name not in names}
        for (
            column
        ) in compiled.insert_prefetch:  # a column that no row names has its default: a constant, in every table
            assert isinstance(column.default, ScalarElementColumnDefault)
            self._fixed[column.key] = column.default.arg
        self._order = compiled.positiontup if compiled.positional else None

    def parameters(self, rows: Rows) -> Any:
        """Return the rows as the driver wants them: tuples in the order of the placeholders, or mappings."""
        full = [{**self._fixed, **row} for row in rows] if self._fixed else rows
        if self._order is None:
            return full
        if len(self._order) == 1:
            return [(row[self._order[0]],) for row in full]
        return list(map(itemgetter(*self._order), full))


@lru_cache(maxsize=128)
def _direct(kind: str, dialect: Dialect, names: tuple[str, ...]) -> _Direct:
    return _Direct(STATEMENTS[kind], dialect, names)


class Batch:
    """Rows to write; nothing is written before `write`. ``lessons`` are to be learned before: they complete rows."""

    def __init__(self) -> None:
        self.rows: dict[str, Rows] = {kind: [] for kind in STATEMENTS}
        self.lessons: list[Lesson] = []

    def add(self, kind: str, row: dict[str, Any]) -> None:
        """Add a row under the name of its statement, with that statement's parameters."""
        self.rows[kind].append(row)

    def take(self, other: Batch) -> None:
        """Add all rows of another batch."""
        for kind, rows in other.rows.items():
            if rows:
                self.rows[kind] += rows
        self.lessons += other.lessons

    def write(self, conn: Connection) -> None:
        """Write all of it, in the transaction of the caller, and be empty again."""
        for kind in STATEMENTS:
            if rows := self.rows[kind]:
                direct = _direct(kind, conn.dialect, tuple(rows[0]))
                conn.exec_driver_sql(direct.sql, direct.parameters(rows))
                if kind == "visit":
                    tallies.add(conn, rows)
                self.rows[kind] = []


def renamed(values: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters of an UPDATE for these columns: a parameter can't have a column's own name."""
    return {f"to_{name}": value for name, value in values.items()}
