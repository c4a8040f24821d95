"""A host is asked as slowly as it wants: Crawl-delay, Retry-After, and what its refusals say."""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from scrapy import signals
from scrapy.core.downloader import Downloader
from scrapy.crawler import Crawler
from scrapy.http import Request, Response
from scrapy.utils.test import get_crawler

from storebot.exceptions import ExitCode
from storebot.items import Outcome, RunStatus, Tier
from tests.inside import Place, hurry, send_signal, store_folder
from tests.scripted import Answer, ScriptedShop, listing, mugs, product

TEXT = '[discover]\nsitemaps = false\n[catalogue]\nurl = "/all"\n'
POLITE = "[politeness]\ndelay_s = 0\njitter = 0.0\nconcurrency = {}\n"
PAGES = 8
DAY_MS = 86_400_000


@pytest.fixture
def shop() -> Iterator[ScriptedShop]:
    with mugs(PAGES) as shop:
        yield shop


def place(shop: ScriptedShop, tmp_path: Path, text: str = "", concurrency: int = 1) -> Place:
    return Place(
        shop.url, tmp_path / "store.db", "shop", store_folder(tmp_path, TEXT + POLITE.format(concurrency) + text)
    )


def busy(retry_after: str | None, status: int = 429) -> Answer:
    return Answer(b"slow down", status, {} if retry_after is None else {"Retry-After": retry_after})


def longest_silence(shop: ScriptedShop) -> float:
    """Return the seconds of the longest time in which the shop was asked nothing."""
    return max(later.at_s - earlier.at_s for earlier, later in pairwise(shop.asked))


