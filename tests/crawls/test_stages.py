"""Stages over what crawls saved: two shops that share GTINs, and a history of weeks against the shop's own truth."""

from __future__ import annotations

import json
from collections import defaultdict
from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from storebot.core.enrich.series import DAY_MS
from storebot.db.database import Database
from storebot.demo.running import DemoStore
from storebot.stages import chosen, load_stages
from storebot.stages.running import run_stage
from storebot.stages.tally import Tally
from tests.crawls.forked import crawl_store
from tests.crawls.watched import Watched, store_file

PRODUCTS, SEED = 24, 7
_SAID = """
    SELECT derived.*, listings.sku, listings.gtin, listings.store, listings.price_minor
    FROM derived JOIN listings ON listings.id = listing_id WHERE stage = ?
"""
_TIMES = {
    "offers": ("at",),
    "visits": ("at",),
    "pages": ("first_seen_at", "fetched_at", "checked_at", "next_due_at"),
    "listings": ("first_seen_at", "last_seen_at", "last_checked_at", "last_changed_at"),
}


def staged(watched: Watched, name: str = "all", **options: Any) -> dict[str, Tally]:
    """Run stages as the command does."""
    database = Database.open(f"sqlite:///{watched.database}", create=False)
    stages = load_stages({})
    tallies = {one: run_stage(database, one, stages[one], **options) for one in chosen(name, stages)}
    database.dispose()
    return tallies


def said(watched: Watched, stage: str) -> list[dict[str, Any]]:
    return [{**row, "facts": json.loads(row["facts"])} for row in watched.rows(_SAID, stage)]


def age(watched: Watched, days: float) -> None:
    """Let time pass: all that was saved is so much older."""
    for table, columns in _TIMES.items():
        moved = ", ".join(f"{column} = {column} - {round(days * DAY_MS)}" for column in columns)
        watched.execute(f"UPDATE {table} SET {moved}")


@pytest.fixture
def north(tmp_path: Path) -> Path:
    """A folder with the demo store under its own name, and under another."""
    stores = store_file(tmp_path)
    (stores / "south").mkdir()
    (stores / "south" / "store.toml").write_text((stores / "demo" / "store.toml").read_text())
    return stores


def test_two_shops_that_share_gtins_are_matched_listing_by_listing(tmp_path: Path, north: Path) -> None:
    options: dict[str, Any] = {"products": PRODUCTS, "seed": SEED, "markup": "mixed", "variant_share": 0.4}
    with DemoStore(**options) as shop, DemoStore(**{**options, "products": PRODUCTS // 2}) as small:
        watched = Watched(shop, tmp_path / "store.db", north)
        assert watched.forked("backfill").exit_code == 0
        small.advance(price=3)
        crawled = crawl_store("backfill", "south", database=watched.database, stores=north, base_url=small.url)
        assert crawled.exit_code == 0, crawled.stderr
    tallies = staged(watched)
    assert {tally.failed for tally in tallies.values()} == {0}
    groups: defaultdict[str, set[str]] = defaultdict(set)
    for row in said(watched, "same_product"):
        assert row["group_key"] == f"gtin:{row['gtin']}"
        groups[row["gtin"]].add(row["store"])
    shared = watched.rows("SELECT gtin FROM listings WHERE store = 'south' AND gtin IS NOT NULL")
    assert shared
    assert {gtin for gtin, stores in groups.items() if stores == {"demo", "south"}} == {row["gtin"] for row in shared}
    assert {row["facts"]["score"] >= 80 for row in said(watched, "score")} == {True}
    again = staged(watched)
    assert [(tally.written, tally.unchanged) for tally in again.values()] == [
        (0, tally.rows) for tally in tallies.values()
    ]


def test_lows_of_a_simulated_history_are_those_of_the_shop(tmp_path: Path) -> None:
    with DemoStore(products=PRODUCTS, seed=SEED, variant_share=0.3) as shop:
        watched = Watched(shop, tmp_path / "store.db")
        assert watched.forked("backfill").exit_code == 0
        history: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)  # sku -> (week, price)
        for row in watched.rows("SELECT sku, price_minor FROM listings"):
            history[row["sku"]].append((0, row["price_minor"]))
        for week in range(1, 8):
            age(watched, 7)
            for change in shop.advance(price=12, hours=168):
                history[change.sku].append((week, int(Decimal(change.after).scaleb(2))))
            done = watched.forked("refresh")
            assert (done.exit_code, done.count("changed")) == (0, 12), done.stderr
    staged(watched, "price_lows")
    rows = said(watched, "price_lows")
    assert {row["sku"] for row in rows} == set(history)
    enough = 0
    for row in rows:
        weeks, facts = history[row["sku"]], row["facts"]
        began, price = weeks[-1]
        held = [(start, end, was) for (start, was), (end, _) in pairwise(weeks)]
        # Thirty days before a change of week W reach back to the middle of week W - 5.
        window = [was for start, end, was in held if start < began and 7 * end > 7 * began - 30]
        assert facts["price_minor"] == price
        assert facts["low_30d_minor"] == (min(window) if window else None), (row["sku"], weeks)
        assert facts["all_time_low_minor"] == min(was for _, was in weeks)
        assert facts["low_30d_enough"] == (7 * began >= 30), (row["sku"], weeks)
        assert facts["all_time_enough"]
        enough += facts["low_30d_enough"]
    assert 0 < enough < len(rows)
