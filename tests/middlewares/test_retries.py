"""Retries of what failed by itself. Their budget: tests/middlewares/test_blocks.py; case R07: test_redirects.py."""

from __future__ import annotations

from typing import Any

import pytest
from scrapy import Spider
from scrapy.exceptions import DownloadTimeoutError
from scrapy.http import Request, Response
from scrapy.utils.test import get_crawler

from storebot.middlewares.retries import RetryMiddleware


@pytest.fixture
def middleware() -> RetryMiddleware:
    crawler: Any = get_crawler(Spider, {"RETRY_TIMES": 1, "RETRY_HTTP_CODES": [502]})
    crawler.spider = Spider.from_crawler(crawler, name="any")
    return RetryMiddleware.from_crawler(crawler)


def test_a_failing_page_is_tried_again_and_a_good_one_is_not(middleware: RetryMiddleware) -> None:
    request = Request("http://shop.example/p/1")
    good, bad = Response(request.url), Response(request.url, status=502)
    assert middleware.process_response(request, good) is good
    retry = middleware.process_response(request, bad)
    assert isinstance(retry, Request)
    assert middleware.process_response(retry, bad) is bad


def test_what_the_last_try_learned_and_where_it_was_led_is_forgotten(middleware: RetryMiddleware) -> None:
    meta = {"redirect_urls": ["http://shop.example/p/1"], "redirect_times": 1, "page": object(), "target": "kept"}
    retry = middleware.process_exception(Request("http://shop.example/busy", meta=meta), DownloadTimeoutError("late"))
    assert isinstance(retry, Request)
    assert (retry.url, retry.dont_filter) == ("http://shop.example/p/1", True)
    assert {name: retry.meta[name] for name in ("redirect_times", "target")} == {"redirect_times": 1, "target": "kept"}
    assert not {"page", "redirect_urls"} & set(retry.meta)


def test_an_error_that_no_retry_mends_is_left_alone(middleware: RetryMiddleware) -> None:
    assert middleware.process_exception(Request("http://shop.example/"), ValueError("ours")) is None
