"""crawlee's ParselCrawler, its queue in memory, saving in batches of 100."""

from __future__ import annotations

import asyncio
import logging
from datetime import timedelta

from crawlee import ConcurrencySettings
from crawlee.configuration import Configuration
from crawlee.crawlers import ParselCrawler, ParselCrawlingContext
from crawlee.storage_clients import MemoryStorageClient

from bench.contenders.common import CONCURRENCY, Database, arguments, finish, read, selectors


async def main() -> None:
    """Crawl at a fixed concurrency."""
    urls, path = arguments()
    paths, database = selectors(), Database(path, batch=100)
    crawler = ParselCrawler(
        concurrency_settings=ConcurrencySettings(
            min_concurrency=CONCURRENCY, desired_concurrency=CONCURRENCY, max_concurrency=CONCURRENCY
        ),
        configuration=Configuration(purge_on_start=False),
        storage_client=MemoryStorageClient(),
        statistics_log_format="inline",
        request_handler_timeout=timedelta(seconds=60),
    )
    logging.getLogger("crawlee").setLevel(logging.WARNING)

    async def save(context: ParselCrawlingContext) -> None:
        database.save(context.request.url, read(context.selector.css, paths))

    crawler.router.default_handler(save)
    statistics = await crawler.run(urls)
    database.close()
    finish(statistics.requests_finished, database.saved)


if __name__ == "__main__":
    asyncio.run(main())
