"""``python -m bench WHAT``: crawl, extraction, archive, memory, browser, freshness, all. Exit code 1 where a promise is missed."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from bench.archive import archive
from bench.browser import browser
from bench.crawl import crawl
from bench.extraction import extraction
from bench.freshness.measure import SEEDS, freshness
from bench.memory import memory
from bench.roster import CONTENDERS, REFERENCE

QUICK_PAGES, QUICK_ROUNDS = 500, 3


def main(argv: Sequence[str] | None = None) -> int:
    """Parse the options and run what they ask for."""
    options = _parser().parse_args(argv)
    code = 0
    if options.what in ("crawl", "all"):
        pages = options.pages or (QUICK_PAGES if options.quick else 5000)
        rounds = options.rounds or (QUICK_ROUNDS if options.quick else 7)
        names = [*options.only, REFERENCE] if options.only else []
        write = options.write or not (options.dry_run or options.quick or options.only)
        code |= crawl(pages=pages, rounds=rounds, names=names, write=write)
    if options.what in ("extraction", "all"):
        rounds = options.rounds or (QUICK_ROUNDS if options.quick else 7)
        code |= extraction(rounds=rounds, write=not (options.dry_run or options.quick))
    if options.what in ("archive", "all"):
        pages = options.pages or (QUICK_PAGES if options.quick else 3000)
        rounds = options.rounds or (1 if options.quick else 3)
        code |= archive(pages=pages, rounds=rounds, write=not (options.dry_run or options.quick))
    if options.what in ("memory", "all"):
        sizes = options.sizes or ([200, 2_000] if options.quick else [5_000, 100_000])
        code |= memory(sizes=sizes, write=not (options.dry_run or options.quick or options.sizes))
    if options.what == "browser":  # not of `all`: it needs a Chromium
        pages = options.pages or (60 if options.quick else 2000)
        code |= browser(pages=pages, kills=3, write=not (options.dry_run or options.quick or options.pages))
    if options.what in ("freshness", "all"):
        seeds = SEEDS[:1] if options.quick else SEEDS
        code |= freshness(seeds=seeds, write=not (options.dry_run or options.quick))
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("what", choices=("crawl", "extraction", "archive", "memory", "browser", "freshness", "all"))
    parser.add_argument("--pages", type=int, help="product pages (5,000; browser 2,000)")
    parser.add_argument("--rounds", type=int, help="interleaved rounds (7)")
    names = ", ".join(each.name for each in CONTENDERS)
    parser.add_argument(
        "--only",
        nargs="+",
        default=[],
        metavar="NAME",
        choices=[each.name for each in CONTENDERS],
        help=f"these, and {REFERENCE}; of {names}",
    )
    parser.add_argument("--sizes", type=int, nargs="+", help="memory: sizes of the store (5,000 and 100,000)")
    parser.add_argument(
        "--quick", action="store_true", help="500 pages, 3 rounds: for a look, never written to the docs"
    )
    parser.add_argument(
        "--write", action="store_true", help="write what --only measured to the docs, in place of the whole table"
    )
    parser.add_argument("--dry-run", action="store_true", help="print only; docs/benchmarks.md is left as it is")
    return parser


if __name__ == "__main__":
    sys.exit(main())
