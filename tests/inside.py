"""Runs a phase inside the test's own process, as Scrapy does without a reactor, and gives the crawler to look at."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import pytest
from scrapy import Spider
from scrapy.crawler import AsyncCrawlerRunner, Crawler
from scrapy.settings import Settings

from storebot.core import pacing
from storebot.core.summary import Summary
from storebot.db.database import Database
from storebot.run import Run
from storebot.spiders.backfill import BackfillSpider
from storebot.spiders.base import StoreSpider
from storebot.spiders.refresh import RefreshSpider

PHASES: Mapping[str, type[StoreSpider]] = {"backfill": BackfillSpider, "refresh": RefreshSpider}
_AIOHTTP = "scrapy.core.downloader.handlers._aiohttp.AiohttpDownloadHandler"  # the one that needs no reactor


@dataclass(frozen=True)
class Crawled:
    """A crawl that has ended, and what it left."""

    crawler: Crawler
    database: Path

    @property
    def run(self) -> Run:
        found = self.crawler.get_extension(Run)
        assert found is not None
        return found

    @property
    def summary(self) -> Summary:
        assert self.run.summary is not None
        return self.run.summary

    def stat(self, name: str) -> Any:
        """Return one of Scrapy's stats, 0 where it was never set."""
        assert self.crawler.stats is not None
        return self.crawler.stats.get_value(name, 0)

    def rows(self, query: str, *parameters: object) -> list[dict[str, Any]]:
        """Return the rows of a SELECT."""
        with closing(sqlite3.connect(self.database)) as connection:
            connection.row_factory = sqlite3.Row
            return [dict(row) for row in connection.execute(query, parameters)]

    def visits(self) -> dict[str, dict[str, Any]]:
        """Return the visits of this run by the path of their page."""
        found = self.rows(
            "SELECT visits.*, url FROM visits JOIN pages ON pages.id = page_id WHERE run_id = ?", self.summary.run_id
        )
        return {"/" + row["url"].split("/", 3)[3]: row for row in found}

    def walks(self) -> dict[str, str]:
        """Return the state of each walk that has a checkpoint."""
        return {row["walk"]: row["state"] for row in self.rows("SELECT walk, state FROM checkpoints")}


@dataclass(frozen=True)
class Place:
    """A store, the folder of its file, and the database of its crawls."""

    url: str
    database: Path
    store: str = "demo"
    stores: Path | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)

    def crawl(self, phase: str, *, spider: type[Spider] | None = None, look: Look | None = None, **own: Any) -> Crawled:
        """Run a phase to its end. ``own`` are settings that win over a store file's, as ``-s`` does; ``look`` is called
        with the crawler before it starts, to connect to its signals."""
        runner = AsyncCrawlerRunner(self.project_settings(**{"DOWNLOAD_DELAY": 0, **own}))
        crawler = runner.create_crawler(spider or PHASES[phase])

        async def main() -> None:
            if look:
                look(crawler)
            await runner.crawl(crawler, store=self.store, base_url=self.url)

        if not self.database.exists():
            self.database.write_bytes(_migrated())
        with _process_as_it_was():
            asyncio.run(main())
        return Crawled(crawler, self.database)

    def project_settings(self, **own: Any) -> Settings:
        """Return the settings of the project, quick commits, and ``own`` over all."""
        settings = Settings()
        settings.setmodule("storebot.settings", priority="project")
        quick = {
            "STOREBOT_DATABASE_URL": f"sqlite:///{self.database}",
            "STOREBOT_STORES": str(self.stores or ""),
            "STOREBOT_CONTACT": "",
            "STOREBOT_FAILED_PAGES": str(self.database.parent / "failed"),
            "STOREBOT_ARCHIVE": str(self.database.parent / "pages"),
            "STOREBOT_PROGRESS": "off",
            "STOREBOT_COMMIT_S": 0.005,
            "DOWNLOAD_VERIFY_CERTIFICATES": False,  # to load the authorities takes a quarter of a crawl
            "RETRY_TIMES": 0,
            "STOREBOT_HTTP_HANDLER": _AIOHTTP,  # the other one needs a Twisted reactor
            "DOWNLOAD_HANDLERS": {**settings["DOWNLOAD_HANDLERS"], "ftp": None},
            "TWISTED_REACTOR_ENABLED": False,
        }
        settings.setdict(quick, priority="project")
        settings.setdict({**self.settings, **own}, priority="cmdline")
        return settings


Look = Callable[[Crawler], None]


@cache
def _migrated() -> bytes:
    """Return a database with empty tables: making them takes as long as a crawl."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "store.db"
        Database.open(f"sqlite:///{path}").dispose()
        return path.read_bytes()


@contextmanager
def _process_as_it_was() -> Iterator[None]:
    """Undo what a run does to its process, which is its own otherwise: signal handlers, the collector's thresholds.

    That freed memory is kept can't be undone, and isn't begun: by it a worker of the whole suite grew to a gigabyte.
    """
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    thresholds = gc.get_threshold()
    gc.freeze()  # the run collects once, and all that the tests before it left would have to be looked at
    try:
        with patch("storebot.run.process.keep_memory"):
            yield
    finally:
        gc.set_threshold(*thresholds)
        gc.unfreeze()
        for number, handler in handlers.items():
            signal.signal(number, handler)


def store_folder(folder: Path, text: str, name: str = "shop") -> Path:
    """Write a store file whose base_url is overridden by each crawl, and return the folder of its store's folder."""
    path = folder / "stores" / name / "store.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f'base_url = "http://shop.example"\nproduct_url = "/p/"\n{text}\n', encoding="utf-8")
    return path.parents[1]


def hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have a host that asked for time be asked almost as fast as before: for tests that prove something else."""
    monkeypatch.setattr(pacing, "_SHORTEST_STEP_S", 0.01)
    monkeypatch.setattr(pacing, "_FIRST_PAUSE_S", 0.01)


def send_signal(number: int) -> None:
    """Send a signal to this process."""
    os.kill(os.getpid(), number)
