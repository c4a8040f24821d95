"""The rows of one group commit, gathered by kind and written with one statement each."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, Executable, bindparam, insert, select, update

from storebot.db.schema import blocks, changes, listings, offers, pages, visits
from storebot.items import ListingStatus, PageStatus

Rows = list[dict[str, Any]]

_PAGE = pages.c.id == bindparam("of_page")
_UNCLAIMED = {"claim_token": "", "claim_expires_at": 0, "tries": 0}
_SEEN = {**_UNCLAIMED, "status": PageStatus.PARSED.value, "misses": 0, "last_error": "", "last_failure": ""}


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
]
_PAGE_SEEN_AT = select(pages.c.checked_at).where(_PAGE).scalar_subquery()
_MISSING = {"status": ListingStatus.MISSING.value}
_ACTIVE = {"status": ListingStatus.ACTIVE.value, "missing_why": ""}

# In the order in which they're written: a listing's status follows its page's, then its own.
STATEMENTS: dict[str, Executable] = {
    "page_missing_listings": update(listings)
    .where(listings.c.page_id == bindparam("of_page"), listings.c.status == ListingStatus.ACTIVE.value)
    .values({**_MISSING, "missing_why": "page", "last_seen_at": _PAGE_SEEN_AT}),
    "page_back_listings": update(listings)
    .where(listings.c.page_id == bindparam("of_page"), listings.c.missing_why == "page")
    .values(_ACTIVE),
    "page_parsed": _set(*_PARSED, **_SEEN),
    "page_not_modified": _set("checked_at", "next_due_at", **_SEEN),
    "page_missing": _set(
        "status", "checked_at", "next_due_at", "last_error", "last_failure", misses=pages.c.misses + 1, **_UNCLAIMED
    ),
    "page_failed": _set("status", "next_due_at", "last_error", "last_failure", **_UNCLAIMED),
    "page_distrusted": _set(etag=None, last_modified=None),
    "variant_missing": update(listings)
    .where(listings.c.id == bindparam("of_listing"))
    .values({**_MISSING, "missing_why": "variant", "last_seen_at": bindparam("seen_at")}),
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
    "offer": insert(offers),
    "change": insert(changes),
    "visit": insert(visits),
    "block": insert(blocks),
}


class Batch:
    """Rows to write; nothing is written before `write`."""

    def __init__(self) -> None:
        self.rows: dict[str, Rows] = {kind: [] for kind in STATEMENTS}

    def add(self, kind: str, row: dict[str, Any]) -> None:
        """Add a row under the name of its statement, with that statement's parameters."""
        self.rows[kind].append(row)

    def write(self, conn: Connection) -> None:
        """Write all of it, in the transaction of the caller."""
        for kind, statement in STATEMENTS.items():
            if rows := self.rows[kind]:
                conn.execute(statement, rows)


def renamed(values: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters of an UPDATE for these columns: a parameter can't have a column's own name."""
    return {f"to_{name}": value for name, value in values.items()}
