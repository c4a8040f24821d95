"""``python -m bench browser``: a backfill by the browser tier whose browser is killed again and again.

Every page has to be done, and the memory of crawler, driver and browser together has to stay flat.
"""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

from bench import report, table
from bench.crawl import say
from bench.shop import ROOT
from storebot.demo.running import DemoProcess

_POLL_S = 0.5
_MB = 1024 * 1024
# The first tenth fills caches and pools; more than this over the rest of the first half isn't noise.
_SETTLED, _FLAT = 0.1, 1.15
_STORE = """base_url = "{url}"
product_url = "/p/"
[fetch]
tiers = ["browser"]
[fetch.browser]
wait_for = [".price"]
concurrency = {concurrency}
recycle_pages = {recycle_pages}
[politeness]
delay_s = 0
concurrency = {concurrency}
[discover]
catalogue = false
"""


@dataclass(frozen=True, slots=True)
class Sample:
    """What the processes of a crawl held at one moment, by kind, shared pages divided among those that share them."""

    at_s: float
    pages: int  # that are done
    crawler_mb: float
    driver_mb: float
    browser_mb: float

    @property
    def total_mb(self) -> float:
        """All of it."""
        return self.crawler_mb + self.driver_mb + self.browser_mb


@dataclass(slots=True)
class Survival:
    """What became of a crawl whose browser was killed."""

    pages: int
    exit_code: int = 0
    wall_s: float = 0.0
    kills: list[int] = field(default_factory=list)  # pages that were done at each
    samples: list[Sample] = field(default_factory=list)
    outcomes: dict[str, int] = field(default_factory=dict)
    summary: dict[str, Any] = field(default_factory=dict)
    left_over: int = 0  # processes that outlived the crawl
    log: str = ""

    @property
    def is_flat(self) -> bool:
        """Whether the second half of the crawl held no more than the first."""
        early, late = self.peaks
        return late <= early * _FLAT

    @property
    def peaks(self) -> tuple[float, float]:
        """The most that both halves held, in MB, without the start."""
        start, middle = self.pages * _SETTLED, self.pages / 2
        early = [each.total_mb for each in self.samples if start <= each.pages < middle]
        late = [each.total_mb for each in self.samples if each.pages >= middle]
        return max(early, default=0.0), max(late, default=0.0)


