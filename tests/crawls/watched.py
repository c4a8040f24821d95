"""A demo store and the database that crawls of it are saved in: what a whole-crawl test looks at."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field, replace
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urlsplit

from storebot.archive import Archive, archive_path
from storebot.demo.client import DemoClient
from tests.crawls import forked, scrapy_process
from tests.crawls.forked import Options
from tests.crawls.scrapy_process import Crawl, Row

_OWN_STORE = scrapy_process.ROOT / "storebot" / "stores" / "demo" / "store.toml"
_POLL_S = 0.003

# What the planner learns of a page by each look.
_LEARNED = {"change_credit", "exposure_h", "listed_at", "signal", "view_id", "card_price_minor", "card_stock"}
_NUMBERED = {"category_id"}  # in the order in which categories were met; its name is compared

# What a listing, an offer or a page says, without what depends on when and by which run it was saved.
_LISTINGS = "SELECT * FROM listings JOIN (SELECT id AS of_page, url_key FROM pages) ON of_page = page_id"
_PAGES = (
    "SELECT pages.*, categories.name AS category FROM pages LEFT JOIN categories ON categories.id = pages.category_id"
)
_OFFERS = "SELECT offers.*, url_key FROM offers JOIN pages ON pages.id = page_id"
_WHEN_AND_WHO = {"id", "page_id", "of_page", "run_id", "at", "first_seen_at", "last_seen_at", "last_checked_at"} | {
    "last_changed_at",
    "first_missed_at",
    "fetched_at",
    "checked_at",
    "next_due_at",
    "seq",
}


@dataclass(frozen=True)
class Watched:
    """A demo store that is steered by ``shop``, and the database of its crawls.

    ``settings`` are Scrapy's, for every crawl; ``stores`` is a folder with a store file that wins over storebot's own.
    """

    shop: DemoClient
    database: Path
    stores: Path | None = None
    settings: Mapping[str, object] = field(default_factory=dict)
    url: str = ""  # of a database that is no SQLite file; ``rows`` don't see it

    @classmethod
    def backfilled(cls, shop: DemoClient, database: Path) -> Watched:
        """Return the store with all of it read."""
        watched = cls(shop, database)
        done = watched.forked("backfill")
        assert (done.exit_code, done.fields["status"]) == (0, "complete"), done.stderr
        return watched

    @contextmanager
    def lent(self, database: Path) -> Iterator[Watched]:
        """Lend the same with a database of its own, to a test whose lies end with it."""
        yield self.copied_to(database)
        self.shop.honest()

    def start(self, phase: str, **settings: object) -> subprocess.Popen[str]:
        """Start a crawl; the caller finishes or kills it."""
        return scrapy_process.start(
            phase,
            "demo",
            database=self.database,
            stores=self.stores,
            base_url=self.shop.url,
            settings={**self.settings, **settings},
            env={"STOREBOT_DATABASE_URL": self.url} if self.url else {},
        )

    def crawl(self, phase: str, **settings: object) -> Crawl:
        """Run a crawl to its end, with the store's counts set to nought before it."""
        self.shop.reset_counts()
        return scrapy_process.finish(self.start(phase, **settings))

    def fork(self, phase: str, **settings: object) -> ForkServerProcess:
        """Start a crawl in a forked process, which takes a fraction of the time; the caller joins or kills it."""
        return forked.start(self._options(phase, settings))

    def forked(self, phase: str, **settings: object) -> Crawl:
        """Run `fork` to its end, with the store's counts set to nought before it."""
        self.shop.reset_counts()
        return forked.crawl(self._options(phase, settings))

    def log(self) -> str:
        """Return what forked crawls printed."""
        return self._output.read_text()

    def _options(self, phase: str, settings: Mapping[str, object]) -> Options:
        given = {"DOWNLOAD_DELAY": 0, "LOG_LEVEL": "WARNING", **self.settings, **settings}
        url = self.url or f"sqlite:///{self.database}"
        return Options(phase, self.shop.url, url, self._output, given, self.stores)

    @contextmanager
    def archive(self) -> Iterator[Archive]:
        """Give a copy of the page archive to look into: like the database, it has to be found as a dead crawl left it.

        Raises FileNotFoundError where no crawl has begun one.
        """
        path = archive_path(self.database.with_suffix(".pages"), "demo")
        with TemporaryDirectory() as folder:
            copy = Path(folder) / path.name
            shutil.copyfile(path, copy)
            with suppress(FileNotFoundError):  # it's gone when a crawl ended well
                shutil.copyfile(f"{path}-wal", f"{copy}-wal")
            found = Archive.read(copy)
            yield found
            found.close()

    @property
    def _output(self) -> Path:
        return self.database.with_suffix(".log")

    def copied_to(self, database: Path) -> Watched:
        """Return the same with a database of its own that holds the same; no crawl may be running."""
        shutil.copyfile(self.database, database)
        return replace(self, database=database)

    def execute(self, statement: str) -> None:
        """Run one statement on the database."""
        with closing(sqlite3.connect(self.database)) as connection, connection:
            connection.execute(statement)

    def rows(self, query: str, *parameters: object) -> list[Row]:
        """Return the rows of a SELECT; none while the tables aren't there yet.

        It looks on only: after a crash the next crawl must find the write-ahead log as the dead one left it.
        """
        try:
            with closing(sqlite3.connect(f"file:{self.database}?mode=ro", uri=True)) as connection:
                connection.row_factory = sqlite3.Row
                return [dict(row) for row in connection.execute(query, parameters)]
        except sqlite3.OperationalError as error:
            if "no such table" in str(error) or "unable to open" in str(error):
                return []
            raise

    def count(self, query: str, *parameters: object) -> int:
        """Return the number that a SELECT gives; 0 while there is nothing."""
        found = self.rows(query, *parameters)
        return int(next(iter(found[0].values())) or 0) if found else 0

    def last_run(self) -> Row:
        """Return the newest row of the runs."""
        return self.rows("SELECT * FROM runs ORDER BY id DESC LIMIT 1")[0]

    def outcomes(self) -> dict[str, tuple[str, str]]:
        """Return outcome and reason of the last run's visits of product pages, by path; each page has exactly one."""
        found = self.rows(
            "SELECT url, outcome, reason FROM visits JOIN pages ON pages.id = page_id WHERE run_id = ?",
            self.last_run()["id"],
        )
        by_path = {path_of(row["url"]): (row["outcome"], row["reason"]) for row in found}
        assert len(by_path) == len(found), "a page was visited twice in one run"
        return by_path

    def records(self) -> dict[tuple[str, str], Row]:
        """Return all listings as they are believed, by key and variant, without times and runs."""
        return {(row["url_key"], row["variant_id"]): _timeless(row) for row in self.rows(_LISTINGS)}

    def offers(self) -> list[Row]:
        """Return the price history of all listings, oldest first, without times and runs."""
        found = self.rows(_OFFERS + " ORDER BY url_key, variant_id, offers.id")
        return [_timeless(row) for row in found]

    def page_rows(self) -> dict[str, Row]:
        """Return all pages, by key, without times, runs and errors of former visits, and what each visit teaches."""
        rows = {row["url_key"]: _timeless(row) for row in self.rows(_PAGES)}
        return {key: {name: row[name] for name in row if name not in _LEARNED | _NUMBERED} for key, row in rows.items()}

    def walks(self) -> dict[str, Row]:
        """Return the checkpoints, by walk, the store's address left out."""
        found = self.rows("SELECT * FROM checkpoints")
        return {row["walk"].replace(self.shop.url, ""): row for row in found}


