"""What most people write: default Scrapy, the fields read with ``response.css``, one commit per item."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self

import scrapy
from scrapy.crawler import Crawler
from scrapy.http import Response

from bench.contenders.common import Database, arguments, finish, read, selectors
from bench.contenders.scrapy_crawl import SETTINGS, crawl


class ParselSpider(scrapy.Spider):
    """Fetches ``start_urls`` and yields an item for each."""

    name = "parsel"

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.paths = selectors()

    def parse(self, response: Response) -> Iterator[dict[str, Any]]:
        """Yield the fields of a page."""
        yield {"url": response.url, "fields": read(response.css, self.paths)}


class CommitPipeline:
    """Saves each item in a transaction of its own, in SQLite's default journal mode."""

    def __init__(self, crawler: Crawler) -> None:
        self.stats = crawler.stats
        self.database = Database(crawler.settings["BENCH_DATABASE"], batch=1)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Open the database that the settings name."""
        return cls(crawler)

    def process_item(self, item: dict[str, Any]) -> dict[str, Any]:
        """Save one item."""
        self.database.save(item["url"], item["fields"])
        return item

    def close_spider(self) -> None:
        """Close the database."""
        self.database.close()


def main() -> None:
    """Crawl, then count what the database holds."""
    urls, path = arguments()
    settings = SETTINGS | {"BENCH_DATABASE": path, "ITEM_PIPELINES": {CommitPipeline: 300}}
    pages = crawl(ParselSpider, settings, start_urls=urls)
    database = Database(path, batch=1)
    (saved,) = database.connection.execute("select count(*) from products").fetchone()
    database.close()
    finish(pages, saved)


if __name__ == "__main__":
    main()
