"""``scrapy export``: a store's listings, changes or offers as files, with a manifest; ``scrapy export verify``."""

from __future__ import annotations

import argparse
import os
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson
from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from storebot.core.alerts.message import Channel
from storebot.core.export.columns import COLUMNS, chosen
from storebot.core.export.filters import parse
from storebot.core.export.manifest import note, summary
from storebot.core.moments import moment_ms
from storebot.db import outbox, runs
from storebot.db.database import Database, now_ms
from storebot.exceptions import ConfigurationError, ExitCode, StorebotError
from storebot.exports.destinations import Destination, destination
from storebot.exports.format import format_of, formats
from storebot.exports.running import Order, export, scratch_for
from storebot.exports.verifying import faults, manifest_in
from storebot.notify.recipients import read_recipients

_USAGE = "--store NAME [--format csv,xlsx,…] [--what listings|changes|offers] [--out DIR]; or: verify DIR"


class Command(ScrapyCommand):
    """Write an export and print its manifest's summary, or verify one. Exit 8 where it can't be put into its place."""

    requires_project = True
    requires_crawler_process = False
    default_settings = {"LOG_ENABLED": False}  # noqa: RUF012 - declared so by Scrapy

    def syntax(self) -> str:
        return _USAGE

    def short_desc(self) -> str:
        return "Write a store's listings, changes or offers to files, with a manifest"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        known = "; ".join(f"{name}: {one.about}" for name, one in formats().items())
        parser.add_argument("--store", metavar="NAME", help="whose rows")
        parser.add_argument("--format", default="csv", metavar="NAMES", help=f"one or more, with commas. {known}")
        parser.add_argument("--what", default="listings", choices=[*COLUMNS], help="default: listings")
        parser.add_argument("--columns", default="", metavar="NAMES", help="these, in this order (default: all)")
        parser.add_argument(
            "--filter", action="append", default=[], metavar="CONDITION", help="such as brand=Acme or 'price<20'"
        )
        parser.add_argument("--since", metavar="TIME", help="only what changed since 2026-11-30[T08:00], UTC")
        parser.add_argument("--as-of", metavar="TIME", help="as it was then; of listings, later changes are undone")
        parser.add_argument("--out", default="var/exports", metavar="DIR", help="folder or URL (default var/exports)")
        parser.add_argument(
            "--tell", action="store_true", help="say so on the business channel (STOREBOT_ALERTS_BUSINESS), too"
        )
        parser.add_argument("--no-tell", dest="tell", action="store_false", help="don't: a job's exports do otherwise")
        parser.add_argument("--link", metavar="URL", help="with --tell: where people find the folder --out")
        parser.add_argument("--json", action="store_true", help="print the manifest, or the faults, as JSON")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        try:
            if len(args) == 2 and args[0] == "verify":
                self.exitcode = int(_verify(Path(args[1]), opts.what, as_json=opts.json))
            elif args or not opts.store:
                raise UsageError(f"scrapy export {_USAGE}")
            else:
                self._export(opts)
        except StorebotError as error:
            print(error, file=sys.stderr)
            self.exitcode = int(error.exit_code)

    def _export(self, opts: argparse.Namespace) -> None:
        from tqdm import tqdm

        assert self.settings is not None
        order = _order(opts)
        database = Database.open(self.settings.get("STOREBOT_DATABASE_URL"), create=False)
        try:
            with database.read() as conn:
                if not runs.last(conn, opts.store, limit=1):
                    raise ConfigurationError(f"{opts.store}: no run of such a store is in {database}")
            to = destination(opts.out, opts.store, opts.what, f"{datetime.now(UTC):%Y%m%dT%H%M%S.%fZ}")
            bar = tqdm(unit="row", desc=f"export {opts.store}", file=sys.stderr, dynamic_ncols=True, disable=None)
            with scratch_for(to) as scratch, bar:
                found = export(database, order, to, scratch, lambda read: bar.update(read - bar.n))
            if opts.tell:
                _tell(database, found, to, opts.link)
        finally:
            database.dispose()
        print(orjson.dumps(found).decode() if opts.json else summary(found, to.shown))


def _tell(database: Database, found: dict[str, Any], to: Destination, link: str | None) -> None:
    """Leave a message for each recipient of the business channel: the worker, or `scrapy alerts send`, sends it."""
    recipients = read_recipients(os.environ)[Channel.BUSINESS]
    where = f"{link.rstrip('/')}/{to.store}/{to.stamp}/" if link else to.shown
    with database.explaining(), database.write() as conn:
        outbox.put(conn, [note(found, where)], [(one.id, one.service) for one in recipients], now_ms(conn))


def _order(opts: argparse.Namespace) -> Order:
    names = [*dict.fromkeys(name.strip() for name in opts.format.split(",") if name.strip())]
    try:
        columns = chosen(opts.what, [name.strip() for name in opts.columns.split(",") if name.strip()])
        filters = parse(opts.what, opts.filter)
    except ValueError as error:
        raise ConfigurationError(str(error)) from error
    return Order(
        store=opts.store,
        what=opts.what,
        formats=[format_of(name, opts.what) for name in names or ["csv"]],
        columns=columns,
        filters=filters,
        filters_text=opts.filter,
        since_ms=moment_ms("--since", opts.since) if opts.since else None,
        as_of_ms=moment_ms("--as-of", opts.as_of) if opts.as_of else None,
    )


def _verify(folder: Path, what: str, *, as_json: bool) -> ExitCode:
    folder, found = manifest_in(folder, what)
    wrong = [*faults(folder, found)]
    if as_json:
        print(orjson.dumps({"folder": str(folder), "faults": wrong, "status": found["status"]}).decode())
    else:
        print("\n".join(wrong) or f"{folder}: as its manifest says. {summary(found, str(folder))}")
    return ExitCode.DATABASE if wrong else ExitCode.COMPLETE
