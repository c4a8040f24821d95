"""Who is measured: how each contender is started, on which pages, and what it has to have done at the end."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.contenders.common import CONCURRENCY

JSONLD, PLAIN = "jsonld", "plain"

# States of the database that a run starts from.
EMPTY = ""
KNOWN = "known"  # every page read once, with the validators that the store gave
KNOWN_BLIND = "known-blind"  # the same without validators: every page is sent whole, and none has changed

_POLITENESS_OFF = {
    "DOWNLOAD_DELAY": "0",
    "CONCURRENT_REQUESTS": CONCURRENCY,
    "CONCURRENT_REQUESTS_PER_DOMAIN": CONCURRENCY,
    "LOG_LEVEL": "WARNING",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Contender:
    """One line of the table: a ``spider`` of storebot, or else a ``module`` of bench.contenders."""

    name: str
    what: str  # for the table
    pages: str = JSONLD
    module: str = ""
    spider: str = ""
    starts_from: str = EMPTY
    fast: bool = False
    needs: tuple[str, ...] = ()  # packages that may be absent
    saves: bool = True
    outcome: str = ""  # storebot: the outcome that every page must have

    @property
    def installed(self) -> bool:
        """Whether what it needs can be imported."""
        return all(importlib.util.find_spec(package) for package in self.needs)

    def command(self, *, base_url: str, urls_file: Path, database: Path) -> list[str]:
        """Return its command line."""
        if self.module:
            return [sys.executable, "-m", f"bench.contenders.{self.module}", str(urls_file), str(database)]
        settings = [part for name, value in _POLITENESS_OFF.items() for part in ("-s", f"{name}={value}")]
        arguments = ["-a", "store=demo", "-a", f"base_url={base_url}"]
        return [sys.executable, "-m", "scrapy", "crawl", self.spider, *arguments, *settings]

    def environment(self, database: Path) -> dict[str, str]:
        """Return what it finds in the environment beside the harness's own."""
        return {
            "STOREBOT_DATABASE_URL": f"sqlite:///{database}",
            "STOREBOT_ARCHIVE": str(database.with_suffix(".pages")),
            "STOREBOT_SUMMARY": "json",
            "STOREBOT_PROGRESS": "off",
            "STOREBOT_FAST": "1" if self.fast else "0",
            "PYTHONWARNINGS": "ignore",
        }

    def left_out(self, summary: Mapping[str, Any], expected: int) -> str:
        """Return what it didn't do as a sentence; empty when it fetched, and saved, every page."""
        if self.spider:
            done = summary["outcomes"].get(self.outcome, 0)
            return "" if done == expected else f"{done} of {expected} pages are {self.outcome}: {dict(summary)}"
        if summary["pages"] != expected:
            return f"it fetched {summary['pages']} of {expected} pages"
        if self.saves and summary["saved"] != expected:
            return f"it saved {summary['saved']} of {expected} pages"
        return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A promise of the table: the CPU of ``who`` is at most ``limit`` times that of ``over``."""

    who: str
    over: str
    limit: float


# Neighbours run one after another: what a target compares stands close together.
CONTENDERS = (
    Contender(
        name="refresh-304",
        what="storebot refresh, all 304",
        spider="refresh",
        starts_from=KNOWN,
        outcome="not_modified",
    ),
    Contender(
        name="fast-304",
        what="storebot refresh, all 304, fast mode",
        spider="refresh",
        starts_from=KNOWN,
        outcome="not_modified",
        fast=True,
    ),
    Contender(
        name="refresh",
        what="storebot refresh, all 200, nothing changed",
        spider="refresh",
        starts_from=KNOWN_BLIND,
        outcome="unchanged",
    ),
    Contender(name="backfill", what="storebot backfill", spider="backfill", outcome="new"),
    Contender(name="floor", what="storebot's settings, empty callback", module="floor", saves=False),
    Contender(name="bare", what="bare Scrapy, default settings, empty callback", module="bare", saves=False),
    Contender(name="fast-backfill", what="storebot backfill, fast mode", spider="backfill", outcome="new", fast=True),
    Contender(
        name="fast-refresh",
        what="storebot refresh, all 200, nothing changed, fast mode",
        spider="refresh",
        starts_from=KNOWN_BLIND,
        outcome="unchanged",
        fast=True,
    ),
    Contender(
        name="fast-floor", what="storebot's settings, empty callback, fast mode", module="floor", saves=False, fast=True
    ),
    Contender(name="selectors", what="storebot backfill, plain markup", spider="backfill", outcome="new", pages=PLAIN),
    Contender(
        name="parsel",
        what="default Scrapy + parsel + commit per item, plain markup",
        module="parsel_commit",
        pages=PLAIN,
    ),
    Contender(name="requests", what="requests script + parsel + commit per page", module="requests_script"),
    Contender(
        name="crawlee", what="crawlee ParselCrawler + batches of 100", module="crawlee_parsel", needs=("crawlee",)
    ),
    Contender(
        name="scrapling",
        what="Scrapling Spider + batches of 100",
        module="scrapling_spider",
        needs=("scrapling", "curl_cffi"),
    ),
)

REFERENCE = "bare"

TARGETS = (
    Target(who="backfill", over="bare", limit=1.5),  # every page is new, and read in full: all sources compared
    Target(who="backfill", over="bare", limit=0.75),  # the aim from before that rule (decision 14)
    Target(who="refresh", over="bare", limit=0.75),
    Target(who="fast-backfill", over="bare", limit=0.6),
    Target(who="fast-refresh", over="bare", limit=0.6),
    Target(who="backfill", over="floor", limit=1.35),
    Target(who="refresh", over="floor", limit=1.35),
    Target(who="fast-backfill", over="fast-floor", limit=1.35),
    Target(who="fast-refresh", over="fast-floor", limit=1.35),
    Target(who="selectors", over="parsel", limit=0.8),
    Target(who="refresh-304", over="bare", limit=0.45),
    Target(who="fast-304", over="bare", limit=0.45),
)
PEAK_RSS_LIMIT_MB = 150
