"""SIGKILL while a platform's listing is walked: what was committed is whole, and the next run goes on after it."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.crawls import scrapy_process
from tests.crawls.watched import wait_until
from tests.platform_shops import ShopifyShop

GOODS, CLAMP = 620, 20  # 31 pages of the listing
TEXT = (
    'base_url = "http://shop.example"\nproduct_url = "/products/"\n[discover]\nplatform = "shopify"\nsitemaps = false\n'
)
PACE = {"DOWNLOAD_DELAY": 0.03}  # slow enough to be killed on the way
RECORDS = (
    "SELECT url_key, variant_id, name, price_minor, record_hash, listings.status FROM listings "
    "JOIN pages ON pages.id = page_id ORDER BY url_key, variant_id"
)


@pytest.fixture
def shop() -> Iterator[ShopifyShop]:
    with ShopifyShop(GOODS) as shop:
        shop.clamp = CLAMP
        yield shop


def test_a_backfill_that_is_killed_resumes_at_the_page_after_its_checkpoint(shop: ShopifyShop, tmp_path: Path) -> None:
    (tmp_path / "stores" / "shop").mkdir(parents=True)
    (tmp_path / "stores" / "shop" / "store.toml").write_text(TEXT, encoding="utf-8")
    where: dict[str, Any] = {"stores": tmp_path / "stores", "base_url": shop.url}
    whole, killed = tmp_path / "whole.db", tmp_path / "killed.db"
    assert scrapy_process.crawl("backfill", "shop", database=whole, **where).exit_code == 0
    for wanted in (6, 13, 22):
        shop.asked.clear()
        done = _checkpoint(killed)
        _kill_at(scrapy_process.start("backfill", "shop", database=killed, settings=PACE, **where), killed, wanted)
        assert min(shop.listing_pages()) >= max(1, done)  # one back, for catalogues shift, and none below it
        _assert_whole(killed)
    shop.asked.clear()
    done = _checkpoint(killed)
    last = scrapy_process.crawl("backfill", "shop", database=killed, **where)
    assert (last.exit_code, last.fields["status"]) == (0, "complete"), last.stderr
    assert min(shop.listing_pages()) == done
    assert scrapy_process.rows(killed, RECORDS) == scrapy_process.rows(whole, RECORDS)
    assert scrapy_process.rows(killed, "SELECT count(*) AS n FROM offers") == [{"n": GOODS + GOODS // 5}]
    assert scrapy_process.rows(killed, "SELECT state FROM checkpoints") == [{"state": "closed"}]


def _kill_at(process: subprocess.Popen[str], database: Path, page: int) -> None:
    wait_until(lambda: _checkpoint(database) >= page or process.poll() is not None)
    assert process.poll() is None, "it ended by itself: make the shop larger"
    process.kill()
    process.communicate()


def _checkpoint(database: Path) -> int:
    """Return the last committed page; 0 while there is nothing."""
    if not database.exists() or not scrapy_process.rows(
        database, "SELECT 1 FROM sqlite_master WHERE name = 'checkpoints'"
    ):
        return 0
    return sum(row["page"] for row in scrapy_process.rows(database, "SELECT page FROM checkpoints"))


def _assert_whole(database: Path) -> None:
    """What the checkpoint claims is there, and nothing else: its pages, read, with their listings and visits."""
    count = _checkpoint(database) * CLAMP
    assert scrapy_process.rows(database, "SELECT count(*) AS n FROM pages WHERE status = 'parsed'") == [{"n": count}]
    assert scrapy_process.rows(database, "SELECT count(*) AS n FROM pages") == [{"n": count}]
    assert scrapy_process.rows(database, "SELECT count(*) AS n FROM listings") == [{"n": count + count // 5}]
