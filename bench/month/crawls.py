"""``scrapy crawl`` in forked processes whose database has the shop's clock: a month passes in minutes.

Nothing of storebot knows of this: the clock is moved in the forked process alone, before it starts.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from bench.shop import ROOT
from storebot.demo.client import DemoClient

_FORK = multiprocessing.get_context("forkserver")
_IMPORTED = [  # not storebot.settings, which reads the environment; and nothing that installs a reactor
    "alembic.command",
    "scrapy.cmdline",
    "scrapy.core.downloader.handlers.http11",
    "scrapy.core.engine",
    "scrapy.downloadermiddlewares.cookies",
    "storebot.commands.crawl",
    "storebot.db.planning",
    "storebot.extensions",
    "storebot.middlewares.blocks",
    "storebot.middlewares.redirects",
    "storebot.pipelines",
    "storebot.spiders.backfill",
    "storebot.spiders.refresh",
    "twisted.internet.asyncioreactor",
]
_TIMEOUT_S = 300.0


class CrawlFailed(RuntimeError):
    """Raised when a crawl doesn't exit as it should: it holds the end of what it printed."""


@dataclass(frozen=True, slots=True)
class Crawler:
    """Crawls the demo store ``shop`` into a database of its own; ``stores`` has the store's file."""

    shop: DemoClient
    database: Path
    stores: Path

    def crawl(self, phase: str, accepted: tuple[int, ...] = (0,), **arguments: object) -> None:
        """Run one to its end, at the shop's time. Raises CrawlFailed unless it exits with an ``accepted`` code."""
        argv = ["scrapy", "crawl", phase, "-a", "store=demo", "-a", f"base_url={self.shop.url}"]
        argv += ["-s", "DOWNLOAD_DELAY=0", "-s", "STOREBOT_COMMIT_S=0.05", "-s", "LOG_LEVEL=WARNING"]
        for name, value in arguments.items():
            argv += ["-a", f"{name}={value}"]
        output = self.database.with_suffix(".log")
        env = {
            **os.environ,
            "STOREBOT_DATABASE_URL": f"sqlite:///{self.database}",
            "STOREBOT_STORES": str(self.stores),
            "STOREBOT_ARCHIVE": str(self.database.with_suffix(".pages")),
            "STOREBOT_PROGRESS": "off",
            "STOREBOT_SUMMARY": "",
        }
        ahead_ms = int(self.shop.status()["now_s"]) * 1000 - int(time.time() * 1000)
        _FORK.set_forkserver_preload(_IMPORTED)
        process = _FORK.Process(target=_crawl, args=(argv, env, str(output), ahead_ms))
        process.start()
        process.join(_TIMEOUT_S)
        code = process.exitcode
        if code is None:
            process.kill()
            process.join()
        process.close()
        if code not in accepted:
            raise CrawlFailed(f"{phase}: exit code {code}\n{output.read_text()[-4_000:]}")


def _crawl(argv: list[str], env: Mapping[str, str], output: str, ahead_ms: int) -> None:
    from scrapy.cmdline import execute
    from sqlalchemy import text

    from storebot.db import dialects

    os.chdir(ROOT)
    os.environ.clear()
    os.environ.update(env)
    file = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    for stream in (1, 2):
        os.dup2(file, stream)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    # A run has all its times from the database's clock: dialects.now_ms.
    dialects._CLOCK["sqlite"] = text(f"{dialects._CLOCK['sqlite'].text} + {ahead_ms}")
    execute(argv)
