"""Runs every contender once a round, in an order that favours nobody, and keeps what each run cost."""

from __future__ import annotations

import shutil
import sqlite3
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from bench import measure
from bench.measure import RunFailed, Usage
from bench.roster import EMPTY, KNOWN_BLIND, Contender
from bench.shop import ROOT, Shop

# A run that takes longer hangs: ten times what the slowest script needs on a slow machine.
_START_S, _PAGE_S = 60.0, 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One run of one contender."""

    contender: str
    round: int
    pages: int
    cpu_s: float
    wall_s: float
    peak_rss_bytes: int


def order(contenders: Sequence[Contender], number: int) -> list[Contender]:
    """Return the order of one round: rotated by a third from round to round, and every other round backwards.

    Neighbours stay neighbours, so what is compared runs close together, and neither always goes first.
    """
    step = number * max(1, len(contenders) // 3) % len(contenders)
    turned = [*contenders[step:], *contenders[:step]]
    return turned[::-1] if number % 2 else turned


class Arena:
    """The shops, the lists of their pages, and databases in each state that a contender may start from."""

    def __init__(self, shops: Mapping[str, Shop], folder: Path) -> None:
        self.shops, self.folder = shops, folder
        for markup, shop in shops.items():
            (folder / f"{markup}.urls").write_text("\n".join(shop.urls), encoding="utf-8")

    def prepare(self, contender: Contender, backfill: Contender) -> None:
        """Make the database that a refresh starts from, by a backfill of the same pages, unless it's there."""
        template = self._template(contender)
        if contender.starts_from == EMPTY or template.exists():
            return
        known = self.folder / f"{contender.pages}.known.db"
        if not known.exists():
            self._run(backfill, known)
        with closing(sqlite3.connect(known)) as source, closing(sqlite3.connect(template)) as copy:
            source.backup(copy)
            blind = ", etag = null, last_modified = null" if contender.starts_from == KNOWN_BLIND else ""
            copy.execute(f"update pages set next_due_at = 0{blind}")
            copy.commit()

    def run(self, contender: Contender) -> Usage:
        """Run one contender on a database of its own. Raises RunFailed where it left a page out."""
        database = self.folder / "run.db"
        self._remove(database)
        if contender.starts_from != EMPTY:
            with (
                closing(sqlite3.connect(self._template(contender))) as source,
                closing(sqlite3.connect(database)) as copy,
            ):
                source.backup(copy)
        try:
            return self._run(contender, database)
        finally:
            self._remove(database)

    def _run(self, contender: Contender, database: Path) -> Usage:
        shop = self.shops[contender.pages]
        command = contender.command(
            base_url=shop.base_url, urls_file=self.folder / f"{contender.pages}.urls", database=database
        )
        usage = measure.run(
            command, env=contender.environment(database), cwd=ROOT, timeout_s=_START_S + len(shop.urls) * _PAGE_S
        )
        if left_out := contender.left_out(usage.summary, len(shop.urls)):
            raise RunFailed(f"{contender.name}: {left_out}")
        return usage

    def _template(self, contender: Contender) -> Path:
        return self.folder / f"{contender.pages}.{contender.starts_from}.template.db"

    def _remove(self, database: Path) -> None:
        for suffix in ("", "-wal", "-shm", "-journal"):
            database.with_name(database.name + suffix).unlink(missing_ok=True)
        shutil.rmtree(database.with_suffix(".pages"), ignore_errors=True)


def play(arena: Arena, contenders: Sequence[Contender], rounds: int, failures: dict[str, str]) -> Iterator[Sample]:
    """Yield a sample per contender and round. One that fails is told of, kept in ``failures`` and not run again."""
    for number in range(rounds):
        for contender in order(contenders, number):
            if contender.name in failures:
                continue
            try:
                usage = arena.run(contender)
            except RunFailed as error:
                failures[contender.name] = str(error)
                print(f"  {contender.name} FAILED and is left out: {error}", file=sys.stderr, flush=True)
                continue
            pages = len(arena.shops[contender.pages].urls)
            yield Sample(
                contender=contender.name,
                round=number,
                pages=pages,
                cpu_s=usage.cpu_s,
                wall_s=usage.wall_s,
                peak_rss_bytes=usage.peak_rss_bytes,
            )
