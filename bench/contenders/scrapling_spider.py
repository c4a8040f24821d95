"""Scrapling's Spider with its own fetcher and parser, without disguise, saving in batches of 100."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from typing import Any

from scrapling.fetchers import FetcherSession
from scrapling.spiders import Response, SessionManager, Spider

from bench.contenders.common import CONCURRENCY, Database, arguments, finish, read, selectors


class DemoSpider(Spider):
    """Fetches ``start_urls`` and keeps what it saw in the database alone."""

    name = "demo"
    concurrent_requests = CONCURRENCY
    logging_level = logging.WARNING
    database: Database
    paths: dict[str, str]
    pages = 0

    def configure_sessions(self, manager: SessionManager) -> None:
        """Fetch as a plain client: impersonation is another product than the one measured."""
        manager.add("default", FetcherSession(impersonate=None, stealthy_headers=False))

    async def parse(self, response: Response) -> AsyncIterator[dict[str, Any]]:
        """Yield the fields of a page."""
        self.pages += 1
        yield {"url": response.url, "fields": read(response.css, self.paths)}

    async def on_scraped_item(self, item: dict[str, Any]) -> None:
        """Save an item; returning nothing keeps it out of the result list, which would hold them all."""
        self.database.save(item["url"], item["fields"])


def main() -> None:
    """Crawl on uvloop, which Scrapling offers."""
    urls, path = arguments()
    spider = DemoSpider()
    spider.start_urls, spider.paths, spider.database = urls, selectors(), Database(path, batch=100)
    spider.start(use_uvloop=True)
    spider.database.close()
    finish(spider.pages, spider.database.saved)


if __name__ == "__main__":
    main()
