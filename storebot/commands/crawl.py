"""``scrapy crawl``: Scrapy's own command, with the exit codes and the last line of DESIGN §5.

It shadows Scrapy's, which exits 0 for a crawl that fetched nothing (NOTES A4). A spider without a
run (a user's own) keeps Scrapy's behaviour.
"""

from __future__ import annotations

from storebot import lean_start  # noqa: F401  # the first of all: it makes importing the others cheaper

# isort: split
import argparse
import logging
import os
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, cast

from scrapy.commands.crawl import Command as ScrapyCrawl
from scrapy.exceptions import UsageError
from scrapy.utils.log import get_scrapy_root_handler

from storebot.archive.keeping import archive_folder
from storebot.core.summary import Summary
from storebot.db.addresses import database_url, shown
from storebot.exceptions import ConfigurationError, ExitCode, StorebotError
from storebot.fetch.handler import check_tiers
from storebot.jobs.noting import given_up, note_end, unlike
from storebot.logs import root_handler, write_json
from storebot.run import Run
from storebot.spiders.arguments import check_arguments, is_full, reason_of_force, requests_of
from storebot.stores import load_store
from storebot.stores.model import Store
from storebot.stores.wording import nearest

if TYPE_CHECKING:
    from scrapy.crawler import AsyncCrawlerProcess, Crawler
    from scrapy.settings import BaseSettings

logger = logging.getLogger(__name__)

_OF_SCRAPYD = "_job"  # the argument that it gives to every spider
PHASES = ("backfill", "refresh")


