"""The ways in which the month's store is refreshed: each with its store file, its database, and its clock."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.month.crawls import Crawler
from bench.month.judge import Judge
from bench.shop import ROOT
from storebot.demo.client import DemoClient

_STORE = ROOT / "storebot" / "stores" / "demo" / "store.toml"
ROUND_ROBIN = "round-robin"
_HELD = 5  # the exit code of a run whose changes the write gate holds, or some of them


@dataclass(frozen=True, slots=True)
class Spent:
    """What one run took, as the shop counted it."""

    requests: int
    size_bytes: int
    pages: Mapping[str, int]  # product pages that were asked for -> how often


@dataclass(slots=True)
class Arm:
    """One way: its runs, and what came of them."""

    name: str
    crawler: Crawler
    every_h: int
    arguments: Mapping[str, Any]
    judge: Judge
    spent: list[Spent] = field(default_factory=list)

    @property
    def requests(self) -> int:
        return sum(one.requests for one in self.spent)

    @property
    def size_bytes(self) -> int:
        return sum(one.size_bytes for one in self.spent)

    def refresh(self) -> Spent:
        """Run one refresh, and look at what the database knows then."""
        shop = self.crawler.shop
        shop.reset_counts()
        self.crawler.crawl("refresh", accepted=(0, _HELD), **self.arguments)
        asked = shop.requests()
        self.spent.append(Spent(asked.total, sum(asked.bytes.values()), asked.paths("/p/")))
        self.judge.look(int(shop.status()["now_s"]))
        return self.spent[-1]

    def gone(self) -> Iterator[str]:
        """Yield the paths of the pages that it knows to be gone."""
        with closing(sqlite3.connect(f"file:{self.judge.database}?mode=ro", uri=True)) as connection:
            for (url,) in connection.execute("SELECT url FROM pages WHERE delisted_at IS NOT NULL"):
                yield url.removeprefix(self.crawler.shop.url)


def backfilled(shop: DemoClient, folder: Path) -> Path:
    """Return the database of a backfill at the shop's time."""
    crawler = Crawler(shop, folder / "read.db", stores(folder / "read", ""))
    crawler.crawl("backfill")
    return crawler.database


def arm(
    shop: DemoClient, read: Path, name: str, refresh: str, every_h: int, arguments: Mapping[str, Any] | None = None
) -> Arm:
    """Return a way that begins with what ``read`` knows; ``refresh`` are the keys of that section of its store file."""
    folder = read.parent / name.replace(" ", "-")
    folder.mkdir()
    database = Path(shutil.copyfile(read, folder / "store.db"))
    crawler = Crawler(shop, database, stores(folder, f"[refresh]\n{refresh}"))
    return Arm(name, crawler, every_h, arguments or {}, Judge(database))


def round_robin(shop: DemoClient, read: Path, days: int, every_h: int) -> Arm:
    """Return the way that visits each page once in so many days, and each day as many: by its interval alone.

    New products are found by the sitemap, as by the others.
    """
    made = arm(shop, read, ROUND_ROBIN, f'interval = "{days}d"\nhead_pages = 0\n', every_h)
    spread = f"next_due_at = checked_at + (id * 7919 % {days * 24}) * 3600000"
    with closing(sqlite3.connect(made.judge.database)) as connection, connection:
        connection.execute(f"UPDATE pages SET {spread}")
    return made


def stores(folder: Path, appended: str) -> Path:
    """Write the demo store's file with more in it, and return the folder of stores."""
    path = folder / "stores" / "demo" / "store.toml"
    path.parent.mkdir(parents=True)
    path.write_text(f"{_STORE.read_text()}\n{appended}\n")
    return path.parents[1]
