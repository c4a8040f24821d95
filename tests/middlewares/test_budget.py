"""Nothing is sent that the budget has no room for, and that means nothing else than that."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from scrapy.crawler import Crawler

from storebot.exceptions import ExitCode
from storebot.items import Outcome
from storebot.middlewares.budget import BudgetMiddleware
from tests.inside import Crawled, Place, store_folder
from tests.scripted import Answer, ScriptedShop, mugs, product

CATALOGUE = '[discover]\nsitemaps = false\n[catalogue]\nurl = "/all"\n'
POLITENESS = "[politeness]\ndelay_s = 0\nconcurrency = 4\n"
PAGES = 6


@pytest.fixture
def shop() -> Iterator[ScriptedShop]:
    with mugs(PAGES) as shop:
        yield shop


def crawl(shop: ScriptedShop, tmp_path: Path, text: str, **settings: Any) -> Crawled:
    place = Place(shop.url, tmp_path / "store.db", "shop", store_folder(tmp_path, POLITENESS + text))
    return place.crawl("backfill", **settings)


def has_one(crawler: Crawler) -> bool:
    assert crawler.engine is not None
    return any(isinstance(one, BudgetMiddleware) for one in crawler.engine.downloader.middleware.middlewares)


def test_a_store_without_a_budget_has_no_such_middleware(shop: ScriptedShop, tmp_path: Path) -> None:
    assert not has_one(crawl(shop, tmp_path, CATALOGUE).crawler)


def test_pages_beyond_the_limit_are_not_asked_for_and_leave_no_visit(shop: ScriptedShop, tmp_path: Path) -> None:
    """robots.txt, the list and three pages are five requests."""
    done = crawl(shop, tmp_path, f"{CATALOGUE}[budget.run]\nrequests = 5\n")
    assert has_one(done.crawler)
    assert len(shop.paths("/p/")) == 3
    assert done.summary.outcomes == {Outcome.NEW: 3}
    assert (done.summary.exit_code, done.summary.requests) == (ExitCode.BUDGET, 5)
    assert done.stat("downloader/request_count") == 5
    free = done.rows("SELECT count(*) AS count FROM pages WHERE status = 'pending' AND claim_token = '' AND tries = 0")
    assert free == [{"count": PAGES - 3}]


def test_a_page_that_is_redirected_is_followed_to_its_end(shop: ScriptedShop, tmp_path: Path) -> None:
    shop.says("/p/0", Answer(status=302, headers={"Location": "/p/there"}))
    shop.says("/p/there", product("Mug 0"))
    done = crawl(shop, tmp_path, f"{CATALOGUE}[budget.run]\nrequests = 3\n", CONCURRENT_REQUESTS_PER_DOMAIN=1)
    assert shop.paths("/p/") == ["/p/0", "/p/there"]
    assert (done.summary.outcomes, done.summary.requests) == ({Outcome.NEW: 1}, 4)


def test_robots_txt_that_is_not_asked_for_is_no_robots_txt_that_forbids(shop: ScriptedShop, tmp_path: Path) -> None:
    done = crawl(shop, tmp_path, "[discover]\nsitemaps = true\n[budget.run]\nrequests = 1\n")
    assert done.summary.exit_code is ExitCode.BUDGET
    assert "can't be read" not in done.summary.reason
    assert done.summary.reason == (
        "budget reached: 1 of 1 requests of this run; the next run goes on; 1 list not read to the end"
    )


def test_a_listing_that_is_not_asked_for_is_not_taken_for_switched_off(shop: ScriptedShop, tmp_path: Path) -> None:
    done = crawl(shop, tmp_path, '[discover]\nplatform = "shopify"\n[budget.run]\nrequests = 1\n', ROBOTSTXT_OBEY=False)
    assert done.summary.exit_code is ExitCode.BUDGET
    assert "read as pages" not in done.summary.reason
