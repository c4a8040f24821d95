"""Products that a page of a walk carries whole: their pages are claimed in the transaction that visits them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from sqlalchemy import Connection, bindparam, select

from storebot.db.context import RunContext
from storebot.db.discovery import discover
from storebot.db.schema import aliases, pages
from storebot.items import CatalogPage, PageStatus, Visit

_CHUNK = 500  # keys a statement

_OWN = select(pages.c.url_key, pages.c.id, pages.c.status).where(
    pages.c.store == bindparam("store"), pages.c.url_key.in_(bindparam("keys", expanding=True))
)
_LED = select(aliases.c.old_key, aliases.c.page_id).where(
    aliases.c.store == bindparam("store"), aliases.c.old_key.in_(bindparam("keys", expanding=True))
)


class CarriedVisits(NamedTuple):
    """The visits of one page of a walk, each with its page and the run's claim on it."""

    visits: list[Visit]
    new_pages: int
    cards_same: int = 0  # cards whose price is believed, and is the one that is published


def claimed(conn: Connection, run: RunContext, page: CatalogPage) -> CarriedVisits:
    """Save the pages that a page of a walk names, and return its visits with them.

    A key that was moved leads to the page that it moved to. A visit whose key no index can hold is left out, as
    `discover` says. The caller has the store's lease, so that no other run can have claimed any of these pages.
    """
    new = discover(conn, page.store, page.found, page.at_ms, named=page.round)
    ids = holders(conn, page.store, sorted({visit.target.url_key for visit in page.visits}))
    visits = [
        replace(
            visit,
            target=replace(visit.target, page_id=ids[visit.target.url_key], claim_token=run.lease_token),
            final_key="",
        )
        for visit in page.visits
        if visit.target.url_key in ids
    ]
    return CarriedVisits(visits, new)


def holders(conn: Connection, store: str, keys: Sequence[str]) -> dict[str, int]:
    """Return the page that each key leads to: its own, or if that was retired, its alias's."""
    found: dict[str, int] = {}
    for start in range(0, len(keys), _CHUNK):
        parameters = {"store": store, "keys": keys[start : start + _CHUNK]}
        own = {row.url_key: row for row in conn.execute(_OWN, parameters)}
        led = {row.old_key: row.page_id for row in conn.execute(_LED, parameters)}
        found |= led | {
            key: row.id for key, row in own.items() if row.status != PageStatus.GONE.value or key not in led
        }
    return found
