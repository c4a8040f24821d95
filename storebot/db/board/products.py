"""Listings as the dashboard looks through them: by what an index has, or so many rows an answer."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, func, or_, select

from storebot.core.dashboard.paging import Cursor
from storebot.db.paging import go_on
from storebot.db.schema import aliases, derived, listings, pages, stores
from storebot.db.types import AnyRow
from storebot.items import PageStatus

MOST = 10_000
"""Listings that one answer looks at, where what is looked for has no index."""

STAGES = ("score", "same_product", "price_lows", "unit_price")  # that flag: storebot.stages.BUILT_IN
_MOST_EXACT = 50
ORDERS: dict[str, tuple[ColumnElement[Any], ...]] = {
    "id": (listings.c.id,),
    "changed": (listings.c.last_changed_at, listings.c.id),
    "price": (listings.c.price_minor, listings.c.id),
}
COLUMNS = (
    *(
        listings.c[name]
        for name in (
            "id",
            "page_id",
            "variant_id",
            "store",
            "url",
            "options",
            "gtin",
            "sku",
            "price_minor",
            "regular_price_minor",
            "currency",
            "availability",
            "status",
            "first_seen_at",
            "last_changed_at",
        )
    ),
    func.substr(listings.c.name, 1, 300).label("name"),  # a shop may have names of a megabyte
    func.substr(listings.c.brand, 1, 100).label("brand"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Which listings; what isn't said doesn't matter. Prices are minor units of ``currency``."""

    store: str = ""
    status: str = ""
    availability: str = ""  # "none": the page doesn't say
    text: str = ""
    currency: str = ""
    price_from: int | None = None
    price_to: int | None = None
    score_below: int | None = None
    flagged: str = ""  # by which stage; "any"


def listed(
    conn: Connection, wanted: Wanted, order: str, after: Cursor | None, *, descending: bool, limit: int
) -> tuple[list[AnyRow], Cursor | None]:
    """Return listings, one more than ``limit``, and where the search stopped: None where it saw all.

    ``order`` is one of `ORDERS`; all but "id" need a store. Those without a price have no place in the order "price".
    """
    columns = ORDERS[order]
    among, others = _conditions(wanted, order)
    if not others:
        query = select(*COLUMNS).where(*among)
        return list(conn.execute(go_on(query, columns, after, descending=descending, limit=limit))), None
    some = select(*columns).where(*among)
    last = conn.execute(go_on(some, columns, after, descending=descending, limit=0).limit(1).offset(MOST - 1)).first()
    window = go_on(some, columns, after, descending=descending, limit=MOST - 1).subquery()
    query = select(*COLUMNS).join(window, window.c.id == listings.c.id).where(*others)
    rows = conn.execute(go_on(query, columns, None, descending=descending, limit=limit))
    return list(rows), tuple(last) if last is not None else None


def exact(conn: Connection, *, number: int = 0, gtin: str = "", keys: dict[str, str] | None = None) -> list[AnyRow]:
    """Return the listings that a number, a GTIN (of 14 digits) or the key of a page names.

    ``keys``: by store; "" stands for all other stores.
    """
    found: list[AnyRow] = []
    if number:
        found += conn.execute(select(*COLUMNS).where(listings.c.id == number))
    if gtin:
        same = (derived.c.stage == "same_product") & (derived.c.group_key == f"gtin:{gtin}")
        query = select(*COLUMNS).join(derived, derived.c.listing_id == listings.c.id).where(same)
        found += conn.execute(query.order_by(listings.c.id).limit(_MOST_EXACT))
    for store, key in (keys or {}).items():
        found += conn.execute(_of_key(store, key, known_stores(conn) if not store else ()))
    return list({row.id: row for row in found}.values())


def known_stores(conn: Connection) -> list[str]:
    """Return the names of all stores that a run ever worked on."""
    return sorted(conn.execute(select(stores.c.name)).scalars())


def currency_of(conn: Connection, store: str) -> str:
    """Return the currency of a listing of a store that has a price; "" where there is none."""
    priced = (listings.c.store == store) & listings.c.price_minor.is_not(None)
    query = select(listings.c.currency).where(priced).order_by(listings.c.store, listings.c.price_minor).limit(1)
    return conn.execute(query).scalar() or ""


def scores(conn: Connection, listing_ids: Collection[int]) -> dict[int, tuple[int | None, bool]]:
    """Return the confidence in each of these listings, and whether a stage flagged it."""
    mine = derived.c.stage.in_(STAGES) & derived.c.listing_id.in_(sorted(listing_ids))
    query = select(derived.c.stage, derived.c.listing_id, derived.c.number, derived.c.flagged).where(mine)
    found: dict[int, tuple[int | None, bool]] = {}
    for row in conn.execute(query) if listing_ids else ():
        score, flagged = found.get(row.listing_id, (None, False))
        found[row.listing_id] = (row.number if row.stage == "score" else score, flagged or bool(row.flagged))
    return found


def _conditions(wanted: Wanted, order: str) -> tuple[list[ColumnElement[bool]], list[ColumnElement[bool]]]:
    """Return what the index of the order begins with, and what each row has to be looked at for."""
    among: list[ColumnElement[bool]] = [listings.c.store == wanted.store] if wanted.store else []
    others: list[ColumnElement[bool]] = []
    if wanted.status:
        by_index = order == "id" and bool(wanted.store)
        (among if by_index else others).append(listings.c.status == wanted.status)
    prices = among if order == "price" else others
    if order == "price":
        among.append(listings.c.price_minor.is_not(None))
    if wanted.price_from is not None:
        prices.append(listings.c.price_minor >= wanted.price_from)
    if wanted.price_to is not None:
        prices.append(listings.c.price_minor <= wanted.price_to)
    if wanted.currency:
        others.append(listings.c.currency == wanted.currency)
    return among, [*others, *_looked_at(wanted)]


def _looked_at(wanted: Wanted) -> Sequence[ColumnElement[bool]]:
    found: list[ColumnElement[bool]] = []
    if wanted.availability == "none":
        found.append(listings.c.availability.is_(None))
    elif wanted.availability:
        found.append(listings.c.availability == wanted.availability)
    if wanted.text:
        texts = (listings.c[name] for name in ("name", "sku", "gtin", "mpn", "url"))
        found.append(or_(*(text.icontains(wanted.text, autoescape=True) for text in texts)))
    said = select(derived.c.listing_id).where(derived.c.listing_id == listings.c.id)
    if wanted.score_below is not None:
        found.append(said.where(derived.c.stage == "score", derived.c.number < wanted.score_below).exists())
    if wanted.flagged:
        stages = STAGES if wanted.flagged == "any" else (wanted.flagged,)
        found.append(said.where(derived.c.stage.in_(stages), derived.c.flagged == 1).exists())
    return found


def _of_key(store: str, key: str, others: Sequence[str]) -> Select[Any]:
    """Return the listings of the page that a key leads to, be it a former one."""
    names = [store] if store else list(others)
    led = select(aliases.c.page_id).where(aliases.c.store.in_(names), aliases.c.old_key == key)
    own = select(pages.c.id).where(
        pages.c.store.in_(names), pages.c.url_key == key, pages.c.status != PageStatus.GONE.value
    )
    there = listings.c.page_id.in_(own.union(led))
    return select(*COLUMNS).where(there).order_by(listings.c.id).limit(_MOST_EXACT)
