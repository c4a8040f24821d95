"""``scrapy archive``: what is kept of a store's pages: count it, let go of some, check it, hand it on."""

from __future__ import annotations

import argparse
import os
import sys
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from storebot.exceptions import ArchiveUnusable, ExitCode, StorebotError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from storebot.archive import Stats
    from storebot.stores.model import Store

VERBS = ("stats", "prune", "verify", "export")


class Command(ScrapyCommand):
    """Look after a store's page archive. Exit 2 for wrong use, 8 where the archive is missing or damaged."""

    requires_project = True
    requires_crawler_process = False
    default_settings = {"LOG_ENABLED": False}  # noqa: RUF012 - declared so by Scrapy

    def syntax(self) -> str:
        return "stats | prune | verify | export --store NAME [--warc FILE] [--dry-run] [--json]"

    def short_desc(self) -> str:
        return "Count, prune, verify or export a store's kept pages"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--store", required=True, help="whose pages")
        parser.add_argument(
            "--warc", metavar="FILE", type=Path, help="with export: the file to write, .warc or .warc.gz"
        )
        parser.add_argument("--dry-run", action="store_true", help="with prune and export: write nothing")
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        if len(args) != 1 or args[0] not in VERBS:
            raise UsageError(f"expected one of {', '.join(VERBS)}")
        if (args[0] == "export") != (opts.warc is not None):
            raise UsageError("export, and only export, needs --warc FILE")
        try:
            self.exitcode = int(getattr(self, f"_{args[0]}")(opts))
        except StorebotError as error:
            print(error, file=sys.stderr)
            self.exitcode = int(error.exit_code)

    def _stats(self, opts: argparse.Namespace) -> ExitCode:
        from storebot.archive import Archive, stats

        archive = Archive.read(self._path(opts))
        found = stats(archive)
        archive.close()
        _say(opts, {**asdict(found), "ratio": round(found.ratio, 1)}, _shown(found))
        return ExitCode.COMPLETE

    def _prune(self, opts: argparse.Namespace) -> ExitCode:
        from storebot.archive import Archive, stats
        from storebot.archive.keeping import retention_of
        from storebot.archive.pruning import prune
        from storebot.db import reparsing
        from storebot.db.database import Database, now_ms

        assert self.settings is not None
        store, archive = self._store(opts), Archive.open(self._path(opts), create=False)
        before = stats(archive).file_bytes
        database = Database.open(self.settings.get("STOREBOT_DATABASE_URL"), create=False)
        with database.read() as conn:
            now = now_ms(conn)

        def record_at(keys: Sequence[str]) -> Mapping[str, int]:
            with database.read() as conn:
                return reparsing.records_at(conn, store.name, keys)

        count = prune(archive, retention_of(store), now, record_at, dry_run=opts.dry_run)
        freed = before - stats(archive).file_bytes
        archive.close()
        database.dispose()
        verb = "would go" if opts.dry_run else f"are gone, and with them {freed} bytes"
        _say(opts, {"generations": count, "bytes": freed, "dry_run": opts.dry_run}, f"{count} generations {verb}")
        return ExitCode.COMPLETE

    def _verify(self, opts: argparse.Namespace) -> ExitCode:
        from storebot.archive import Archive

        archive = Archive.read(self._path(opts))
        count, damages = 0, []
        for damage in archive.verify():
            count += 1
            if damage is not None:
                damages.append(damage)
        archive.close()
        lines = [f"{one.url_key} at {_when(one.fetched_at_ms)}: {one.reason}" for one in damages]
        about = {"generations": count, "damaged": [one._asdict() for one in damages]}
        _say(opts, about, "\n".join([*lines, f"{count} generations, {len(damages)} damaged"]))
        return ExitCode.DATABASE if damages else ExitCode.COMPLETE

    def _export(self, opts: argparse.Namespace) -> ExitCode:
        from storebot.archive import Archive, stats
        from storebot.archive.export import export

        archive = Archive.read(self._path(opts))
        try:
            pages = stats(archive).generations
            count = pages if opts.dry_run else export(archive.every(), opts.warc, store=opts.store)
        except OSError as error:
            raise StorebotError(f"{opts.warc}: can't be written: {error}") from error
        finally:
            archive.close()
        said = f"{opts.warc}: {count} pages" + (" would be written" if opts.dry_run else "")
        _say(opts, {"file": str(opts.warc), "pages": count, "dry_run": opts.dry_run}, said)
        return ExitCode.COMPLETE

    def _path(self, opts: argparse.Namespace) -> Path:
        from storebot.archive import archive_path
        from storebot.archive.keeping import archive_folder

        assert self.settings is not None
        folder = archive_folder(self.settings)
        if folder is None:
            raise ArchiveUnusable(f"{opts.store}: STOREBOT_ARCHIVE is off, so no page was kept")
        return archive_path(folder, opts.store)

    def _store(self, opts: argparse.Namespace) -> Store:
        from storebot.stores import load_store

        assert self.settings is not None
        folders = [folder for folder in self.settings.get("STOREBOT_STORES").split(os.pathsep) if folder]
        return load_store(opts.store, folders)


def _say(opts: argparse.Namespace, about: dict[str, object], text: str) -> None:
    import orjson

    print(orjson.dumps(about).decode() if opts.json else text)


def _shown(found: Stats) -> str:
    rows = [
        ("pages", f"{found.pages}"),
        ("generations", f"{found.generations}, from {_when(found.first_ms)} to {_when(found.last_ms)}"),
        ("distinct bodies", f"{found.bodies}"),
        ("HTML", f"{found.html_bytes} bytes, of which distinct {found.distinct_bytes}"),
        ("packed", f"{found.packed_bytes} bytes, with {found.dictionaries} dictionaries"),
        ("file", f"{found.file_bytes} bytes: 1/{found.ratio:.0f} of the HTML"),
    ]
    return "\n".join(f"{name:>15}  {value}" for name, value in rows)


def _when(at_ms: int) -> str:
    return datetime.fromtimestamp(at_ms / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S")
