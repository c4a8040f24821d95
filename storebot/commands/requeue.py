"""``scrapy requeue``: pages that failed, or were blocked, are due at once."""

from __future__ import annotations

import argparse
import sys

import orjson
from scrapy.commands import ScrapyCommand

from storebot.db.database import Database
from storebot.db.requeueing import FAILURES, requeue
from storebot.exceptions import ConfigurationError, StorebotError


class Command(ScrapyCommand):
    """Have the next run try pages again, instead of waiting until they're due. Exit 2 for wrong use."""

    requires_project = True
    requires_crawler_process = False
    default_settings = {"LOG_ENABLED": False}  # noqa: RUF012 - declared so by Scrapy

    def syntax(self) -> str:
        return "--store NAME [--errors] [--blocked] [--invalid] [--dry-run] [--json]"

    def short_desc(self) -> str:
        return "Have pages that failed or were blocked be tried again by the next run"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--store", help="whose pages")
        for flag, failure, about in (
            ("--errors", "error", "pages that couldn't be fetched"),
            ("--blocked", "blocked", "pages whose last answer was a block"),
            ("--invalid", "invalid", "pages that couldn't be read"),
        ):
            parser.add_argument(flag, action="append_const", dest="failures", const=failure, help=about)
        parser.add_argument("--dry-run", action="store_true", help="say what would be done, and write nothing")
        parser.add_argument("--json", action="store_true", help="one JSON object")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        assert self.settings is not None
        try:
            if args or not opts.store or not opts.failures:
                raise ConfigurationError(f"scrapy requeue {self.syntax()}: expected a store, and one of the three")
            database = Database.open(self.settings.get("STOREBOT_DATABASE_URL"), create=False)
            try:
                failures = [FAILURES[name] for name in opts.failures]
                count = requeue(database, opts.store, failures, dry_run=opts.dry_run)
            finally:
                database.dispose()
        except StorebotError as error:
            print(error, file=sys.stderr)
            self.exitcode = int(error.exit_code)
            return
        if opts.json:
            print(orjson.dumps({"store": opts.store, "pages": count, "dry_run": opts.dry_run}).decode())
        else:
            print(f"{opts.store}: {'would be' if opts.dry_run else 'now'} due: {in_words(count)}")


def in_words(count: int) -> str:
    """Return a number of pages in words."""
    return "1 page" if count == 1 else f"{count:,} pages"
