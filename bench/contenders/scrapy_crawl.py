"""Crawls with a Scrapy spider in this process, under Scrapy's defaults but for delay, concurrency and log level."""

from __future__ import annotations

from typing import Any

import scrapy
from scrapy.crawler import AsyncCrawlerProcess

from bench.contenders.common import CONCURRENCY

# Scrapy's default delay is 0. DEBUG, its default level, would write one line a page: left out in everybody's favour.
SETTINGS: dict[str, Any] = {
    "CONCURRENT_REQUESTS": CONCURRENCY,
    "CONCURRENT_REQUESTS_PER_DOMAIN": CONCURRENCY,
    "LOG_LEVEL": "WARNING",
}


def crawl(spider: type[scrapy.Spider], settings: dict[str, Any], **arguments: Any) -> int:
    """Run one spider to its end; return how many responses with status 200 it was given."""
    process = AsyncCrawlerProcess(settings)
    crawler = process.create_crawler(spider)
    process.crawl(crawler, **arguments)
    process.start()
    assert crawler.stats is not None
    return int(crawler.stats.get_value("downloader/response_status_count/200", 0))
