"""``scrapy report``: the runs as a table, beside what fetching and rewriting everything would have cost."""

from __future__ import annotations

import argparse
import sys
from datetime import UTC, datetime

import orjson
from scrapy.commands import ScrapyCommand

from storebot.core.summary import table
from storebot.db import runs
from storebot.db.database import Database
from storebot.exceptions import StorebotError
from storebot.items import Outcome

HEADERS = (
    "run", "kind", "store", "started (UTC)", "status", "pages fetched", "not modified", "rows rewritten",
    "rows skipped", "changes", "requests", "bytes", "elapsed", "naive: pages", "naive: rows",
)  # fmt: skip


class Command(ScrapyCommand):
    """Print the last runs. The naive columns are a script that fetches and rewrites every page on every run."""

    requires_project = True
    requires_crawler_process = False
    default_settings = {"LOG_ENABLED": False}  # noqa: RUF012 - declared so by Scrapy

    def short_desc(self) -> str:
        return "Show the runs as a table"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--store", help="only this store")
        parser.add_argument("--last", type=int, default=20, metavar="N", help="so many runs (default 20)")
        parser.add_argument("--json", action="store_true", help="one JSON object a line")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        assert self.settings is not None
        try:
            database = Database.open(self.settings.get("STOREBOT_DATABASE_URL"), create=False)
            with database.read() as conn:
                found = runs.last(conn, opts.store, limit=opts.last)
            database.dispose()
        except StorebotError as error:
            print(error, file=sys.stderr)
            self.exitcode = int(error.exit_code)
            return
        if opts.json:
            for run in found:
                print(orjson.dumps(run, option=orjson.OPT_NON_STR_KEYS).decode())
        else:
            print(render(list(reversed(found))) if found else "No runs yet: scrapy crawl backfill -a store=NAME")


def render(found: list[runs.Run]) -> str:
    """Return the table, oldest run first, with the reasons of those that weren't complete below it."""
    rows = [_row(run) for run in found]
    notes = [f"run {run.id} ({run.status}): {run.reason}" for run in found if run.reason]
    return "\n".join([table(HEADERS, rows), *notes])


def _row(run: runs.Run) -> list[str]:
    visits = sum(run.outcomes.values())
    not_modified = run.outcomes.get(Outcome.NOT_MODIFIED, 0)
    elapsed = f"{(run.finished_at - run.started_at) / 1000:.1f} s" if run.finished_at else "-"
    return [
        str(run.id),
        run.kind,
        run.store,
        datetime.fromtimestamp(run.started_at / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S"),
        str(run.status),
        str(visits - not_modified),
        str(not_modified),
        str(run.rows_written),
        str(run.rows_skipped),
        str(run.change_events),
        str(run.requests),
        size(run.size_bytes),
        elapsed,
        str(max(run.pages_known, visits)),
        str(max(run.listings_known, visits)),
    ]


def size(count: int) -> str:
    """Return bytes with a unit, three digits at most."""
    value, units = float(count), ["B", "KB", "MB", "GB", "TB"]
    while round(value) >= 1000 and len(units) > 1:
        value /= 1000
        units.pop(0)
    return f"{value:.0f} {units[0]}" if value >= 10 or units[0] == "B" else f"{value:.1f} {units[0]}"
