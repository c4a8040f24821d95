"""What a store of any size is asked at the end of a run stays within what a statement may hold (case J05)."""

from __future__ import annotations

import sqlite3

from sqlalchemy import Connection, func, insert, select

from storebot.core.delist import DAY_MS, Rules
from storebot.db import delisting, rounds
from storebot.db.database import Database
from storebot.db.schema import listings, namings, pages, scopes
from storebot.items import ListingStatus
from tests.db.shop import HOUR, STORE, Worker

MANY = 1_500
PARTS = 500
LIMIT = 1_000  # parameters of a statement: a thirtieth of SQLite's own limit, so that a thirtieth of the pages will do


NOW = 1_600_000_000_000  # rounds go by the database's clock: what was seen then was seen before they began


def limited(conn: Connection) -> None:
    """Have SQLite refuse statements with more parameters than `LIMIT`."""
    raw = conn.connection.driver_connection
    if isinstance(raw, sqlite3.Connection):
        raw.setlimit(sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER, LIMIT)


def test_more_pages_than_a_statement_has_parameters_go_missing_and_are_delisted(database: Database) -> None:
    """Case J05: a store of which most vanished."""
    shop = Worker(database)
    shop.known("1", at=NOW)
    page, listing = shop.only(pages), shop.only(listings)
    del page["id"], listing["id"]
    with database.write() as conn:
        for first in range(0, MANY, PARTS):
            keys = [f"https://shop.example/p/copy-{number}" for number in range(first, first + PARTS)]
            conn.execute(insert(pages), [{**page, "url": key, "url_key": key} for key in keys])
        ids = conn.execute(select(pages.c.id).order_by(pages.c.id)).scalars().all()
        limited(conn)
        round_ = rounds.begin(conn, STORE, "sitemaps", "", resumes=False)
        for first in range(0, len(ids), PARTS):
            part = ids[first : first + PARTS]
            conn.execute(insert(listings), [{**listing, "page_id": one} for one in part if one != ids[0]])
            rounds.name(conn, round_, part, NOW)
        rounds.end(conn, {round_: ""})
        for _ in range(3):
            round_ = rounds.begin(conn, STORE, "sitemaps", "", resumes=False)
            rounds.name(conn, round_, ids[:1], NOW)
            rounds.end(conn, {round_: ""})
        assert rounds.miss(conn, STORE, enough=3, share=1.0) == (MANY, True)
        missing = select(func.count()).where(listings.c.status == ListingStatus.MISSING.value)
        assert conn.execute(missing).scalar_one() == MANY
        gone = {"misses": 4, "first_missed_at": NOW, "missed_by": "404", "checked_at": NOW + 2 * DAY_MS}
        conn.execute(pages.update().where(pages.c.id != ids[0]).values(gone))
        assert delisting.confirm(conn, STORE, shop.run.run_id, Rules(), NOW + 3 * DAY_MS + HOUR) == MANY
        left = select(func.count()).where(listings.c.status != ListingStatus.DELISTED.value)
        assert conn.execute(left).scalar_one() == 1
        assert conn.execute(select(func.count()).select_from(namings)).scalar_one() == MANY + 1
        assert conn.execute(select(scopes.c.rounds)).scalar_one() == 4
