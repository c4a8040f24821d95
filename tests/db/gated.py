"""A worker whose run has a write gate, as a session gives it one; and what became of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from storebot.core.gate_limits import Declared
from storebot.db import promotion
from storebot.db.database import Database
from storebot.db.holds import OPEN
from storebot.db.saved import Saved, count
from storebot.db.schema import changes, holds, listings, offers, pages
from storebot.items import Record
from tests.db.shop import Worker, listing, parsed

NAMES = tuple(str(number) for number in range(1, 11))


class GatedWorker(Worker):
    """``sample`` known pages make its run old enough."""

    def __init__(self, database: Database, sample: int = 50, **options: Any) -> None:
        super().__init__(database, **options)
        with database.read() as conn:
            self.gate = promotion.open_gate(conn, self.run, Declared(sample=sample), 0)
        self.run = replace(self.run, gate=self.gate)

    def save(self, *records: Record) -> list[Saved]:
        saved = super().save(*records)
        count(self.gate, saved)
        return saved

    def promote(self) -> list[Saved]:
        """Publish what waits for the run to grow old."""
        return [one for some in promotion.promote(self.database, self.run, self.gate) for one in some]

    def finish(self) -> list[Saved]:
        """Judge the run at its end."""
        return [one for some in promotion.finish(self.database, self.run, self.gate) for one in some]

    def holds(self, *statuses: str) -> list[dict[str, Any]]:
        return [row for row in self.rows(holds) if row["status"] in (statuses or OPEN)]

    def published(self) -> tuple[Any, ...]:
        """Return what anybody reads, and what the pages' rows stand for."""
        kept = ("url_key", "content_hash", "etag", "misses", "canonical_key")
        return (
            self.rows(listings),
            self.rows(offers),
            self.rows(changes),
            [[row[name] for name in kept] for row in self.rows(pages)],
        )


def known_store(database: Database, names: Sequence[str] = NAMES, **fields: Any) -> Worker:
    """Have a store whose pages each sell a product of their own, and return the worker that read them."""
    shop = Worker(database, kind="backfill")
    shop.discover(*names)
    for target in shop.pending(limit=1000):
        name = target.url_key.rpartition("/")[2]
        shop.save(parsed(target, listing(f"Mug {name}", 1000 + int(name), sku=f"M-{name}"), etag='"a"', **fields))
    return shop
