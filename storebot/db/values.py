"""What changes of pages are worth, in their rows: anew where the store file's rules are other ones than before."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import groupby
from typing import NamedTuple

import orjson
from sqlalchemy import Connection, bindparam, select, update

from storebot.core.planner.value import ValueRule, value_of
from storebot.db.database import Database
from storebot.db.retry import retrying
from storebot.db.schema import listings, pages

_CHUNK = 2_000  # pages a transaction
_WORTH = update(pages).where(pages.c.id == bindparam("of_page")).values(value=bindparam("to_value"))


class _Sold(NamedTuple):
    brand: str | None
    category_path: Sequence[str]
    price_minor: int | None
    currency: str | None


def value_anew(database: Database, store: str, rules: Sequence[ValueRule]) -> int:
    """Give all pages of a store with a record their value by these rules; return how many have another one now.

    Chunk by chunk, each in its own transaction: harmless twice.
    """
    changed, after = 0, 0
    while True:
        more, after = retrying(database, partial(_value_some, store=store, rules=rules, after=after))
        changed += more
        if not after:
            return changed


def _value_some(conn: Connection, store: str, rules: Sequence[ValueRule], after: int) -> tuple[int, int]:
    """Value some pages behind an id; return how many changed, and the last id, 0 at the end."""
    of_store = select(pages.c.id, pages.c.value).where(pages.c.store == store, pages.c.id > after)
    some = {row.id: row.value for row in conn.execute(of_store.order_by(pages.c.id).limit(_CHUNK))}
    if not some:
        return 0, 0
    sold = (
        select(
            listings.c.page_id,
            listings.c.brand,
            listings.c.category_path,
            listings.c.price_minor,
            listings.c.currency,
        )
        .where(listings.c.page_id.between(min(some), max(some)), listings.c.store == store)
        .order_by(listings.c.page_id)
    )
    rows = []
    for page_id, found in groupby(conn.execute(sold), key=lambda row: row.page_id):
        worth = value_of(rules, (_sold(row) for row in found))
        if page_id in some and worth != some[page_id]:
            rows.append({"of_page": page_id, "to_value": worth})
    if rows:
        conn.execute(_WORTH, rows)
    return len(rows), max(some)


def _sold(row: object) -> _Sold:
    brand, path, price, currency = (getattr(row, name) for name in _Sold._fields)
    return _Sold(brand, orjson.loads(path or "[]"), price, currency)
