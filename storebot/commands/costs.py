"""``scrapy costs``: what was spent, by store, tier, day or address, and what it cost."""

from __future__ import annotations

import argparse
import os

import orjson
from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from storebot.commands import ended_by_errors
from storebot.core.budget import Use
from storebot.core.cost_report import CostReport, Line, as_json, group, of_pages, render
from storebot.core.costs import PriceTable
from storebot.core.month import DAY_MS, Month
from storebot.db import spending
from storebot.db.database import Database, now_ms
from storebot.exceptions import UnknownStore
from storebot.stores import load_store
from storebot.stores.model import Store

_BY = ("tier", "day", "url", "store")
_EVER = "ever"


class Command(ScrapyCommand):
    """Print what the runs of a month spent. It reads the database and the store file, and fetches nothing."""

    requires_project = True
    requires_crawler_process = False
    default_settings = {"LOG_ENABLED": False}  # noqa: RUF012 - declared so by Scrapy

    def syntax(self) -> str:
        return "[--store NAME] [--by tier|day|url|store] [--month YYYY-MM|ever] [--limit N] [--json]"

    def short_desc(self) -> str:
        return "Show what fetching took and cost"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--store", metavar="NAME", help="only this store; without it all, one a row")
        parser.add_argument("--by", choices=_BY, help="rows by this; with --store by tier, unless you say otherwise")
        parser.add_argument("--month", metavar="YYYY-MM", help="which month (default: this one), or: ever")
        parser.add_argument("--limit", type=int, default=20, metavar="N", help="so many addresses (default 20)")
        parser.add_argument("--json", action="store_true", help="one JSON object")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        if args or opts.limit < 1:
            raise UsageError(f"scrapy costs {self.syntax()}")
        if opts.by == "url" and not opts.store:
            raise UsageError("--by url wants a store: scrapy costs --store NAME --by url")
        with ended_by_errors(self):
            report = self._report(opts)
            print(orjson.dumps(as_json(report)).decode() if opts.json else render(report))

    def _report(self, opts: argparse.Namespace) -> CostReport:
        assert self.settings is not None
        folders = [folder for folder in self.settings.get("STOREBOT_STORES").split(os.pathsep) if folder]
        store, unknown = _store(opts.store, folders)
        by = opts.by or ("tier" if opts.store else "store")
        database = Database.open(self.settings.get("STOREBOT_DATABASE_URL"), create=False)
        try:
            with database.read() as conn:
                now = now_ms(conn)
                month = _month(opts.month, now)
                start, end = (month.start_ms, month.end_ms) if month else (0, now + DAY_MS)
                lines = spending.lines(conn, opts.store, month.days if month else None)
                pages = spending.dearest(conn, opts.store, start, end, opts.limit) if by == "url" else []
                failed_calls = spending.failed_calls(conn, opts.store, start, end)
        finally:
            database.dispose()
        if unknown is not None and not lines:
            raise unknown
        prices = store.costs.table if store and store.costs else PriceTable()
        return CostReport(
            store=opts.store,
            period=month.name if month else _EVER,
            rows=of_pages(pages, prices.currency) if by == "url" else group(lines, by),
            spent=lines,
            prices=prices if store else None,
            failed_calls=failed_calls,
            budget=_budget(store, month, lines) if store and month else None,
            passed=month.passed(now) if month else 0.0,
        )


def _store(name: str | None, folders: list[str]) -> tuple[Store | None, UnknownStore | None]:
    """Return the store; of one that has no file any more what it spent can still be told."""
    try:
        return (load_store(name, folders) if name else None), None
    except UnknownStore as error:
        return None, error


def _month(text: str | None, now: int) -> Month | None:
    if text == _EVER:
        return None
    try:
        return Month.named(text) if text else Month.at(now)
    except ValueError as error:
        raise UsageError(f"--month: {error}, or: ever") from error


def _budget(store: Store, month: Month, lines: list[Line]) -> Use:
    """Return what the month's lines leave of its budget; money in another currency than today's isn't counted."""
    currency = store.costs.currency if store.costs else ""
    use = Use(store.budget.month.limits, month.name, currency)
    for line in lines:
        paid = line.expense.cost_micro if line.currency == currency else 0
        use.spend(line.expense._replace(cost_micro=paid), discovery=False)
    return use
