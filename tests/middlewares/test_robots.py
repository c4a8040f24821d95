"""What robots.txt says is asked first, and nothing is fetched where nobody can tell what it says."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

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
ANEW: dict[str, Any] = {"STOREBOT_ROBOTS_MAX_AGE_S": 0}
BUSY = Answer(b"Service Unavailable", 503)


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
    done = place(shop, tmp_path).crawl("backfill", RETRY_TIMES=2)
    assert done.summary.outcomes == {Outcome.NEW: 1, Outcome.SKIPPED: 1}
    assert (len(shop.requests("/robots.txt")), shop.requests("/p/1")) == (2, [])


def test_what_only_gives_a_cookie_and_reloads_itself_is_no_robots_txt(shop: ScriptedShop, tmp_path: Path) -> None:
    """It would allow everything, for a day."""
    before = Answer(b"<script>location.reload()</script>", headers={"Set-Cookie": "entry=1; Path=/"})
    shop.says("/robots.txt", before, Answer(b"User-agent: *\nDisallow: /p/1\n"))
    done = place(shop, tmp_path).crawl("backfill")
    assert done.summary.outcomes == {Outcome.NEW: 1, Outcome.SKIPPED: 1}
    assert [one.headers.get("cookie") for one in shop.requests("/robots.txt")] == [None, "entry=1"]


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
    done = here.crawl("refresh", **ANEW)
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
    done = here.crawl("refresh", STOREBOT_CLAIM_BATCH=5, **ANEW)
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
    assert (done.summary.status, done.summary.exit_code) == (RunStatus.BLOCKED, ExitCode.BLOCKED)
    assert set(shop.paths()) == {"/robots.txt"}


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
    place(shop, tmp_path, "").crawl("backfill")  # whose sitemaps it names: they read what is had already
    assert len(shop.requests("/robots.txt")) == 1
    with pytest.raises(NotConfigured, match=r"robots\.txt is not asked"):
        RobotsMiddleware.from_crawler(get_crawler(Spider, {"ROBOTSTXT_OBEY": False}))


# --- how long it is believed ----------------------------------------------------------------------------------------


def test_next_run_reads_what_this_one_read_and_obeys_it(shop: ScriptedShop, tmp_path: Path) -> None:
    """RFC 9309 §2.4: good for a day; the sitemaps that it names, and its Crawl-delay, are known from it, too."""
    shop.says("/robots.txt", Answer(f"Sitemap: {shop.url}/s.xml\nUser-agent: *\nDisallow: /p/1\n".encode()))
    shop.says("/s.xml", sitemap(f"{shop.url}/p/1", f"{shop.url}/p/2"))
    here = place(shop, tmp_path, "")
    assert here.crawl("backfill").summary.outcomes == {Outcome.NEW: 1, Outcome.SKIPPED: 1}
    shop.says("/robots.txt", Answer(b"User-agent: *\nDisallow:\n"))
    shop.asked.clear()
    done = here.crawl("refresh")
    assert (shop.requests("/robots.txt"), shop.requests("/p/1")) == ([], [])
    assert len(shop.requests("/s.xml")) == 1
    assert done.summary.outcomes == {Outcome.UNCHANGED: 1}


def test_what_is_a_day_old_is_asked_for_again(shop: ScriptedShop, tmp_path: Path) -> None:
    here = place(shop, tmp_path)
    first = here.crawl("backfill")
    shop.says("/robots.txt", Answer(b"User-agent: *\nDisallow: /p/1\n"))
    with closing(sqlite3.connect(first.database)) as connection, connection:
        connection.execute("UPDATE robots SET fetched_at = fetched_at - 86400000")
    assert here.crawl("refresh").summary.outcomes == {Outcome.UNCHANGED: 1, Outcome.SKIPPED: 1}
    assert len(shop.requests("/robots.txt")) == 2


def test_run_that_is_longer_than_that_reads_it_again(shop: ScriptedShop, tmp_path: Path) -> None:
    names = [f"/p/{number}" for number in range(8)]
    shop.says("/all", listing(*names))
    for name in names:
        shop.says(name, product(name))
    shop.says("/robots.txt", Answer(b""), Answer(b"User-agent: *\nDisallow: /p/\n"))
    slow: dict[str, Any] = {"DOWNLOAD_DELAY": 0.1, "DOWNLOAD_DELAY_JITTER": 0, "CONCURRENT_REQUESTS": 1}
    done = place(shop, tmp_path).crawl("backfill", STOREBOT_ROBOTS_MAX_AGE_S=0.3, **slow)
    assert done.summary.outcomes[Outcome.NEW] >= 1
    assert done.summary.outcomes[Outcome.SKIPPED] >= 1
    assert len(shop.requests("/robots.txt")) >= 2


# --- what a run needs is forbidden later ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("disallowed", "reason"),
    [
        ("/p/", "blocked by robots.txt: 2 pages that were read before"),
        ("/", "blocked by robots.txt: 1 request that finds pages, 2 pages that were read before"),
    ],
    ids=["pages", "everything"],
)
def test_run_whose_pages_are_forbidden_by_now_is_blocked_and_delists_nothing(
    shop: ScriptedShop, tmp_path: Path, disallowed: str, reason: str
) -> None:
    """Case Z07."""
    here = place(shop, tmp_path, f"{CATALOGUE}[delist]\nconfirmations = 1\nhours = 0\n")
    rows = here.crawl("backfill").rows("SELECT * FROM listings")
    shop.says("/robots.txt", Answer(f"User-agent: *\nDisallow: {disallowed}\n".encode()))
    for _ in range(2):
        done = here.crawl("refresh", STOREBOT_ERROR_BACKOFF_S=0, **ANEW)
        assert (done.summary.status, done.summary.exit_code) == (RunStatus.BLOCKED, ExitCode.BLOCKED)
        assert done.summary.reason.startswith(reason)
    assert done.rows("SELECT * FROM listings") == rows
    assert done.rows("SELECT * FROM changes") == []


def test_shop_that_forbids_its_listing_later_is_no_complete_run(tmp_path: Path) -> None:
    """Case Z07, as reported: /wp-json/ is forbidden by now; what the pages say is read nevertheless."""
    with ScriptedShop() as shop:
        shop.says("/sitemap.xml", sitemap(f"{shop.url}/p/1")).says("/p/1", product())
        shop.says("/robots.txt", Answer(b"User-agent: *\nDisallow: /wp-json/\n"))
        text = '[discover]\nplatform = "woocommerce"\n[product]\ncurrency = "EUR"\n'
        done = place(shop, tmp_path, text).crawl("backfill")
    assert shop.paths("/wp-json/") == []
    assert (done.summary.status, done.summary.exit_code) == (RunStatus.PARTIAL, ExitCode.PARTIAL)
    assert "blocked by robots.txt: 2 requests that find pages" in done.summary.reason


def test_page_that_was_never_read_and_is_forbidden_is_a_page_less(shop: ScriptedShop, tmp_path: Path) -> None:
    shop.says("/robots.txt", Answer(b"User-agent: *\nDisallow: /p/1\n"))
    done = place(shop, tmp_path).crawl("backfill")
    assert (done.summary.status, done.summary.outcomes) == (
        RunStatus.COMPLETE,
        {Outcome.NEW: 1, Outcome.SKIPPED: 1},
    )
