"""``scrapy reparse``: a store's records read again from its kept pages, by the rules of today, without a network."""

from __future__ import annotations

import argparse
import os
import sys
from contextlib import ExitStack
from typing import TYPE_CHECKING

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from storebot.core.moments import moment_ms
from storebot.exceptions import ArchiveUnusable, ConfigurationError, ExitCode, StorebotError

if TYPE_CHECKING:
    from storebot.core.summary import Summary
    from storebot.reparse.reparse import Reparse
    from storebot.stores.model import Store


class Command(ScrapyCommand):
    """Read kept pages again. The last line and the exit codes are those of a crawl."""

    requires_project = True
    requires_crawler_process = False
    default_settings = {"LOG_ENABLED": False}  # noqa: RUF012 - declared so by Scrapy

    def syntax(self) -> str:
        return '--store NAME [--since TIME] [--dry-run] [--accept "WHO: WHY"] [--announce] [--workers N] [--json]'

    def short_desc(self) -> str:
        return "Correct a store's records from its kept pages, after a change of its rules"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--store", required=True, help="whose pages")
        parser.add_argument("--since", metavar="TIME", help="only pages fetched since 2026-11-30[T08:00], UTC")
        parser.add_argument("--dry-run", action="store_true", help="show what would differ, and write nothing")
        parser.add_argument(
            "--accept", metavar="'WHO: WHY'", help="publish what the write gate holds; kept with the run"
        )
        parser.add_argument("--announce", action="store_true", help="make a change event of each correction")
        parser.add_argument("--workers", type=int, default=_cores(), metavar="N", help="processes that parse")
        parser.add_argument("--json", action="store_true", help="print what differs, and the last line, as JSON")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        if args or opts.workers < 1:
            raise UsageError("only options, and at least one process")
        try:
            self.exitcode = int(self._reparse(opts))
        except StorebotError as error:
            print(error, file=sys.stderr)
            self.exitcode = int(error.exit_code)
        except KeyboardInterrupt:  # a second Ctrl-C, or one where nothing is written
            self.exitcode = int(ExitCode.SIGINT)

    def _reparse(self, opts: argparse.Namespace) -> ExitCode:
        from storebot.archive import archive_path
        from storebot.archive.keeping import archive_folder
        from storebot.db.addresses import database_url
        from storebot.db.database import Database
        from storebot.reparse.offline import offline
        from storebot.reparse.reparse import Reparse
        from storebot.reparse.workers import Workers

        assert self.settings is not None
        since_ms = moment_ms("--since", opts.since) if opts.since is not None else 0
        accepted = _accepted(opts.accept)
        url = self.settings.get("STOREBOT_DATABASE_URL")
        with ExitStack() as stack:
            # A database server is on the network, and then only this process may reach it: it parses nothing.
            if database_url(url).get_backend_name() == "sqlite":
                stack.enter_context(offline())
            store = self._store(opts.store)
            folder = archive_folder(self.settings)
            if folder is None:
                raise ArchiveUnusable(f"{store.name}: STOREBOT_ARCHIVE is off, so no page was kept")
            workers = stack.enter_context(Workers(store, archive_path(folder, store.name), opts.workers))
            database = Database.open(url, create=False)
            stack.callback(database.dispose)
            with _Progress(store.name) as progress:
                reparse = Reparse(
                    database=database,
                    store=store,
                    workers=workers,
                    lease_s=self.settings.getint("STOREBOT_LEASE_S"),
                    since_ms=since_ms,
                    dry_run=opts.dry_run,
                    announce=opts.announce,
                    accepted=accepted,
                    shown=progress.show,
                )
                summary = reparse.run()
            return _print(reparse, summary, as_json=opts.json or self.settings.get("STOREBOT_SUMMARY") == "json")

    def _store(self, name: str) -> Store:
        from storebot.reparse.offline import offline
        from storebot.stores import load_store

        assert self.settings is not None
        folders = [folder for folder in self.settings.get("STOREBOT_STORES").split(os.pathsep) if folder]
        with offline():
            return load_store(name, folders)


class _Progress:
    """A bar on a terminal."""

    def __init__(self, store: str) -> None:
        from tqdm import tqdm

        self._bar = tqdm(unit="page", desc=f"reparse {store}", file=sys.stderr, dynamic_ncols=True, disable=None)

    def __enter__(self) -> _Progress:
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.close()

    def show(self, done: int, total: int) -> None:
        self._bar.total = total
        self._bar.update(done - self._bar.n)


def _accepted(text: str | None) -> str:
    """Return who answers for what the write gate would hold, and why; "" for nobody. Raises ConfigurationError."""
    who, _, why = (text or "").partition(":")
    if text is not None and not (who.strip() and why.strip()):
        raise ConfigurationError(
            f'--accept {text!r}: expected who and why, such as --accept "Ann: the prices were net"'
        )
    return text or ""


def _cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _print(reparse: Reparse, summary: Summary, *, as_json: bool) -> ExitCode:
    import orjson

    found = reparse.found
    if as_json:
        gate = {"tripped": [one._asdict() for one in reparse.tripped], "accepted": reparse.accepted}
        print(orjson.dumps({"dry_run": reparse.dry_run, **found.as_json(), "gate": gate}).decode())
    else:
        for line in [*found.lines(), *_gate_lines(reparse)]:
            print(line)
    print(summary.line())
    if as_json:
        print(summary.json_line())
    return summary.exit_code


def _gate_lines(reparse: Reparse) -> list[str]:
    """Return what the write gate says, where it holds something or is only asked, and what to do then."""
    from storebot.reparse.differences import gate_lines

    dry = "Nothing was written (--dry-run)"
    if not reparse.tripped:
        return [f"{dry}; the write gate would let it through."] if reparse.dry_run and reparse.verdict else []
    said = gate_lines(reparse.tripped)
    if reparse.accepted:
        would = f"{dry}; the write gate says no, but it would be published" if reparse.dry_run else "Published"
        return [*said, f"{would}: accepted by {reparse.accepted}"]
    return [
        *said,
        f"{dry}; the write gate would hold it." if reparse.dry_run else "The write gate holds it: nothing was written.",
        "Mend the rules and run it again. If this is what the kept pages say, and what is published was wrong: "
        f'scrapy reparse --store {reparse.store.name} --accept "WHO: WHY"',
    ]
