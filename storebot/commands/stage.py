"""``scrapy stage``: what follows from the saved rows, made anew where something changed; no shop is asked."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Mapping
from dataclasses import asdict
from difflib import get_close_matches
from typing import Any, Self

import orjson
from scrapy.commands import ScrapyCommand
from scrapy.settings import BaseSettings
from tqdm import tqdm

from storebot.core.stage import Stage
from storebot.core.summary import table
from storebot.db import derived
from storebot.db.database import Database
from storebot.exceptions import ConfigurationError, ExitCode, StorebotError
from storebot.stages import chosen, load_stages
from storebot.stages.running import run_stage
from storebot.stages.tally import Tally

HEADERS = ("stage", "version", "rows read", "written", "unchanged", "flagged", "failed", "elapsed")


class Command(ScrapyCommand):
    """Run stages over the database. Exit 2 for wrong use, 3 where a listing made a stage fail, 8 for the database."""

    requires_project = True
    requires_crawler_process = False
    default_settings = {"LOG_ENABLED": False}  # noqa: RUF012 - declared so by Scrapy

    def syntax(self) -> str:
        return "NAME|enrich|all [--store NAME] [--all] [--dry-run] [--json]"

    def short_desc(self) -> str:
        return "Derive matches, price lows, unit prices and scores from the database"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--store", help="only the listings of this store")
        parser.add_argument("--all", action="store_true", dest="redo", help="those too whose inputs didn't change")
        parser.add_argument("--dry-run", action="store_true", help="say what would be written, and write nothing")
        parser.add_argument("--json", action="store_true", help="one JSON object a stage")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        assert self.settings is not None
        try:
            stages = _stages(self.settings)
            if len(args) != 1:
                raise ConfigurationError(f"usage: scrapy stage {self.syntax()}; stages: {', '.join(stages)}")
            wanted = {name: stages[name] for name in chosen(args[0], stages)}
            database = Database.open(self.settings.get("STOREBOT_DATABASE_URL"), create=False)
            try:
                self.exitcode = int(_run(database, wanted, opts, self.settings.get("STOREBOT_PROGRESS")))
            finally:
                database.dispose()
        except StorebotError as error:
            print(error, file=sys.stderr)
            self.exitcode = int(error.exit_code)


def _stages(settings: BaseSettings) -> dict[str, Stage]:
    try:
        own = settings.getdict("STOREBOT_STAGES")
    except (ValueError, TypeError) as error:  # -s gives text, which Scrapy reads as JSON
        raise ConfigurationError(f"STOREBOT_STAGES: expected a table of name and dotted path: {error}") from error
    return load_stages(own)


def _run(database: Database, wanted: Mapping[str, Stage], opts: argparse.Namespace, mode: str) -> ExitCode:
    with database.explaining(), database.read() as conn:
        _check_store(opts.store, derived.stores_with_listings(conn))
        total = derived.count(conn, opts.store)
    rows: list[list[str]] = []
    failures: list[str] = []
    for name, stage in wanted.items():
        started = time.monotonic()
        with Progress(name, total, mode) as progress:
            tally = run_stage(
                database, name, stage, store=opts.store, redo=opts.redo, dry_run=opts.dry_run, progress=progress
            )
        elapsed_s = time.monotonic() - started
        if opts.json:
            print(orjson.dumps(_facts(tally, elapsed_s, dry_run=opts.dry_run)).decode())
        rows.append(_row(tally, elapsed_s))
        if tally.failed:
            failures.append(f"{name}: {tally.failed} listings failed and stay as they were, the first: {tally.failure}")
    if not opts.json:
        print(table(HEADERS, rows))
        if opts.dry_run:
            print("dry run: nothing was written")
    for failure in failures:
        print(failure, file=sys.stderr)
    return ExitCode.PARTIAL if failures else ExitCode.COMPLETE


class Progress:
    """How far a pass is, on stderr: a bar on a terminal, a line now and then elsewhere."""

    LINE_EVERY_S = 30.0

    def __init__(self, name: str, total: int, mode: str) -> None:
        self._name, self._total, self._done = name, total, 0
        self._lines = mode == "lines" or (mode == "auto" and not sys.stderr.isatty())
        hidden = self._lines or mode == "off"
        self._bar = tqdm(total=total, unit="row", desc=name, file=sys.stderr, disable=hidden, leave=False)
        self._last_line = time.monotonic()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.close()

    def __call__(self, count: int) -> None:
        """Take the rows of a batch."""
        self._done += count
        self._bar.update(count)
        if self._lines and time.monotonic() - self._last_line >= self.LINE_EVERY_S:
            self._last_line = time.monotonic()
            print(f"{self._name}: {self._done} of {self._total} rows", file=sys.stderr)


def _check_store(store: str | None, known: list[str]) -> None:
    if store is None or store in known:
        return
    near = get_close_matches(store, known, n=1)
    hint = f" (did you mean {near[0]!r}?)" if near else ""
    raise ConfigurationError(f"store {store!r}: the database has no listing of it{hint}")


def _row(tally: Tally, elapsed_s: float) -> list[str]:
    counts = (tally.rows, tally.written, tally.unchanged, tally.flagged, tally.failed)
    return [tally.stage, tally.version, *map(str, counts), f"{elapsed_s:.1f} s"]


def _facts(tally: Tally, elapsed_s: float, *, dry_run: bool) -> dict[str, Any]:
    return {**asdict(tally), "unchanged": tally.unchanged, "elapsed_s": round(elapsed_s, 3), "dry_run": dry_run}
