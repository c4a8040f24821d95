"""``make demo``: a store backfilled, then refreshed three times, with only the changed rows rewritten."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from storebot.demo.running import DemoProcess

PRODUCTS = 500
CHANGES = (11, 4, 9)  # products that change before each refresh
DATABASE = Path("var/demo.db")
ARCHIVE = Path("var/demo.pages")


def main() -> int:
    """Run the tour; return 0 only if the numbers are those that were promised."""
    for path in DATABASE.parent.glob(f"{DATABASE.name}*"):
        path.unlink()
    shutil.rmtree(ARCHIVE, ignore_errors=True)
    started = time.monotonic()
    with DemoProcess(products=PRODUCTS) as shop:
        print(f"A demo store with {PRODUCTS} products is open at {shop.url}\n")
        print("1. Backfill: walk the whole store once.")
        _crawl("backfill", shop.url)
        for number, count in enumerate(CHANGES, start=2):
            shop.advance(changed=count)
            print(f"\n{number}. A day passes, {count} products change. Refresh: write only what changed.")
            _crawl("refresh", shop.url)
    print("\nWhat the four runs did (scrapy report), and what a script that fetches and rewrites everything would:\n")
    _scrapy("report", "--store", "demo", "--last", str(1 + len(CHANGES)))
    wrong = _broken_promises(_runs())
    for line in wrong:
        print(f"NOT AS PROMISED: {line}")
    if not wrong:
        print(f"\nAll of it took {time.monotonic() - started:.0f} s. The data is in {DATABASE}, one row a listing:")
        print(f"  sqlite3 {DATABASE} 'select name, price_minor, currency, availability from listings limit 5'")
        print("\nNext, your own store: .venv/bin/scrapy probe https://YOUR-SHOP --name NAME writes its file.")
        print("docs/adding-a-store.md takes you there in ten minutes.")
    return 1 if wrong else 0


def _crawl(phase: str, url: str) -> None:
    _scrapy("crawl", phase, "-a", "store=demo", "-a", f"base_url={url}", "-L", "WARNING")


def _scrapy(*args: str) -> None:
    print(f"   $ scrapy {' '.join(args)}")
    code = subprocess.run([sys.executable, "-m", "scrapy", *args], env=_environment(), check=False).returncode
    if code:
        raise SystemExit(f"scrapy {args[0]} exited with {code}")


def _runs() -> list[dict[str, Any]]:
    command = [sys.executable, "-m", "scrapy", "report", "--store", "demo", "--json"]
    done = subprocess.run(command, env=_environment(), check=True, capture_output=True, text=True)
    told = [json.loads(line) for line in done.stdout.splitlines()]
    return list(reversed([one for one in told if "outcomes" in one]))  # and not what is known of the store as a whole


def _environment() -> dict[str, str]:
    return {**os.environ, "STOREBOT_DATABASE_URL": f"sqlite:///{DATABASE}", "STOREBOT_ARCHIVE": str(ARCHIVE)}


def _broken_promises(runs: list[dict[str, Any]]) -> list[str]:
    """Say where the runs differ from what the tour promises."""
    expected = [(PRODUCTS, 0), *((count, count) for count in CHANGES)]
    wrong = []
    for run, (pages, changes) in zip(runs, expected, strict=True):
        fetched = sum(run["outcomes"].values()) - run["outcomes"].get("not_modified", 0)
        if (fetched, run["change_events"]) != (pages, changes) or (changes and run["rows_written"] != changes):
            wrong.append(
                f"run {run['id']} fetched {fetched} pages, rewrote {run['rows_written']} rows and announced "
                f"{run['change_events']} changes; expected {pages} pages and {changes} changes"
            )
    return wrong


if __name__ == "__main__":
    sys.exit(main())
