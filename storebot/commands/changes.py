"""``scrapy changes``: what changed at a store, in the order in which it was found."""

from __future__ import annotations

import argparse
import sys
import time

import orjson
from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from storebot.core.change_line import change_line
from storebot.db import change_feed
from storebot.db.database import Database
from storebot.exceptions import ExitCode, StorebotError

_POLL_S = 1.0
_BATCH = 500


class Command(ScrapyCommand):
    """Print changes after a number, one a line; remember the last ``seq`` and ask for what came after it."""

    requires_project = True
    requires_crawler_process = False
    default_settings = {"LOG_ENABLED": False}  # noqa: RUF012 - declared so by Scrapy

    def syntax(self) -> str:
        return "--store NAME [--after SEQ] [--limit N] [--follow] [--json]"

    def short_desc(self) -> str:
        return "Print what changed at a store, oldest first"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--store", metavar="NAME", help="the store (required)")
        parser.add_argument("--after", type=int, default=0, metavar="SEQ", help="only changes after this number")
        parser.add_argument("--limit", type=int, metavar="N", help="at most so many")
        parser.add_argument("--follow", action="store_true", help="wait for more, until Ctrl-C")
        parser.add_argument("--json", action="store_true", help="one JSON object a line")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        if args or not opts.store or opts.after < 0 or (opts.limit is not None and opts.limit < 1):
            raise UsageError(f"scrapy changes {self.syntax()}")
        try:
            self._print(opts)
        except StorebotError as error:
            print(error, file=sys.stderr)
            self.exitcode = int(error.exit_code)
        except KeyboardInterrupt:
            self.exitcode = int(ExitCode.SIGINT)

    def _print(self, opts: argparse.Namespace) -> None:
        assert self.settings is not None
        database = Database.open(self.settings.get("STOREBOT_DATABASE_URL"), create=False)
        after, left = opts.after, opts.limit
        try:
            while left is None or left > 0:
                with database.explaining(), database.read() as conn:
                    found = change_feed.after(conn, opts.store, after, limit=min(left or _BATCH, _BATCH))
                for change in found:
                    print(orjson.dumps(change).decode() if opts.json else change_line(change), flush=opts.follow)
                if found:
                    after = found[-1]["seq"]
                    left = left - len(found) if left is not None else None
                elif opts.follow:
                    time.sleep(_POLL_S)
                else:
                    return
        finally:
            database.dispose()