def survive(*, pages: int, kills: int, concurrency: int = 2, recycle_pages: int = 200) -> Survival:
    """Backfill a demo store of pages that need JavaScript, and kill the browser at ``kills`` even steps."""
    found = Survival(pages)
    steps = [pages * number // (kills + 1) for number in range(1, kills + 1)]
    with (
        tempfile.TemporaryDirectory(prefix="storebot-bench-") as name,
        DemoProcess(products=pages, variant_share=0, guard="needs_javascript") as shop,
    ):
        folder = Path(name)
        (folder / "shop").mkdir()
        text = _STORE.format(url=shop.url, concurrency=concurrency, recycle_pages=recycle_pages)
        (folder / "shop" / "store.toml").write_text(text, encoding="utf-8")
        database = folder / "run.db"
        with (folder / "out").open("wb") as out, (folder / "log").open("wb") as log:
            started = time.monotonic()
            crawl = subprocess.Popen(_command(), cwd=ROOT, env=_environment(folder), stdout=out, stderr=log)
            while crawl.poll() is None:
                time.sleep(_POLL_S)
                tree = _descendants(crawl.pid)
                done = _done(database)
                sample = _sample(crawl.pid, tree, time.monotonic() - started, done)
                if sample.crawler_mb:  # else it has just ended
                    found.samples.append(sample)
                if steps and done >= steps[0] and (browsers := [each for each in tree if _is_main(each)]):
                    for browser in browsers:
                        browser.kill()
                    found.kills.append(done)
                    del steps[0]
            found.wall_s, found.exit_code = time.monotonic() - started, crawl.returncode
        found.left_over = len(psutil.wait_procs(tree, timeout=5)[1])
        found.outcomes = _outcomes(database)
        lines = (folder / "out").read_text(encoding="utf-8").splitlines()
        found.summary = next((json.loads(line) for line in reversed(lines) if line.startswith("{")), {})
        found.log = (folder / "log").read_text(encoding="utf-8")
    return found


def browser(*, pages: int, kills: int, write: bool) -> int:
    """Run it once, print what was held over time, and return 1 where a page is missing or memory grew."""
    say(f"browser: backfill of {pages:,} pages that need JavaScript, its browser killed {kills} times")
    found = survive(pages=pages, kills=kills)
    early, late = found.peaks
    good = _seen(found.outcomes)
    checks: Sequence[tuple[str, str, bool]] = (
        ("pages done", f"{good:,} of {pages:,}", good == pages and found.exit_code == 0),
        (
            "browser killed",
            f"{len(found.kills)} times, at {', '.join(map(str, found.kills))}",
            len(found.kills) == kills,
        ),
        ("memory, first half (after the first tenth)", f"{early:.0f} MB", True),
        ("memory, second half", f"{late:.0f} MB", found.is_flat),
        ("processes left over", str(found.left_over), found.left_over == 0),
    )
    text = "\n\n".join(
        [
            "## Pages that need a browser",
            f"One `storebot backfill` of {pages:,} pages by the tier `browser`, 2 at once, a new browser every 200 "
            f"pages; {found.wall_s / pages:.2f} s a page. Memory is that of the crawler, the driver and the browser "
            f"together (PSS), and must not grow by more than {_FLAT - 1:.0%}.\n{report.facts(report.machine())}.",
            table.markdown(["", "measured", ""], [[name, said, "ok" if ok else "MISSED"] for name, said, ok in checks]),
            table.markdown(
                ["pages done", "crawler MB", "driver MB", "browser MB", "together MB"], [*map(_row, _steps(found, 10))]
            ),
        ]
    )
    print(f"\n{text}\n")
    if write:
        raw = {
            "machine": report.machine(),
            "kills": found.kills,
            "samples": [[*map(float, _row_of(each))] for each in _steps(found, 100)],
        }
        report.write("browser", text, raw)
        say("wrote docs/benchmarks.md and docs/benchmarks-browser.json")
    return int(not all(ok for *_, ok in checks))


def _command() -> list[str]:
    return [sys.executable, "-m", "scrapy", "crawl", "backfill", "-a", "store=shop", "-s", "STOREBOT_COMMIT_S=0.5"]


def _environment(folder: Path) -> dict[str, str]:
    own = {
        "STOREBOT_STORES": str(folder),
        "STOREBOT_DATABASE_URL": f"sqlite:///{folder / 'run.db'}",
        "STOREBOT_ARCHIVE": "off",
        "STOREBOT_FAILED_PAGES": "",
        "STOREBOT_SUMMARY": "json",
        "STOREBOT_PROGRESS": "off",
    }
    return {**os.environ, **own}


def _descendants(pid: int) -> list[psutil.Process]:
    try:
        return psutil.Process(pid).children(recursive=True)
    except psutil.Error:
        return []


def _is_main(process: psutil.Process) -> bool:
    """Whether a process is a browser itself, not one that it started for a page."""
    try:
        command = process.cmdline()
        return "chrom" in "".join(command[:1]) and not any(each.startswith("--type=") for each in command)
    except psutil.Error:
        return False


def _sample(pid: int, tree: list[psutil.Process], at_s: float, pages: int) -> Sample:
    driver = [each for each in tree if _named(each, "node")]
    others = [each for each in tree if each not in driver]
    return Sample(at_s, pages, _held([psutil.Process(pid)]), _held(driver), _held(others))


def _named(process: psutil.Process, name: str) -> bool:
    try:
        return name in process.name()
    except psutil.Error:
        return False


def _held(processes: list[psutil.Process]) -> float:
    total = 0.0
    for process in processes:
        try:
            held = process.memory_full_info()
        except psutil.Error:
            continue  # it ended meanwhile
        total += getattr(held, "pss", held.rss) / _MB
    return total


def _done(database: Path) -> int:
    return sum(_outcomes(database).values())


def _outcomes(database: Path) -> dict[str, int]:
    """Return how many visits had which outcome, so far."""
    try:
        with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True, timeout=5)) as conn:
            return dict(conn.execute("select outcome, count(*) from visits group by 1").fetchall())
    except sqlite3.OperationalError:
        return {}  # not there yet


def _seen(outcomes: dict[str, int]) -> int:
    return sum(outcomes.get(name, 0) for name in ("new", "changed", "unchanged"))


def _steps(found: Survival, count: int) -> list[Sample]:
    """Return the first sample at or after each of ``count`` even steps, and the last one."""
    marks = [found.pages * number / count for number in range(count)]
    firsts = [next((each for each in found.samples if each.pages >= mark), None) for mark in marks]
    return list(dict.fromkeys(each for each in (*firsts, found.samples[-1]) if each is not None))


def _row_of(sample: Sample) -> tuple[float, ...]:
    return sample.pages, sample.crawler_mb, sample.driver_mb, sample.browser_mb, sample.total_mb


def _row(sample: Sample) -> list[str]:
    return [f"{value:,.0f}" for value in _row_of(sample)]
