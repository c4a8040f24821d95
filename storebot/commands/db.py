"""``scrapy db``: bring the database up to date, check it, back it up."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from scrapy.commands import ScrapyCommand

from storebot.core.month import DAY_MS
from storebot.db import database, health, retention
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
        return "upgrade | check | backup PATH | prune"

    def short_desc(self) -> str:
        return "Upgrade, check or back up the database"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--url", help="another database than STOREBOT_DATABASE_URL")
        parser.add_argument("--days", type=int, help="prune: keep so many days (default STOREBOT_VISITS_KEEP_DAYS)")
        parser.add_argument("--dry-run", action="store_true", help="prune: only say how much would go")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        assert self.settings is not None
        url = opts.url or self.settings.get("STOREBOT_DATABASE_URL")
        try:
            if args == ["prune"]:
                keep = opts.days if opts.days is not None else self.settings.getint("STOREBOT_VISITS_KEEP_DAYS")
                print(_prune(url, keep, dry_run=opts.dry_run))
            else:
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
            raise ConfigurationError(
                "usage: scrapy db upgrade | check | backup PATH | prune [--days N] [--dry-run] [--url URL]"
            )


def _check(url: str) -> str:
    opened = database.Database.open(url, create=False)
    try:
        counts = health.check(opened)
        lines = [f"{opened} is sound, at revision {REVISION}"]
    finally:
        opened.dispose()
    return "\n".join([*lines, *(f"{count:>12} {name}" for name, count in counts.items())])


def _prune(url: str, days: int, *, dry_run: bool) -> str:
    if days < 1:
        raise ConfigurationError(f"visits are kept for {days} days: name at least one, scrapy db prune --days N")
    opened = database.Database.open(url, create=False)
    try:
        with opened.read() as conn:
            before_ms = database.now_ms(conn) - days * DAY_MS
            count = retention.forgettable(conn, None, before_ms)
        if not dry_run:
            count = retention.forget(opened, None, before_ms)
    finally:
        opened.dispose()
    done = "would be" if dry_run else "were"
    return f"{count} visits {done} forgotten, of runs that ended {days} days ago or earlier"
