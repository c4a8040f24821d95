"""``python -m bench crawl``: CPU, speed and memory per page, beside other crawlers."""

from __future__ import annotations

import compileall
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path

from bench import report, table
from bench.contenders.common import CONCURRENCY
from bench.measure import RunFailed
from bench.roster import CONTENDERS, EMPTY, TARGETS, Contender
from bench.rounds import Arena, Sample, play
from bench.shop import ROOT, open_shop

_NOTES = """
CPU is user + system time of the whole process with all its threads, per product page; its start is in it (on a store
of one product it costs "start s"; "ms after start" is the rest, per page). A ratio is the median of the rounds' own
ratios, of the whole: both sides of it ran in the same round. storebot finds the pages itself (robots.txt, sitemap,
catalogue), under claims, in its full pipeline, and its refresh looks for new pages, too; the others are handed the
list. Every run is checked: one that left a page out isn't counted. "Fast mode" is `STOREBOT_FAST=1`.
"""


def crawl(*, pages: int, rounds: int, names: Sequence[str], write: bool) -> int:
    """Run the benchmark, print it, and return 0, or 1 where a contender failed or a promise was missed."""
    chosen = [contender for contender in CONTENDERS if not names or contender.name in names]
    absent = {each.name: f"{each.needs[0]} isn't installed" for each in chosen if not each.installed}
    for name, why in absent.items():
        say(f"{name}: skipped, {why}")
    running = [contender for contender in chosen if contender.name not in absent]
    failures: dict[str, str] = {}
    found = report.machine()
    # Everybody else's modules are compiled by their installation; ours aren't, where Python may write none of its own.
    for folder in ("storebot", "bench"):
        compileall.compile_dir(str(ROOT / folder), quiet=1)
    say("start-up: every contender on a store of one product")
    starts = [*_measure(running, pages=1, rounds=min(3, rounds), failures=failures)]
    samples = []
    began, total = time.monotonic(), rounds * len(running)
    for sample in _measure(running, pages=pages, rounds=rounds, failures=failures):
        samples.append(sample)
        _tell(sample, rounds, left_s=(time.monotonic() - began) / len(samples) * (total - len(samples)))
    absent |= {name: "it failed" for name in failures}
    head = f"{pages:,} product pages of 60–150 KB, {rounds} interleaved rounds, delay 0, concurrency {CONCURRENCY}"
    promises, kept = table.targets(samples, TARGETS)
    text = "\n\n".join(
        [
            "## CPU and memory per page",
            f"{head}, the demo store in another process.\n{report.facts(found)}.",
            table.results(samples, starts, chosen, absent),
            table.bars(samples, chosen),
            "### Promises",
            promises,
            _NOTES.strip(),
        ]
    )
    print(f"\n{text}\n")
    for name, why in failures.items():
        print(f"{name} FAILED: {why}", file=sys.stderr)
    if write and samples:
        runs = {"starts": [*map(asdict, starts)], "samples": [*map(asdict, samples)]}
        report.write("crawl", text, {"machine": found, "pages": pages, **runs})
        say("wrote docs/benchmarks.md and docs/benchmarks-crawl.json")
    return 0 if kept and not failures else 1


def say(text: str) -> None:
    """Print a line of progress, at once."""
    print(text, file=sys.stderr, flush=True)


def _measure(contenders: Sequence[Contender], *, pages: int, rounds: int, failures: dict[str, str]) -> Iterator[Sample]:
    """Open the stores that the contenders crawl, of so many products, and yield the samples of all rounds."""
    with tempfile.TemporaryDirectory(prefix="storebot-bench-") as folder, ExitStack() as stack:
        kinds = {each.pages for each in contenders}
        arena = Arena({kind: stack.enter_context(open_shop(kind, pages)) for kind in kinds}, Path(folder))
        _prepare(arena, contenders, failures)
        yield from play(arena, contenders, rounds, failures)


def _prepare(arena: Arena, contenders: Sequence[Contender], failures: dict[str, str]) -> None:
    """Make the databases that refreshes start from; where that fails, none of them can run."""
    backfill = next(each for each in CONTENDERS if each.name == "backfill")
    waiting = [each for each in contenders if each.starts_from != EMPTY and each.name not in failures]
    try:
        for contender in waiting:
            arena.prepare(contender, backfill)
    except RunFailed as error:
        say(f"  no refresh can be measured, the backfill that they start from failed: {error}")
        failures |= {each.name: f"the backfill that it starts from failed: {error}" for each in waiting}


def _tell(sample: Sample, rounds: int, left_s: float) -> None:
    say(
        f"[round {sample.round + 1}/{rounds}] {sample.contender:<14} {sample.cpu_s * 1000 / sample.pages:5.2f} ms/page"
        f" {sample.pages / sample.wall_s:6.0f} pages/s {sample.peak_rss_bytes / 2**20:5.0f} MB,"
        f" about {left_s / 60:.0f} min left"
    )
