"""Bare Scrapy: default settings, an empty callback. It reads nothing and saves nothing: the unit of the table."""

from __future__ import annotations

import scrapy
from scrapy.http import Response

from bench.contenders.common import arguments, finish
from bench.contenders.scrapy_crawl import SETTINGS, crawl


class BareSpider(scrapy.Spider):
    """Fetches ``start_urls``."""

    name = "bare"

    def parse(self, response: Response) -> None:
        """Do nothing."""


if __name__ == "__main__":
    urls, _ = arguments()
    finish(crawl(BareSpider, SETTINGS, start_urls=urls))
