"""``scrapy crawl``: Scrapy's own command, with the exit codes and the last line of DESIGN §5.

It shadows Scrapy's, which exits 0 for a crawl that fetched nothing (NOTES A4). A spider without a
run (a user's own) keeps Scrapy's behaviour.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from scrapy.commands.crawl import Command as ScrapyCrawl
from scrapy.exceptions import UsageError

from storebot.core.summary import Summary
from storebot.exceptions import ExitCode, StorebotError
from storebot.fetch.handler import check_tiers
from storebot.run import Run
from storebot.spiders.arguments import check_arguments, is_full, reason_of_force, requests_of
from storebot.stores import load_store
from storebot.stores.wording import nearest

if TYPE_CHECKING:
    from scrapy.crawler import AsyncCrawlerProcess, Crawler

PHASES = ("backfill", "refresh")


class Command(ScrapyCrawl):
    """Run a spider; for backfill and refresh, print the last line and exit with the code that the run deserves."""

    def short_desc(self) -> str:
        return "Run a phase (backfill, refresh) over a store, or any spider by name"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--json", action="store_true", help="print the last line as JSON, too")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        if len(args) != 1:
            raise UsageError("exactly one spider: scrapy crawl backfill|refresh -a store=NAME")
        if args[0] in PHASES and not self._store_loads(args[0], opts):
            return
        if sys.stderr.isatty() and opts.loglevel is None and self.settings is not None:
            self.settings.set("LOG_LEVEL", "WARNING", priority="command")  # the progress bar has the terminal
        process = cast("AsyncCrawlerProcess", self.crawler_process)
        if not self._is_spider(args[0], process.spider_loader.list()):
            return
        crawler = self._create_crawler(args[0])
        process.crawl(crawler, **opts.spargs)
        process.start()
        self.exitcode = int(self._report(crawler, opts, failed=process.bootstrap_failed))

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
            return ExitCode.INTERNAL_ERROR if failed else ExitCode.COMPLETE
        if run.summary is None:
            return run.code_without_summary
        as_json = opts.json or crawler.settings.get("STOREBOT_SUMMARY") == "json"
        return print_summary(run.summary, as_json=as_json)


def print_summary(summary: Summary, *, as_json: bool) -> ExitCode:
    """Print the last line of a crawl (and its JSON form) on stdout; return the exit code."""
    print(summary.line())
    if as_json:
        print(summary.json_line())
    return summary.exit_code
