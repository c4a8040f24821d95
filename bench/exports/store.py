"""A store of any number of listings, as a database has it."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sqlalchemy import insert

from storebot.db import runs
from storebot.db.database import Database
from storebot.db.schema import listings, pages, stores
from storebot.items import ListingStatus, PageStatus, RunStatus

STORE = "bench"
_NOW = 1_780_000_000_000
_CHUNK = 10_000
_WORDS = ("Classic", "Copper", "Walnut", "Porcelain", "Linen", "Kettle", "Lamp", "Towel", "Planter", "Große", "Décor")


def make(path: Path, count: int, seed: int = 1) -> None:
    """Write a database with so many pages of one store, one listing on each."""
    database = Database.open(f"sqlite:///{path}")
    rng = random.Random(seed)
    try:
        with database.write() as conn:
            conn.execute(insert(stores), [{"name": STORE}])
            runs.finish(conn, runs.start(conn, STORE, "backfill"), RunStatus.COMPLETE, "", outcomes={})
            for start in range(1, count + 1, _CHUNK):
                numbers = range(start, min(start + _CHUNK, count + 1))
                conn.execute(insert(pages), [_page(number) for number in numbers])
                conn.execute(insert(listings), [*_listings(rng, numbers)])
    finally:
        database.dispose()


def _page(number: int) -> dict[str, Any]:
    address = f"shop.example/p/{number}"
    times = {name: _NOW for name in ("first_seen_at", "fetched_at", "checked_at")}
    return {
        "id": number,
        "store": STORE,
        "url_key": f"https://{address}",
        "url": f"http://{address}",
        "status": PageStatus.PARSED.value,
        **times,
    }


def _listings(rng: random.Random, numbers: range) -> Iterator[dict[str, Any]]:
    for number in numbers:
        name = " ".join(rng.choices(_WORDS, k=6))
        yield {
            "page_id": number,
            "variant_id": "",
            "store": STORE,
            "url": f"http://shop.example/p/{number}",
            "name": name,
            "brand": rng.choice(_WORDS),
            "gtin": f"{number:014}",
            "sku": f"{number:08}",
            "price_minor": rng.randrange(100, 100_000),
            "currency": "EUR",
            "availability": "InStock",
            "condition": "NewCondition",
            "options": "{}",
            "category_path": '["Home","Kitchen"]',
            "main_image": f"http://cdn.shop.example/{number}.jpg",
            "images": f'["http://cdn.shop.example/{number}.jpg"]',
            "description": " ".join(rng.choices(_WORDS, k=30)),
            "field_source": '{"name":"jsonld","price":"jsonld"}',
            "disagreements": "[]",
            "record_hash": f"{number:064x}",
            "details_hash": f"{number:064x}",
            "status": ListingStatus.ACTIVE.value,
            "first_seen_at": _NOW,
            "last_changed_at": _NOW,
        }
