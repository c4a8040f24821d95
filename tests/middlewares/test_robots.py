"""What robots.txt says is asked first, and nothing is fetched where nobody can tell what it says."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from scrapy import Spider
from scrapy.exceptions import NotConfigured
from scrapy.utils.test import get_crawler

from storebot.exceptions import ExitCode
from storebot.items import Outcome, RunStatus
from storebot.middlewares.robots import RobotsMiddleware
from tests.inside import Place, store_folder
from tests.scripted import Answer, ScriptedShop, listing, product, sitemap

CATALOGUE = '[discover]\nsitemaps = false\n[catalogue]\nurl = "/all"\n'
QUICK = "[politeness]\ndelay_s = 0\nconcurrency = 4\n"
AT_ONCE = {"STOREBOT_BLOCK_WAIT_MAX_S": 0}
BUSY = Answer(b"Service Unavailable", 503, {"Retry-After": "30"})


@pytest.fixture
def shop() -> Iterator[ScriptedShop]:
    with ScriptedShop() as shop:
        shop.says("/all", listing("/p/1", "/p/2"))
        for name in ("/p/1", "/p/2"):
            shop.says(name, product())
        yield shop


def place(shop: ScriptedShop, tmp_path: Path, text: str = CATALOGUE) -> Place:
    return Place(shop.url, tmp_path / "store.db", "shop", store_folder(tmp_path, text + QUICK), AT_ONCE)


def test_host_that_asks_for_time_is_asked_again_and_then_obeyed(shop: ScriptedShop, tmp_path: Path) -> None:
    """Case Z02."""
    shop.says("/robots.txt", BUSY, Answer(b"User-agent: *\nDisallow: /p/1\n"))
    done = place(shop, tmp_path).crawl("backfill")
    assert done.summary.outcomes == {Outcome.NEW: 1, Outcome.SKIPPED: 1}
    assert (len(shop.requests("/robots.txt")), shop.requests("/p/1")) == (2, [])


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (BUSY, "HTTP 503"),
        (Answer(b"", 500), "HTTP 500"),
        (Answer(b"", 429), "HTTP 429"),
        (Answer(status=0), "DownloadFailedError: "),
    ],
    ids=["503", "500", "429", "no answer"],
)
def test_nothing_is_fetched_where_robots_txt_can_not_be_read(
    shop: ScriptedShop, tmp_path: Path, answer: Answer, why: str
) -> None:
    """Case Z02."""
    shop.says("/robots.txt", answer)
    done = place(shop, tmp_path).crawl("backfill")
    assert (done.summary.status, done.summary.exit_code) == (RunStatus.FAILED, ExitCode.PARTIAL)
    assert f"robots.txt of {shop.url[7:]} can't be read ({why}" in done.summary.reason
    assert set(shop.paths()) == {"/robots.txt"}


def test_what_is_known_stays_and_the_run_is_partial(shop: ScriptedShop, tmp_path: Path) -> None:
    here = place(shop, tmp_path, f"{CATALOGUE}[refresh]\nhead_pages = 0\n")
    before = here.crawl("backfill")
    rows = before.rows("SELECT * FROM listings")
    shop.says("/robots.txt", BUSY)
    shop.asked.clear()
    done = here.crawl("refresh")
    assert (done.summary.status, done.summary.exit_code) == (RunStatus.PARTIAL, ExitCode.PARTIAL)
    assert "so nothing of it may be fetched" in done.summary.reason
    assert set(done.summary.outcomes) <= {Outcome.SKIPPED}
    assert set(shop.paths()) == {"/robots.txt"}
    assert done.rows("SELECT * FROM listings") == rows


def test_pages_behind_the_first_batch_are_not_even_claimed(shop: ScriptedShop, tmp_path: Path) -> None:
    names = [f"/p/{number}" for number in range(40)]
    shop.says("/all", listing(*names))
    for number, name in enumerate(names):
        shop.says(name, product(f"Mug {number}", f"{10 + number}.90"))
    here = place(shop, tmp_path, f"{CATALOGUE}[refresh]\nhead_pages = 0\n")
    assert here.crawl("backfill").summary.status is RunStatus.COMPLETE
    shop.says("/robots.txt", BUSY)
    done = here.crawl("refresh", STOREBOT_CLAIM_BATCH=5)
    assert done.summary.outcomes[Outcome.SKIPPED] <= 10
    assert "pages left" in done.summary.reason


@pytest.mark.parametrize("status", [401, 403, 404, 410])
def test_robots_txt_that_is_not_there_allows_everything(shop: ScriptedShop, tmp_path: Path, status: int) -> None:
    shop.says("/robots.txt", Answer(b"User-agent: *\nDisallow: /\n", status))
    assert place(shop, tmp_path).crawl("backfill").summary.outcomes == {Outcome.NEW: 2}


def test_robots_txt_that_redirects_without_end_is_none(shop: ScriptedShop, tmp_path: Path) -> None:
    shop.says("/robots.txt", Answer(status=301, headers={"Location": "/robots.txt"}))
    assert place(shop, tmp_path).crawl("backfill").summary.outcomes == {Outcome.NEW: 2}


def test_byte_order_mark_hides_no_rule(shop: ScriptedShop, tmp_path: Path) -> None:
    """Case Z01."""
    shop.says("/robots.txt", Answer(b"\xef\xbb\xbfUser-agent: *\nDisallow: /\n"))
    done = place(shop, tmp_path).crawl("backfill")
    assert (done.summary.status, set(shop.paths())) == (RunStatus.FAILED, {"/robots.txt"})


def test_other_host_whose_robots_txt_can_not_be_read_is_left_alone_by_itself(
    shop: ScriptedShop, tmp_path: Path
) -> None:
    with ScriptedShop() as mobile:
        mobile.says("/robots.txt", BUSY)
        mobile.says("/sitemap.xml", sitemap(f"{shop.url}/p/1"))
        shop.says("/sitemap.xml", sitemap(f"{mobile.url}/p/3", f"{shop.url}/p/1"))
        text = f'[keys]\naliases = ["{mobile.url[7:]}"]\n'
        done = place(shop, tmp_path, text).crawl("backfill")
        assert set(mobile.paths()) == {"/robots.txt"}
    assert done.summary.outcomes == {Outcome.NEW: 1, Outcome.SKIPPED: 1}
    assert done.summary.status is RunStatus.PARTIAL
    assert f"robots.txt of {mobile.url[7:]} can't be read" in done.summary.reason


def test_robots_txt_is_asked_once_for_all_and_not_where_it_is_not_obeyed(shop: ScriptedShop, tmp_path: Path) -> None:
    place(shop, tmp_path).crawl("backfill")
    assert len(shop.requests("/robots.txt")) == 1
    with pytest.raises(NotConfigured, match=r"robots\.txt is not asked"):
        RobotsMiddleware.from_crawler(get_crawler(Spider, {"ROBOTSTXT_OBEY": False}))
