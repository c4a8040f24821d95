"""``scrapy api``: listings, their history, changes and runs over HTTP, to read."""

from __future__ import annotations

import argparse
import os
import sys

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from storebot.core.read_api import TOKENS, read_tokens
from storebot.db.database import Database
from storebot.exceptions import ConfigurationError, StorebotError

_PORT = 8081


class Command(ScrapyCommand):
    """Serve the read API until SIGINT or SIGTERM, and then exit 0; 2 for wrong use, 8 for the database."""

    requires_project = True
    requires_crawler_process = False
    default_settings = {"LOG_LEVEL": "WARNING"}  # noqa: RUF012 - declared so by Scrapy

    def syntax(self) -> str:
        return "[--host ADDRESS] [--port N]"

    def short_desc(self) -> str:
        return "Serve listings, history, changes and runs as JSON, to read"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default: %(default)s)")
        parser.add_argument("--port", type=int, default=_PORT, help="port, 0 for any free one (default: %(default)s)")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        if args:
            raise UsageError(f"scrapy api {self.syntax()}")
        assert self.settings is not None
        try:
            tokens = read_tokens(os.environ.get(TOKENS, ""))
            try:
                from storebot.api.serving import serve
            except ModuleNotFoundError as error:
                raise ConfigurationError(f"{error}: the API needs it, pip install 'storebot[api]'") from error
            database = Database.open(self.settings.get("STOREBOT_DATABASE_URL"), create=False)
            try:
                serve(database, opts.host, opts.port, tokens, lambda url: print(f"{url}/openapi.json", flush=True))
            finally:
                database.dispose()
        except StorebotError as error:
            print(error, file=sys.stderr)
            self.exitcode = int(error.exit_code)
