"""``scrapy dashboard``: the operator's pages, over HTTP."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from storebot.core.read_api import TOKENS, is_loopback, read_tokens
from storebot.db.database import Database
from storebot.db.holders import person
from storebot.exceptions import ConfigurationError, StorebotError

if TYPE_CHECKING:
    from storebot.dashboard.site import Site

_PORT = 8080


class Command(ScrapyCommand):
    """Serve the dashboard until SIGINT or SIGTERM, and then exit 0; 2 for wrong use, 8 for the database."""

    requires_project = True
    requires_crawler_process = False
    default_settings = {"LOG_LEVEL": "WARNING"}  # noqa: RUF012 - declared so by Scrapy

    def syntax(self) -> str:
        return "[--host ADDRESS] [--port N] [--public-url URL]"

    def short_desc(self) -> str:
        return "Serve the operator's dashboard"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default: %(default)s)")
        parser.add_argument("--port", type=int, default=_PORT, help="port, 0 for any free one (default: %(default)s)")
        parser.add_argument(
            "--public-url", default="", metavar="URL", help="under which a reverse proxy with TLS serves it"
        )
        parser.add_argument("--exports", default="var/exports", metavar="DIR", help="where exports go (%(default)s)")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        if args:
            raise UsageError(f"scrapy dashboard {self.syntax()}")
        assert self.settings is not None
        try:
            tokens = read_tokens(os.environ.get(TOKENS, ""))
            try:
                from storebot.dashboard.serving import serve
            except ModuleNotFoundError as error:
                raise ConfigurationError(
                    f"{error}: the dashboard needs it, pip install 'storebot[dashboard]'"
                ) from error
            database = Database.open(self.settings.get("STOREBOT_DATABASE_URL"))
            try:
                serve(
                    _site(self.settings, database, opts), opts.host, opts.port, tokens, lambda url: _say(url, opts.host)
                )
            finally:
                database.dispose()
        except StorebotError as error:
            print(error, file=sys.stderr)
            self.exitcode = int(error.exit_code)


def _site(settings: Any, database: Database, opts: argparse.Namespace) -> Site:
    from storebot.dashboard.site import Site
    from storebot.notify.alerts_file import read_alerts_file
    from storebot.notify.tending import disks

    def folder(name: str) -> Path | None:
        value = settings.get(name)
        return Path(value).absolute() if value not in ("", "off") else None

    alerts = read_alerts_file(settings.get("STOREBOT_ALERTS"))
    return Site(
        database=database,
        folders=tuple(one for one in settings.get("STOREBOT_STORES").split(os.pathsep) if one),
        archive=folder("STOREBOT_ARCHIVE"),
        failed_pages=folder("STOREBOT_FAILED_PAGES"),
        exports=Path(opts.exports).absolute(),
        logs=folder("STOREBOT_JOB_LOGS"),
        disks=disks(settings),
        limits=alerts.limits,
        rules=alerts.rules,
        lease_s=settings.getint("STOREBOT_LEASE_S"),
        local_user=person(),
        public_url=opts.public_url.rstrip("/"),
    )


def _say(url: str, host: str) -> None:
    print(url, flush=True)
    if not is_loopback(host):
        print("Passwords travel in the clear unless TLS is in front: docs/operating.md, The dashboard", file=sys.stderr)
