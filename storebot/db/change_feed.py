"""The outbox of changes, read in its order."""

from __future__ import annotations

from typing import Any

import orjson
from sqlalchemy import ColumnElement, Connection, bindparam, func, select

from storebot.core.export.columns import iso, time
from storebot.db.schema import changes
from storebot.db.sifting import Page, page, sifted
from storebot.db.types import AnyRow

_AFTER = (
    select(changes)
    .where(changes.c.store == bindparam("store"), changes.c.seq > bindparam("after"))
    .order_by(changes.c.seq)
    .limit(bindparam("first"))
)


def after(conn: Connection, store: str, seq: int, *, limit: int = 500) -> list[dict[str, Any]]:
    """Return the store's changes after ``seq``, the oldest first, as JSON values; at most ``limit``.

    One run at a time writes a store's changes, in the order of their numbers: what was read is never followed by a
    smaller one.
    """
    return [_change(row) for row in conn.execute(_AFTER, {"store": store, "after": seq, "first": limit})]


def where(
    conn: Connection, store: str, seq: int, limit: int, *, type: str = "", field: str = "", since_ms: int = 0
) -> Page:
    """Return the store's changes after ``seq`` that meet these conditions, as `sifting` does."""
    conditions = []
    if type:
        conditions.append(changes.c.type == type)
    if field:
        conditions.append(changes.c.fields.contains(field, autoescape=True))
    if since_ms:
        conditions.append(changes.c.at >= since_ms)
    if not conditions:
        return page(after(conn, store, seq, limit=limit + 1), limit, seq, _seq)

    def read(among: ColumnElement[bool]) -> list[dict[str, Any]]:
        query = _AFTER.where(*conditions, among)
        found = conn.execute(query, {"store": store, "after": seq, "first": limit + 1})
        return [_change(row) for row in found]

    found = sifted(conn, changes.c.seq, [changes.c.store == store], seq, limit, read, _seq)
    if field:  # the text alone may stand in a value, too
        rows = [one for one in found.rows if any(each["field"] == field for each in one["fields"])]
        return found._replace(rows=rows)
    return found


def last_seq(conn: Connection, store: str) -> int:
    """Return the number of the store's newest change; 0 before there is one."""
    return conn.execute(select(func.max(changes.c.seq)).where(changes.c.store == store)).scalar() or 0


def _seq(change: dict[str, Any]) -> int:
    return int(change["seq"])


def _change(row: AnyRow) -> dict[str, Any]:
    values = {str(name): value for name, value in row._mapping.items()}  # orjson takes no key of SQLAlchemy's own class
    at = time(row.at)
    return {**values, "fields": orjson.loads(row.fields), "at": iso(at) if at else None}
