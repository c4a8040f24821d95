"""Changes as digests read them, and what digests told."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict

import orjson
from sqlalchemy import Connection, and_, delete, select

from storebot.core.alerts.digest import Key, Told
from storebot.core.alerts.moves import Change, Move
from storebot.db.dialects import upsert
from storebot.db.schema import changes, listings, pages, told
from storebot.db.types import bounded

_WATCH_LENGTH = 64


def read(conn: Connection, after_seq: int, until_seq: int, limit: int) -> list[Change]:
    """Return the published changes after one until another, both committed, in their order, with what is now."""
    query = (
        select(
            changes,
            pages.c.url,
            listings.c.url.label("listing_url"),
            listings.c.name,
            listings.c.brand,
            listings.c.price_minor,
            listings.c.currency,
            listings.c.availability,
        )
        .outerjoin(pages, and_(pages.c.store == changes.c.store, pages.c.url_key == changes.c.url_key))
        .outerjoin(listings, and_(listings.c.page_id == pages.c.id, listings.c.variant_id == changes.c.variant_id))
        .where(changes.c.seq > after_seq, changes.c.seq <= until_seq)
        .order_by(changes.c.seq)
        .limit(limit)
    )
    return [
        Change(
            seq=row.seq,
            type=row.type,
            store=row.store,
            url_key=row.url_key,
            variant_id=row.variant_id,
            fields=orjson.loads(row.fields or "[]"),
            at=row.at,
            url=row.listing_url or row.url or "",
            name=row.name or "",
            brand=row.brand or "",
            price_minor=row.price_minor,
            currency=row.currency,
            availability=row.availability,
        )
        for row in conn.execute(query)
    ]


def load(conn: Connection) -> dict[Key, Told]:
    """Return what is remembered of what was told."""
    rows = conn.execute(select(told))
    return {
        (row.watch, row.subject): Told(row.at, _move(row.news), _move(row.waiting) if row.waiting else None)
        for row in rows
    }


def save(conn: Connection, changed: Mapping[Key, Told | None]) -> None:
    """Save what a digest remembers anew, and forget what it doesn't any more."""
    rows = [
        {
            "watch": bounded(watch, _WATCH_LENGTH),
            "subject": subject,
            "at": one.at,
            "news": _text(one.news),
            "waiting": _text(one.waiting) if one.waiting else "",
        }
        for (watch, subject), one in changed.items()
        if one is not None
    ]
    upsert(conn, told, rows)
    for (watch, subject), one in changed.items():
        if one is None:
            conn.execute(delete(told).where(told.c.watch == watch, told.c.subject == subject))


def _text(move: Move) -> str:
    return orjson.dumps(asdict(move)).decode()


def _move(text: str) -> Move:
    return Move(**orjson.loads(text))
