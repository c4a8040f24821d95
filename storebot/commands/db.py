"""``scrapy db``: bring the database up to date, check it, back it up."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from scrapy.commands import ScrapyCommand

from storebot.db import database, health
from storebot.db.addresses import database_url, shown
from storebot.db.backup import backup
from storebot.db.schema import REVISION
from storebot.exceptions import ConfigurationError, StorebotError


class Command(ScrapyCommand):
    """Look after the database of ``STOREBOT_DATABASE_URL``. Exit 2 for wrong use, 8 where it can't serve."""

    requires_project = True
    requires_crawler_process = False
    default_settings = {"LOG_ENABLED": False}  # noqa: RUF012  # Scrapy declares it so

    def syntax(self) -> str:
        return "upgrade | check | backup PATH"

    def short_desc(self) -> str:
        return "Upgrade, check or back up the database"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--url", help="another database than STOREBOT_DATABASE_URL")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        assert self.settings is not None
        url = opts.url or self.settings.get("STOREBOT_DATABASE_URL")
        try:
            print(_act(args, url))
        except StorebotError as error:
            print(error, file=sys.stderr)
            self.exitcode = int(error.exit_code)


def _act(args: list[str], url: str) -> str:
    match args:
        case ["upgrade"]:
            return f"{shown(database_url(url))} is at revision {database.upgrade(url)}"
        case ["check"]:
            return _check(url)
        case ["backup", path]:
            return f"{path}: {backup(url, Path(path))} bytes"
        case _:
            raise ConfigurationError("usage: scrapy db upgrade | check | backup PATH [--url URL]")


def _check(url: str) -> str:
    opened = database.Database.open(url, create=False)
    try:
        counts = health.check(opened)
        lines = [f"{opened} is sound, at revision {REVISION}"]
    finally:
        opened.dispose()
    return "\n".join([*lines, *(f"{count:>12} {name}" for name, count in counts.items())])
