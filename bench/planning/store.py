"""A store of any number of pages as a database has it after some weeks: rates, cards, signals, and what is away."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sqlalchemy import insert

from storebot.core.planner.hazard import Flag
from storebot.core.planner.knowledge import CARDS_ENOUGH, FIRST_RATE, Category
from storebot.db import knowledge
from storebot.db.database import Database
from storebot.db.knowledge import HOUR_MS
from storebot.db.schema import catalogue_views, pages, stores
from storebot.items import PageStatus

STORE = "bench"
CATEGORIES, CARDS = 60, 48
NOW = 1_780_000_000_000
PARSER = "bench-1"
_CHUNK = 10_000


def make(path: Path, count: int, seed: int = 1) -> None:
    """Write a database with so many pages of one store."""
    database = Database.open(f"sqlite:///{path}")
    rng = random.Random(seed)
    try:
        with database.write() as conn:
            conn.execute(insert(stores), [{"name": STORE}])
            memory = knowledge.load(conn, STORE, NOW)
            knowledge.add_categories(conn, STORE, memory, [f"Category {number}" for number in range(CATEGORIES)])
            numbers = sorted(memory.names.values())
            for number in numbers:
                mean = FIRST_RATE * rng.lognormvariate(0, 0.7)
                memory.knowledge.categories[number] = Category(mean, rng.random() * 3, rng.random() * 3, NOW / HOUR_MS)
            learned = memory.knowledge
            learned.card_pairs = learned.card_equal = 10 * CARDS_ENOUGH
            learned.bumps, learned.sitemap_page_hours, learned.reads_sitemaps = count * 0.05, count * 24.0, True
            memory.lastmods_at = NOW - HOUR_MS
            knowledge.save(conn, STORE, memory, numbers)
            conn.execute(insert(catalogue_views), [*_views(count)])
            rows = _pages(rng, count, numbers)
            while some := [row for _, row in zip(range(_CHUNK), rows, strict=False)]:
                conn.execute(insert(pages), some)
            conn.exec_driver_sql("ANALYZE")
    finally:
        database.dispose()


def _views(count: int) -> Iterator[dict[str, Any]]:
    for number in range(1, -(-count // CARDS) + 1):
        url = f"https://shop.example/catalogue/page-{number}.html"
        place = {"store": STORE, "walk": "catalogue", "number": number, "url": url}
        yield {**place, "viewed_at": NOW - 24 * HOUR_MS, "cards": CARDS, "shown": "[]"}


def _pages(rng: random.Random, count: int, categories: list[int]) -> Iterator[dict[str, Any]]:
    """Yield rows with all that a page which was read has, so that a row is as long as in a store."""
    for number in range(1, count + 1):
        looked = NOW - round(rng.random() * 30 * 24 * HOUR_MS)
        chance = rng.random()
        signal = Flag.LASTMOD if chance < 0.04 else Flag.DIFFERS if chance < 0.042 else Flag.NONE
        away = chance > 0.998
        key = f"shop.example/p/hawthorn-classic-copper-hand-towel-{number}"
        digest = f"{rng.getrandbits(256):064x}"
        yield {
            "store": STORE,
            "url_key": f"https://{key}",
            "url": f"https://{key}",
            "status": PageStatus.PARSED.value,
            "etag": f'"{digest[:32]}"',
            "last_modified": "Mon, 05 Jan 2026 06:30:00 GMT",
            "sitemap_lastmod": "2026-01-05T06:30:00+00:00",
            "content_hash": digest,
            "details_hash": digest[::-1],
            "source_hash": digest[:32],
            "hash_version": 1,
            "parser_version": PARSER,
            "first_seen_at": NOW - 60 * 24 * HOUR_MS,
            "fetched_at": looked,
            "checked_at": looked,
            "next_due_at": looked + round(rng.random() * 60 * 24 * HOUR_MS),
            "misses": int(away),
            "change_credit": max(rng.lognormvariate(0, 1.5) - 1, 0.0),
            "exposure_h": rng.random() * 2_000,
            "listed_at": NOW - 24 * HOUR_MS if rng.random() < 0.92 else 0,
            "signal": signal.value,
            "value": 1.0,
            "category_id": rng.choice(categories),
            "view_id": -(-number // CARDS),
            "card_price_minor": 1999,
        }
