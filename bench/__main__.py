"""``python -m bench WHAT``: one of `WHAT` below. Exit code 1 where a promise is missed."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from bench.api import LISTINGS as API_LISTINGS
from bench.api import QUICK as API_QUICK
from bench.api import api
from bench.archive import archive
from bench.browser import browser
from bench.crawl import crawl
from bench.dashboard import QUICK as DASHBOARD_QUICK
from bench.dashboard import ROWS as DASHBOARD
from bench.dashboard import dashboard
from bench.exports.measure import FULL as EXPORTS
from bench.exports.measure import QUICK as EXPORTS_QUICK
from bench.exports.measure import exports
from bench.extraction import extraction
from bench.freshness.measure import SEEDS, freshness
from bench.job_claims import claims
from bench.memory import memory
from bench.month.measure import MONTH, QUICK_MONTH, month
from bench.planning.measure import FULL, QUICK, planning
from bench.roster import CONTENDERS, REFERENCE
from bench.webhooks import CHANGES as WEBHOOKS
from bench.webhooks import QUICK as WEBHOOKS_QUICK
from bench.webhooks import webhooks

QUICK_PAGES, QUICK_ROUNDS = 500, 3
WHAT = (
    "crawl",
    "extraction",
    "archive",
    "memory",
    "browser",
    "freshness",
    "month",
    "planning",
    "exports",
    "webhooks",
    "api",
    "dashboard",
    "jobs",
    "all",
)


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
    if options.what in ("month", "all"):
        lasts = QUICK_MONTH if options.quick else MONTH
        code |= month(sizes=lasts, write=not (options.dry_run or options.quick))
    if options.what in ("planning", "all"):
        pages = options.pages or (QUICK if options.quick else FULL)
        code |= planning(pages=pages, write=not (options.dry_run or options.quick or options.pages))
    if options.what in ("exports", "all"):
        rows = options.pages or (EXPORTS_QUICK if options.quick else EXPORTS)
        code |= exports(rows=rows, write=not (options.dry_run or options.quick or options.pages))
    if options.what in ("webhooks", "all"):
        count = options.pages or (WEBHOOKS_QUICK if options.quick else WEBHOOKS)
        rounds = options.rounds or (1 if options.quick else 5)
        code |= webhooks(count=count, rounds=rounds, write=not (options.dry_run or options.quick or options.pages))
    if options.what in ("api", "all"):
        rows = options.pages or (API_QUICK if options.quick else API_LISTINGS)
        rounds = options.rounds or (1 if options.quick else 5)
        code |= api(rows=rows, rounds=rounds, write=not (options.dry_run or options.quick or options.pages))
    if options.what in ("dashboard", "all"):
        rows = options.pages or (DASHBOARD_QUICK if options.quick else DASHBOARD)
        code |= dashboard(rows=rows, write=not (options.dry_run or options.quick or options.pages))
    if options.what == "jobs":  # not of `all`: it proves, and measures nothing
        code |= claims(seconds=5 if options.quick else 60, urls=options.databases)
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("what", choices=WHAT)
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
        "--databases", nargs="+", default=[], metavar="URL", help="jobs: empty databases to claim in (a SQLite file)"
    )
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