class Command(ScrapyCrawl):
    """Run a spider; for backfill and refresh, print the last line and exit with the code that the run deserves."""

    _store: Store | None = None  # of a phase, once its file is read
    _refusal = ""  # why it isn't begun

    def short_desc(self) -> str:
        return "Run a phase (backfill, refresh) over a store, or any spider by name"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--json", action="store_true", help="print the last line as JSON, too")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        if len(args) != 1:
            raise UsageError("exactly one spider: scrapy crawl backfill|refresh -a store=NAME")
        if given_up(*self._job):
            self.exitcode = int(ExitCode.BUSY)
            return
        if not self._is_the_worker_s():
            return
        if args[0] in PHASES and not self._store_loads(args[0], opts):
            note_end(*self._job, self.exitcode, reason=self._refusal)
            return
        if sys.stderr.isatty() and opts.loglevel is None and self.settings is not None:
            self.settings.set("LOG_LEVEL", "WARNING", priority="command")  # the progress bar has the terminal
        process = cast("AsyncCrawlerProcess", self.crawler_process)
        if not self._is_spider(args[0], process.spider_loader.list()):
            return
        crawler = self._create_crawler(args[0])
        if not self._log_is_set_up(crawler, args[0]):
            self._note_end(self.exitcode)
            return
        process.crawl(crawler, **opts.spargs)
        process.start()
        self.exitcode = int(self._report(crawler, opts, failed=process.bootstrap_failed))

    def _is_the_worker_s(self) -> bool:
        """Look whether this is the code that the worker meant; it says so where a Scrapyd node has another."""
        assert self.settings is not None
        if not (reason := unlike(self.settings.get("STOREBOT_JOB_CODE", ""))):
            return True
        print(reason, file=sys.stderr)
        logger.error("%s", reason)  # into the log of the job, too: stderr goes to the daemon's
        self.exitcode = int(ExitCode.USAGE)
        note_end(*self._job, self.exitcode, reason=reason)
        return False

    def _store_loads(self, phase: str, opts: argparse.Namespace) -> bool:
        """Read the store file before a reactor runs: its error is one line, and exit 2."""
        assert self.settings is not None
        folders = [folder for folder in self.settings.get("STOREBOT_STORES").split(os.pathsep) if folder]
        try:
            check_arguments(phase, opts.spargs)
            reason_of_force(opts.spargs)
            requests_of(opts.spargs)
            is_full(opts.spargs)
            name = opts.spargs.get("store")
            if not name:
                raise UsageError(f"which store? scrapy crawl {phase} -a store=NAME")
            store = load_store(name, folders, base_url=opts.spargs.get("base_url"))
            check_tiers(store)
            self._store = store
            if _OF_SCRAPYD in opts.spargs:
                _check_paths(self.settings)
        except StorebotError as error:
            print(error, file=sys.stderr)
            if _OF_SCRAPYD in opts.spargs:
                logger.error("%s", error)  # into the log of the job, too: stderr goes to the daemon's
            self.exitcode = int(error.exit_code)
            self._refusal = str(error)
            return False
        return True

    def _log_is_set_up(self, crawler: Crawler, phase: str) -> bool:
        """Have the log written as JSON where the environment asks for it; Scrapy then writes none."""
        try:
            if crawler.settings.getbool("STOREBOT_LOG_JSON") and get_scrapy_root_handler() is None:
                write_json(root_handler(crawler.settings), self._store, partial(_run_id, crawler), phase)
        except StorebotError as error:
            print(error, file=sys.stderr)
            self.exitcode = int(error.exit_code)
            return False
        return True

    def _is_spider(self, name: str, known: Sequence[str]) -> bool:
        """Look the name up before Scrapy does, which answers an unknown one with a traceback."""
        if name in known:
            return True
        close = nearest(name, known)
        meant = f" (did you mean {close!r}?)" if close else ""
        print(f"no spider is named {name!r}{meant}: there are {', '.join(sorted(known))}", file=sys.stderr)
        self.exitcode = int(ExitCode.USAGE)
        return False

    def _report(self, crawler: Crawler, opts: argparse.Namespace, *, failed: bool) -> ExitCode:
        run = crawler.get_extension(Run) if not failed else None
        if run is None:
            code = ExitCode.INTERNAL_ERROR if failed else ExitCode.COMPLETE
        else:
            code = run.summary.exit_code if run.summary else run.code_without_summary
        summary = run.summary if run else None
        self._note_end(code, summary)  # before the last line: a Scrapyd daemon that died isn't there to read it
        if summary is None:
            return code
        return print_summary(summary, as_json=opts.json or crawler.settings.get("STOREBOT_SUMMARY") == "json")

    def _note_end(self, code: int, summary: Summary | None = None) -> None:
        note_end(*self._job, int(code), summary)

    @property
    def _job(self) -> tuple[str, str]:
        """The database, and the claim of the job that this process is an attempt of; "" for none."""
        assert self.settings is not None
        return self.settings.get("STOREBOT_DATABASE_URL", ""), self.settings.get("STOREBOT_JOB", "")


def _run_id(crawler: Crawler) -> int:
    """Return the number of the crawler's run; 0 until it is open."""
    try:
        run = crawler.get_extension(Run)
    except RuntimeError:  # there are no extensions yet
        return 0
    return run.session.run_id if run is not None and run.is_open else 0


def _check_paths(settings: BaseSettings) -> None:
    """Raise ConfigurationError for a relative path: it would lie where the Scrapyd daemon was started."""
    url = database_url(settings.get("STOREBOT_DATABASE_URL"))
    if url.get_backend_name() == "sqlite" and not Path(str(url.database)).is_absolute():
        raise ConfigurationError(
            f"STOREBOT_DATABASE_URL: {shown(url)}: under Scrapyd give an absolute path (sqlite:////…) in the daemon's "
            "environment"
        )
    folder = archive_folder(settings)
    if folder is not None and not folder.is_absolute():
        raise ConfigurationError(
            f"STOREBOT_ARCHIVE: {folder}: under Scrapyd give an absolute path in the daemon's environment, or off"
        )


def print_summary(summary: Summary, *, as_json: bool) -> ExitCode:
    """Print the last line of a crawl (and its JSON form) on stdout; return the exit code."""
    print(summary.line())
    if as_json:
        print(summary.json_line())
    return summary.exit_code
