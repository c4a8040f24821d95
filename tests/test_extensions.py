"""What watches a crawl: the breaker, the progress display."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest
from scrapy import Spider, signals
from scrapy.exceptions import NotConfigured
from scrapy.utils.test import get_crawler

from storebot.demo import DemoStore
from storebot.exceptions import ExitCode
from storebot.extensions import Breaker, Progress
from storebot.items import Outcome, RunStatus
from tests.inside import Place, store_folder
from tests.scripted import ScriptedShop, challenge, mugs

TEXT = '[discover]\nsitemaps = false\n[catalogue]\nurl = "/all"\n'
POLITE = "[politeness]\ndelay_s = {}\njitter = 0.0\n"
PAGES = 20


@pytest.fixture
def shop() -> Iterator[ScriptedShop]:
    with mugs(PAGES) as shop:
        yield shop


def place(shop: ScriptedShop, tmp_path: Path, delay_s: float = 0, text: str = "") -> Place:
    return Place(shop.url, tmp_path / "store.db", "shop", store_folder(tmp_path, TEXT + POLITE.format(delay_s) + text))


# --- breaker --------------------------------------------------------------------------------------------------------


def test_breaker_ends_the_run_as_blocked_and_says_so_once(
    shop: ScriptedShop, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for number in range(PAGES):
        shop.says(f"/p/{number}", challenge())
    done = place(shop, tmp_path, text="[blocks]\nbreaker_min = 3\n").crawl("backfill", STOREBOT_COMMIT_ROWS=1)
    assert (done.summary.status, done.summary.exit_code) == (RunStatus.BLOCKED, ExitCode.BLOCKED)
    assert done.stat("finish_reason") == "blocked"
    assert 3 <= done.summary.outcomes[Outcome.BLOCKED] <= 4  # the next one may have been on its way
    assert len(shop.paths("/p/")) <= 2 * 4
    assert caplog.text.count("3 of the last 3 visits were blocked") == 1
    assert "3 of the last 3 visits were blocked" in done.summary.reason


def test_breaker_stays_shut_below_the_share_of_the_store_file(shop: ScriptedShop, tmp_path: Path) -> None:
    for number in range(0, PAGES, 5):
        shop.says(f"/p/{number}", challenge())
    text = "[blocks]\nbreaker_min = 4\nbreaker_share = 0.9\n"
    done = place(shop, tmp_path, text=text).crawl("backfill")
    assert done.stat("finish_reason") == "finished"
    assert done.summary.outcomes == {Outcome.BLOCKED: 4, Outcome.NEW: 16}


def test_watchers_have_nothing_to_watch_in_a_spider_of_a_users_own() -> None:
    crawler = get_crawler(Spider, {"EXTENSIONS_BASE": {}})
    breaker = Breaker.from_crawler(crawler)
    ((_, answer),) = crawler.signals.send_catch_log(signals.spider_opened, spider=Spider("own"))
    assert answer is None  # and no failure, which is what Scrapy makes of an exception
    assert not hasattr(breaker, "run")


# --- progress -------------------------------------------------------------------------------------------------------


def test_bar_counts_pages_and_outcomes_to_the_last(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with DemoStore(products=5) as shop:
        shop.lie("error", "-3$", status=404)
        shop.lie("slow", "-5$", delay_s=0.8)  # it is saved while the crawl ends
        Place(shop.url, tmp_path / "store.db").crawl("backfill", STOREBOT_PROGRESS="bar", STOREBOT_COMMIT_S=0.2)
    out, err = capsys.readouterr()
    assert out == ""
    last = err.rstrip().rpartition("\r")[2]
    assert "backfill demo" in last
    assert "5/5" in last
    assert "missing=1 new=4" in last


def test_lines_say_rate_and_outcomes_where_there_is_no_terminal(
    shop: ScriptedShop, tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Progress, "LINE_EVERY_S", 0.0)
    with caplog.at_level(logging.INFO, "storebot.extensions"):
        place(shop, tmp_path).crawl("backfill", STOREBOT_PROGRESS="auto")
    lines = [record.getMessage() for record in caplog.records if record.name == "storebot.extensions"]
    assert lines
    assert lines[-1].startswith("shop: 20 of 20 pages, ")
    assert lines[-1].endswith("a second (new=20)")


def test_lines_come_no_more_often_than_every_half_minute(
    shop: ScriptedShop, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, "storebot.extensions"):
        place(shop, tmp_path).crawl("backfill", STOREBOT_PROGRESS="lines", STOREBOT_COMMIT_ROWS=1)
    assert [record for record in caplog.records if record.name == "storebot.extensions"] == []


def test_progress_is_off_where_it_is_not_wanted() -> None:
    with pytest.raises(NotConfigured):
        Progress.from_crawler(get_crawler(Spider, {"STOREBOT_PROGRESS": "off"}))
