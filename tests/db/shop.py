"""A worker at a store, in few words: it discovers, claims and saves as a crawl does."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import Connection, Table, select

from storebot.db import leases, pages, runs, visits
from storebot.db.context import RunContext
from storebot.db.database import Database
from storebot.db.dialects import now_ms
from storebot.db.holders import Holder, this_process
from storebot.db.saved import Saved
from storebot.items import Availability, Discovered, Listing, Outcome, Record, Target, Visit

STORE = "shop"
NOW = 1_800_000_000_000
HOUR = 3_600_000
VERSIONS: dict[str, Any] = {"parser_version": "p1", "hash_version": 1}


def alive(_: Holder) -> bool:
    """Say that every holder lives."""
    return True


def digest(*parts: object) -> str:
    """Return a hash as Fingerprint makes them."""
    return hashlib.sha256(repr(parts).encode()).hexdigest()


def found(*names: str, lastmod: str | None = None) -> list[Discovered]:
    """Return pages as a sitemap names them."""
    return [Discovered(f"http://shop.example/p/{name}", f"https://shop.example/p/{name}", lastmod) for name in names]


def listing(name: str = "Mug", price_minor: int | None = 1999, variant_id: str = "", **fields: Any) -> Listing:
    """Return a record with its two hashes."""
    made = Listing(
        store=STORE,
        url_key="https://shop.example/p/1",
        url="http://shop.example/p/1",
        variant_id=variant_id,
        **{
            "name": name,
            "price_minor": price_minor,
            "currency": "EUR",
            "availability": Availability.IN_STOCK,
            **fields,
        },
    )
    tracked = replace(made, description=None, images=())
    return replace(made, record_hash=digest(tracked), details_hash=digest(made.description, made.images))


def parsed(target: Target, *found_listings: Listing, at: int = NOW, **fields: Any) -> Visit:
    """Return the visit of a page that parsed."""
    records = found_listings or (listing(),)
    return Visit(
        target=target,
        at_ms=at,
        status=200,
        listings=records,
        content_hash=digest(sorted(one.record_hash for one in records)),
        details_hash=digest(sorted(one.details_hash for one in records)),
        **fields,
    )


def unparsed(target: Target, outcome: Outcome, at: int = NOW, **fields: Any) -> Visit:
    """Return a visit that gave no listing."""
    return Visit(target=target, at_ms=at, outcome=outcome, **{"status": 0, "reason": f"test: {outcome}", **fields})


class Worker:
    """A run over one store on an open database."""

    def __init__(self, database: Database, token: str = "lease", store: str = STORE, kind: str = "refresh", **run: Any):
        self.database, self.token, self.store = database, token, store
        with database.write() as conn:
            leases.take(conn, store, token, this_process(), 60, alive)
            run_id = runs.start(conn, store, kind, token=token, **VERSIONS)
        self.run = RunContext(
            **{
                "run_id": run_id,
                "store": store,
                "lease_token": token,
                "kind": kind,
                "announce_new": False,
                "revisit_after_ms": 24 * HOUR,
                "error_backoff_ms": HOUR,
                **VERSIONS,
                **run,
            }
        )

    def discover(self, *names: str, lastmod: str | None = None) -> int:
        with self.database.write() as conn:
            return pages.discover(conn, self.store, found(*names, lastmod=lastmod), NOW)

    def pending(self, limit: int = 100, token: str = "claim") -> list[Target]:
        with self.database.write() as conn:
            return pages.claim_pending(conn, self.store, token, limit, 60, **self._versions())

    def due(self, before: int = NOW + 10_000 * HOUR, limit: int = 100, token: str = "claim") -> list[Target]:
        with self.database.write() as conn:
            return pages.claim_due(conn, self.store, token, limit, 60, before, **self._versions())

    def save(self, *records: Record) -> list[Saved]:
        with self.database.write() as conn:
            return visits.save(conn, self.run, records)

    def known(self, *names: str, listings: Sequence[Listing] = (), **fields: Any) -> None:
        """Have pages that were parsed once."""
        self.discover(*names)
        self.save(*(parsed(target, *listings, **fields) for target in self.pending()))

    def rows(self, table: Table) -> list[dict[str, Any]]:
        """Return the rows of a table by its primary key."""
        with self.database.read() as conn:
            order = list(table.primary_key)
            return [dict(row) for row in conn.execute(select(table).order_by(*order)).mappings()]

    def only(self, table: Table) -> dict[str, Any]:
        """Return the one row of a table."""
        (row,) = self.rows(table)
        return row

    def clock(self) -> int:
        with self.database.read() as conn:
            return now_ms(conn)

    def _versions(self) -> dict[str, Any]:
        return {"parser_version": self.run.parser_version, "hash_version": self.run.hash_version}


def counted(conn: Connection, table: Table) -> int:
    """Return how many rows a table has."""
    return len(conn.execute(select(table)).all())