# --- Retry-After ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [429, 503])
@pytest.mark.parametrize("concurrency", [1, 4])
def test_whole_host_pauses_as_long_as_one_answer_asks(
    shop: ScriptedShop, tmp_path: Path, status: int, concurrency: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Case Z04: not that one request alone, while others keep asking."""
    hurry(monkeypatch)  # of what it doesn't ask for itself
    shop.says("/p/3", busy("2", status), product("Mug 3"))
    done = place(shop, tmp_path, concurrency=concurrency).crawl("backfill", RETRY_TIMES=2)
    assert done.summary.outcomes == {Outcome.NEW: PAGES}
    assert longest_silence(shop) >= 2
    assert len(shop.requests("/p/3")) == 2


def test_date_is_waited_for_too(shop: ScriptedShop, tmp_path: Path) -> None:
    """Case Z04."""

    class Dated(ScriptedShop):
        def answer(self, asked: object) -> Answer:
            found = super().answer(asked)  # type: ignore[arg-type]
            at = time.strftime("%a, %d %b %Y %H:%M:%S GMT", time.gmtime(time.time() + 3))
            return found._replace(headers={"Retry-After": at}) if found.status == 429 else found

    with Dated() as dated:
        dated.says("/all", listing("/p/1", "/p/2"))
        dated.says("/p/1", busy(None), product("Mug")).says("/p/2", product("Cup"))
        done = place(dated, tmp_path).crawl("backfill")
    assert done.summary.outcomes == {Outcome.NEW: 2}
    assert longest_silence(dated) > 1.5  # a date has whole seconds


@pytest.mark.parametrize(
    "value",
    ["-5", "0", "Thu, 01 Jan 1970 00:00:00 GMT", "soon", "", "Wed, 21 Oct 2026 07:28:00 -0000", None],
    ids=["negative", "nought", "past", "junk", "empty", "without an offset", "missing"],
)
def test_unusable_wish_is_answered_with_a_pause_of_ones_own(
    shop: ScriptedShop, tmp_path: Path, value: str | None
) -> None:
    """Case Z05."""
    shop.says("/all", listing("/p/1", "/p/2"))
    shop.says("/p/1", busy(value), product("Mug 1"))
    done = place(shop, tmp_path).crawl("backfill")
    assert done.summary.outcomes == {Outcome.NEW: 2}
    assert 1 <= longest_silence(shop) < 60


@pytest.mark.parametrize(
    ("value", "most_ms"),
    [("7200", 7_200_000), ("Fri, 31 Dec 2027 23:59:59 GMT", DAY_MS)],
    ids=["two hours", "next year"],
)
@pytest.mark.parametrize("status", [429, 503])
def test_store_that_wants_more_than_an_hour_is_left_alone_and_the_page_comes_back_when_it_says(
    shop: ScriptedShop, tmp_path: Path, status: int, value: str, most_ms: int
) -> None:
    """Case Z04: the crawl doesn't sleep."""
    shop.says("/all", listing("/p/1")).says("/p/1", busy(value, status))
    here = place(shop, tmp_path)
    done = here.crawl("backfill")
    assert (done.summary.status, done.summary.exit_code) == (RunStatus.BLOCKED, ExitCode.BLOCKED)
    assert done.summary.outcomes == {Outcome.BLOCKED: 1}
    assert f"it answered HTTP {status} with a Retry-After of" in done.summary.reason
    assert len(shop.requests("/p/1")) == 1
    (breaker,) = done.rows("SELECT breaker_state, breaker_until - breaker_opened_at AS lasts FROM stores")
    assert breaker["breaker_state"] == "open"
    assert abs(breaker["lasts"] - most_ms) < 60_000
    (page,) = done.rows("SELECT next_due_at - checked_at_or_now AS rest FROM (SELECT *, (SELECT started_at FROM runs) "
                        "AS checked_at_or_now FROM pages)")  # fmt: skip
    assert page["rest"] >= 7_200_000 - 60_000
    shop.asked.clear()
    again = here.crawl("backfill")
    assert (again.summary.exit_code, shop.asked) == (ExitCode.BLOCKED, [])


def test_longest_pause_is_a_setting(shop: ScriptedShop, tmp_path: Path) -> None:
    shop.says("/all", listing("/p/1")).says("/p/1", busy("3"))
    done = place(shop, tmp_path).crawl("backfill", STOREBOT_BLOCK_WAIT_MAX_S=2)
    assert done.summary.exit_code is ExitCode.BLOCKED
    assert "with a Retry-After of 3s" in done.summary.reason


def test_signal_during_a_pause_ends_the_run_at_once_and_nothing_more_is_sent(
    shop: ScriptedShop, tmp_path: Path
) -> None:
    shop.says("/p/0", busy("600"))

    def look(crawler: Crawler) -> None:
        def stop(*_: object) -> None:
            asyncio.get_running_loop().create_task(crawler.stop_async())

        def refused(response: Response) -> None:
            if response.status == 429:
                asyncio.get_running_loop().call_later(0.5, send_signal, signal.SIGTERM)

        signal.signal(signal.SIGTERM, stop)
        crawler.signals.connect(refused, signals.response_downloaded, weak=False)

    started = time.monotonic()
    done = place(shop, tmp_path, concurrency=2).crawl("backfill", look=look)
    assert time.monotonic() - started < 60
    assert done.summary.exit_code is ExitCode.SIGTERM
    assert done.rows("SELECT count(*) AS waiting FROM pages WHERE claim_token <> ''") == [{"waiting": 0}]
    assert set(done.walks().values()) <= {"walking", "ended"}


# --- slower for the rest of the run ---------------------------------------------------------------------------------


def delays(here: Place, **settings: Any) -> list[float]:
    """Crawl, and return the delays between requests that were in force when answers came, each once, in order."""
    found: list[float] = []

    def look(crawler: Crawler) -> None:
        def received() -> None:
            assert crawler.engine is not None
            found.extend(slot.delay for slot in crawler.engine.downloader.slots.values() if slot.delay not in found)

        crawler.signals.connect(received, signals.response_received, weak=False)

    here.crawl("backfill", look=look, **settings)
    return found


def test_refusal_doubles_the_delay_and_the_next_run_remembers(shop: ScriptedShop, tmp_path: Path) -> None:
    shop.says("/all", listing("/p/0", "/p/1", "/p/2"))
    shop.says("/p/1", busy("0"), product("Mug 1"))
    here = place(shop, tmp_path)
    assert delays(here, DOWNLOAD_DELAY=0.3) == [0.3, 0.6]
    done = here.crawl("refresh", DOWNLOAD_DELAY=0.05)
    assert done.rows("SELECT slow_steps FROM stores") == [{"slow_steps": 1}]
    assert delays(here, DOWNLOAD_DELAY=0.3) == [0.6]


def test_twenty_good_answers_bring_it_back(shop: ScriptedShop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hurry(monkeypatch)
    names = [f"/p/{number}" for number in range(24)]
    shop.says("/all", listing(*names))
    for name in names:
        shop.says(name, product(name))
    shop.says("/robots.txt", busy("0"), Answer(b""))
    here = place(shop, tmp_path)
    done = here.crawl("backfill", RETRY_TIMES=1, DOWNLOAD_DELAY=0.01, DOWNLOAD_DELAY_JITTER=0)
    assert done.summary.outcomes == {Outcome.NEW: 24}
    assert done.rows("SELECT slow_steps FROM stores") == [{"slow_steps": 0}]


def test_every_tier_and_every_identity_shares_the_slot_of_the_host(tmp_path: Path) -> None:
    downloader = Downloader(get_crawler(settings_dict={"DOWNLOAD_HANDLERS_BASE": {}}))
    requests = [
        Request("https://shop.example/p/1", meta={"tier": tier, "cookiejar": str(tier), "proxy": f"http://{tier}:1"})
        for tier in Tier
    ]
    assert {downloader.get_slot_key(request) for request in requests} == {"shop.example"}
    downloader.close()


# --- Crawl-delay ----------------------------------------------------------------------------------------------------


def test_delay_that_robots_txt_asks_for_is_kept_where_it_is_longer(shop: ScriptedShop, tmp_path: Path) -> None:
    shop.says("/robots.txt", Answer(b"User-agent: storebot\nCrawl-delay: 0.1\n"))
    shop.says("/all", listing("/p/1", "/p/2", "/p/3"))
    place(shop, tmp_path).crawl("backfill")
    times = [one.at_s for one in shop.asked if one.path.startswith("/p/")]
    assert len(times) == 3
    assert all(later - earlier > 0.08 for earlier, later in pairwise(times))


@pytest.mark.parametrize(
    "robots",
    [b"User-agent: *\nCrawl-delay: 0.001\n", b"User-agent: otherbot\nCrawl-delay: 9\n", b"User-agent: *\nDisallow:\n"],
    ids=["shorter", "of another bot", "none"],
)
def test_delay_of_the_store_file_is_kept_where_robots_txt_asks_for_less(
    shop: ScriptedShop, tmp_path: Path, robots: bytes
) -> None:
    shop.says("/robots.txt", Answer(robots)).says("/all", listing("/p/1"))
    assert delays(place(shop, tmp_path), DOWNLOAD_DELAY=0.02) == [0.02]


def test_rate_that_robots_txt_asks_for_is_a_delay_too_and_stays_when_the_slot_is_made_anew(
    shop: ScriptedShop, tmp_path: Path
) -> None:
    shop.says("/robots.txt", Answer(b"User-agent: *\nCrawl-delay: 0.01\nRequest-rate: 25/1s\n"))
    shop.says("/all", listing("/p/1", "/p/2"))
    found: set[float] = set()

    def look(crawler: Crawler) -> None:
        def received() -> None:
            assert crawler.engine is not None
            downloader = crawler.engine.downloader
            found.update(slot.delay for slot in downloader.slots.values())
            for slot in [*downloader.slots]:
                downloader.slots.pop(slot)  # what Scrapy does with one that is idle for a minute

        crawler.signals.connect(received, signals.request_left_downloader, weak=False)

    place(shop, tmp_path).crawl("backfill", look=look, DOWNLOAD_DELAY=0.005)
    assert found == {0.005, 0.04}  # robots.txt itself is asked before it can ask


def test_crawl_delay_of_a_robots_txt_that_was_read_before_is_kept(shop: ScriptedShop, tmp_path: Path) -> None:
    shop.says("/robots.txt", Answer(b"User-agent: *\nCrawl-delay: 0.04\n"))
    shop.says("/all", listing("/p/1"))
    here = place(shop, tmp_path)
    here.crawl("backfill")
    assert delays(here, DOWNLOAD_DELAY=0.005) == [0.04]
    assert len(shop.requests("/robots.txt")) == 1


# --- what is said at the start --------------------------------------------------------------------------------------


def test_crawl_delay_that_leaves_too_little_time_is_said_with_what_would_fit(
    shop: ScriptedShop, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    here = place(shop, tmp_path, '[refresh]\ninterval = "10s"\n')
    here.crawl("backfill")
    shop.says("/robots.txt", Answer(b"User-agent: *\nCrawl-delay: 1.5\n")).says("/all", listing())
    caplog.clear()
    here.crawl("refresh", STOREBOT_ROBOTS_MAX_AGE_S=0, DOWNLOAD_DELAY_JITTER=0)
    assert 'shop: 8 pages at 1.5 s each take 12s, longer than [refresh] interval = "10s"' in caplog.text
    assert 'what would fit: [refresh] interval = "12s", or delay_s = 1.25' in caplog.text
    caplog.clear()
    here.crawl("refresh", DOWNLOAD_DELAY_JITTER=0)
    assert caplog.text.count("8 pages at 1.5 s each take 12s") == 1  # it's known from the start by now
