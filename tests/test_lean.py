"""The lean parts do what Scrapy's do, but for what they say they leave out."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scrapy import Spider, signals
from scrapy.exceptions import DownloadFailedError, NotConfigured
from scrapy.http import Request, Response
from scrapy.utils.test import get_crawler

from storebot.lean import (
    _SAFE_URL,
    CookiesMiddleware,
    CoreStats,
    HeadersMiddleware,
    ItemPipelineManager,
    LogFormatter,
    PageRequest,
    ProxyMiddleware,
    StatsCollector,
    keep_memory,
)


def crawler(**settings: Any) -> Any:
    made = get_crawler(Spider, settings)
    made.spider = Spider(name="any")
    return made


def test_stats_count_as_scrapys_do() -> None:
    stats = StatsCollector(crawler())
    stats.inc_value("pages")
    stats.inc_value("pages", 2)
    stats.max_value("peak", 3)
    stats.set_value("name", "x")
    assert stats.get_stats() == {"pages": 3, "peak": 3, "name": "x"}
    assert stats.get_value("none", 7) == 7


@pytest.mark.parametrize(("level", "says"), [("INFO", False), ("DEBUG", True)])
def test_a_line_per_page_is_made_only_where_somebody_reads_it(level: str, says: bool) -> None:
    formatter = LogFormatter.from_crawler(crawler(LOG_LEVEL=level))
    request = Request("http://shop.example/p/1")
    response = Response(request.url, request=request)
    assert (formatter.crawled(request, response, Spider(name="any")) is not None) is says
    assert (formatter.scraped({"a": 1}, response, Spider(name="any")) is not None) is says


def test_a_request_without_headers_gets_the_bots_name_and_the_time_limit() -> None:
    middleware = HeadersMiddleware.from_crawler(crawler(USER_AGENT="storebot/9 (+me)", DOWNLOAD_TIMEOUT=7))
    request = Request("http://shop.example/")
    middleware.process_request(request)
    assert request.headers["User-Agent"] == b"storebot/9 (+me)"
    assert request.headers["Accept-Language"] == b"en"
    assert request.meta["download_timeout"] == 7


def test_headers_and_limits_of_the_request_itself_win() -> None:
    middleware = HeadersMiddleware.from_crawler(crawler(USER_AGENT="storebot/9"))
    request = Request("http://shop.example/", headers={"User-Agent": "mine"}, meta={"download_timeout": 1})
    middleware.process_request(request)
    assert (request.headers["User-Agent"], request.meta["download_timeout"]) == (b"mine", 1)


def test_proxies_are_asked_for_only_where_the_environment_names_one(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(NotConfigured):
        ProxyMiddleware.from_crawler(crawler())
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:3128")
    request = Request("http://shop.example/")
    ProxyMiddleware.from_crawler(crawler()).process_request(request)
    assert request.meta["proxy"] == "http://127.0.0.1:3128"


def test_failure_through_a_proxy_of_the_environment_forgets_its_password(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("https_proxy", "http://me:hush@127.0.0.1:3128")
    middleware = ProxyMiddleware.from_crawler(crawler())
    error = DownloadFailedError("407, message='no', url='http://me:hush@127.0.0.1:3128'")  # as aiohttp words it
    middleware.process_exception(Request("https://shop.example/"), error)
    assert str(error) == "407, message='no', url='http://…@127.0.0.1:3128'"


@pytest.mark.parametrize(
    ("domain", "sent"), [("", True), ("; Domain=shop.example.co.uk", True), ("; Domain=co.uk", False)]
)
def test_cookies_keep_to_their_shop_and_no_list_of_suffixes_is_downloaded(
    monkeypatch: pytest.MonkeyPatch, domain: str, sent: bool
) -> None:
    asked: list[object] = []
    monkeypatch.setattr("requests.Session.get", lambda *args, **_: asked.append(args))
    middleware = CookiesMiddleware.from_crawler(crawler())
    request = Request("http://shop.example.co.uk/")
    answer = Response(request.url, headers={"Set-Cookie": f"session=1{domain}"})
    middleware.process_response(request, answer)
    following = Request("http://shop.example.co.uk/p/1")
    middleware.process_request(following)
    assert (following.headers.get("Cookie") == b"session=1") is sent
    assert asked == []


def test_core_stats_say_when_and_why_a_crawl_ended() -> None:
    made = crawler(EXTENSIONS_BASE={})
    kept = CoreStats.from_crawler(made)  # signals hold their receivers weakly
    made.signals.send_catch_log(signals.spider_opened, spider=made.spider)
    made.signals.send_catch_log(signals.item_scraped, item=1, spider=made.spider)
    made.signals.send_catch_log(signals.spider_closed, spider=made.spider, reason="finished")
    stats = made.stats.get_stats()
    assert stats["finish_reason"] == "finished"
    assert stats["elapsed_time_seconds"] >= 0
    assert "item_scraped_count" not in stats
    assert kept.start_time is not None


class Plain:
    def process_item(self, item: list[str]) -> list[str]:
        return [*item, "plain"]


class Waiting:
    async def process_item(self, item: list[str]) -> list[str]:
        await asyncio.sleep(0)
        return [*item, "waited"]


def test_pipelines_run_in_order_whether_they_wait_or_not() -> None:
    manager = ItemPipelineManager(Plain(), Waiting(), Plain(), crawler=crawler())
    assert asyncio.run(manager.process_item_async([])) == ["plain", "waited", "plain"]


def test_memory_can_be_kept_on_any_system(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        keep_memory()
        keep_memory()
    assert not caplog.records


@given(st.from_regex(_SAFE_URL, fullmatch=True))
def test_a_url_that_is_taken_as_it_is_has_nothing_to_make_safe(url: str) -> None:
    assert PageRequest(url).url == url == Request(url).url


def test_any_other_url_is_made_safe() -> None:
    for url in ("http://shop.example/p/ä b", "HTTP://Shop.Example/p|1", "http://shop.example/p/1#top"):
        assert PageRequest(url).url == Request(url).url