def differences(ours: Mapping[str, Row], theirs: Mapping[str, Row]) -> dict[str, dict[str, tuple[object, object]]]:
    """Return the columns that differ, by key, each as ours and theirs; a row that only one has differs in all."""
    found = {}
    for key in sorted(ours.keys() | theirs.keys()):
        left, right = ours.get(key, {}), theirs.get(key, {})
        names = left.keys() | right.keys()
        if differing := {
            name: (left.get(name), right.get(name)) for name in names if left.get(name) != right.get(name)
        }:
            found[key] = differing
    return found


def path_of(url: str) -> str:
    """Return the path of a URL, as the demo store counts it."""
    return urlsplit(url).path


def store_file(folder: Path, appended: str = "", changed: Mapping[str, str] | None = None) -> Path:
    """Write a store file of the demo store into a folder of its own, and return that folder.

    ``appended`` are sections that storebot's own file doesn't have; ``changed`` replaces texts that it has.
    """
    text = _OWN_STORE.read_text()
    for before, after in (changed or {}).items():
        assert before in text, f"the demo store's file has no {before!r}"
        text = text.replace(before, after)
    path = folder / "stores" / "demo" / "store.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{text}\n{appended}\n")
    return path.parents[1]


def wait_until(fact: Callable[[], bool], timeout_s: float = 60) -> None:
    """Wait for something that another process does; raise if it doesn't."""
    ends = time.monotonic() + timeout_s
    while not fact():
        if time.monotonic() > ends:
            raise TimeoutError(f"it did not happen in {timeout_s} s")
        time.sleep(_POLL_S)


def _timeless(row: Row) -> Row:
    return {name: value for name, value in row.items() if name not in _WHEN_AND_WHO}
