"""``scrapy coverage``: what a store's sitemaps, catalogue and feeds name, beside what the database holds."""

from __future__ import annotations

import argparse
import os
import sys
from datetime import UTC, datetime

import orjson
from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError
from scrapy.settings import BaseSettings

from storebot.core.coverage import Coverage, render
from storebot.core.history import Span
from storebot.core.money import from_minor
from storebot.core.summary import table
from storebot.core.urls import url_key
from storebot.db import coverage, history
from storebot.db.database import Database
from storebot.db.retry import retrying
from storebot.exceptions import ExitCode, StorebotError
from storebot.stores import load_store

_TIMES = ("first seen", "last checked", "missing since")
_SPANS = ("variant", "from (UTC)", "to", "looks", "", "price", "availability", "")


class Command(ScrapyCommand):
    """Print the counts, or one list of pages, of what the last runs recorded; the counts are kept for the dashboard."""

    requires_project = True
    requires_crawler_process = False
    default_settings = {"LOG_ENABLED": False}  # noqa: RUF012 - declared so by Scrapy

    def short_desc(self) -> str:
        return "Show what a store's sources name, beside what the database holds"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--store", metavar="NAME", help="the store (required)")
        parser.add_argument("--list", dest="which", metavar="WHICH", help=f"its pages: {', '.join(coverage.LISTS)}")
        parser.add_argument("--page", metavar="URL", help="one page: what was seen of it, and when nobody could look")
        parser.add_argument("--limit", type=int, default=50, metavar="N", help="so many pages of a list (default 50)")
        parser.add_argument("--json", action="store_true", help="one JSON object, or one a line of a list")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        if not opts.store or args or opts.limit < 1:
            raise UsageError("scrapy coverage --store NAME [--list WHICH [--limit N] | --page URL] [--json]")
        if opts.which and opts.which not in coverage.LISTS:
            raise UsageError(f"there is no list {opts.which!r}: choose one of {', '.join(coverage.LISTS)}")
        try:
            self._show(opts)
        except StorebotError as error:
            print(error, file=sys.stderr)
            self.exitcode = int(error.exit_code)

    def _show(self, opts: argparse.Namespace) -> None:
        assert self.settings is not None
        database = Database.open(self.settings.get("STOREBOT_DATABASE_URL"), create=False)
        try:
            with database.read() as conn:
                if opts.which:
                    show = _list_json if opts.json else _list
                    print(show(coverage.lines(conn, opts.store, opts.which, limit=opts.limit)))
                    return
                if opts.page:
                    found_spans = history.history(conn, opts.store, _key(self.settings, opts.store, opts.page))
                    print(_spans_json(found_spans) if opts.json else _spans(found_spans))
                    return
                found = coverage.coverage(conn, opts.store)
            if found.sources or sum(found.states.values()):  # not of a name that no run knows
                retrying(database, lambda conn: coverage.keep(conn, found))
        finally:
            database.dispose()
        print(orjson.dumps(found.as_json()).decode() if opts.json else render(found, _written(found)))
        self.exitcode = int(ExitCode.PARTIAL if found.doubts else ExitCode.COMPLETE)


def _key(settings: BaseSettings, store: str, url: str) -> str:
    folders = [folder for folder in settings.get("STOREBOT_STORES").split(os.pathsep) if folder]
    return url_key(url, load_store(store, folders).key_rules)


def _spans_json(found: dict[str, list[Span]]) -> str:
    return "\n".join(
        orjson.dumps({"variant_id": variant, "history": spans}, default=lambda offer: offer._asdict()).decode()
        for variant, spans in found.items()
    )


def _spans(found: dict[str, list[Span]]) -> str:
    rows = [
        [variant or "-", _time(one.since), _time(one.until), str(one.looks), one.kind, *_offered(one)]
        for variant, spans in found.items()
        for one in spans
    ]
    return table(_SPANS, rows) if rows else "no such page, or it was never read"


def _offered(span: Span) -> list[str]:
    offer = span.offer
    if offer is None:
        return ["-", "-", "-"]
    currency = offer.currency or ""
    known = offer.price_minor is not None and currency
    price = f"{from_minor(offer.price_minor or 0, currency)} {currency}" if known else "-"
    return [price, offer.availability or "-", "" if offer.cause == "seen" else "corrected"]


def _written(found: Coverage) -> dict[int, str]:
    return {one.whole_at: _time(one.whole_at) for one in found.sources if one.whole_at is not None}


def _list_json(found: list[coverage.PageLine]) -> str:
    return "\n".join(orjson.dumps(line._asdict()).decode() for line in found)


def _list(found: list[coverage.PageLine]) -> str:
    if not found:
        return "no such page"
    sources = list(found[0].named)
    rows = [
        [
            line.state,
            *map(_time, (line.first_seen_at, line.checked_at, line.first_missed_at)),
            *(_time(line.named[source]) for source in sources),
            line.url,
        ]
        for line in found
    ]
    return table(("state", *_TIMES, *(f"named by {source}" for source in sources), "page"), rows)


def _time(at_ms: int | None) -> str:
    return datetime.fromtimestamp(at_ms / 1000, UTC).strftime("%Y-%m-%d %H:%M") if at_ms else "-"
