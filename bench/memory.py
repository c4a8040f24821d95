"""``python -m bench memory``: the peak of a backfill at two sizes of the same store, which has to stay flat."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

from bench import report, table
from bench.crawl import say
from bench.roster import CONTENDERS, PEAK_RSS_LIMIT_MB
from bench.rounds import Arena
from bench.shop import open_shop

# More than this over the smallest store isn't noise: between two runs of one size the peak moves by a few MB.
_FLAT = 1.10
_MB = 1024 * 1024


def memory(*, sizes: Sequence[int], write: bool) -> int:
    """Backfill a store of each size once, print the peaks, and return 1 where a limit was missed."""
    backfill = next(each for each in CONTENDERS if each.name == "backfill")
    found, peaks = report.machine(), {}
    for pages in sorted(sizes):
        say(f"memory: backfill of {pages:,} pages")
        with (
            tempfile.TemporaryDirectory(prefix="storebot-bench-") as folder,
            open_shop(backfill.pages, pages) as shop,
        ):
            usage = Arena({backfill.pages: shop}, Path(folder)).run(backfill)
        peaks[pages] = usage.peak_rss_bytes / _MB
        say(f"memory: {peaks[pages]:.0f} MB, {usage.cpu_s * 1000 / pages:.2f} ms/page, {usage.wall_s:.0f} s")
    limit = min(PEAK_RSS_LIMIT_MB, peaks[min(peaks)] * _FLAT)
    rows = [[f"{pages:,}", f"{peak:.0f}", "ok" if peak <= limit else "MISSED"] for pages, peak in peaks.items()]
    text = "\n\n".join(
        [
            "## Memory and the size of the store",
            f"Peak resident memory of one `storebot backfill`. Limit: {limit:.0f} MB (at most {PEAK_RSS_LIMIT_MB} MB,"
            f" and at most {_FLAT:.2f} × the smallest store).\n{report.facts(found)}.",
            table.markdown(["product pages", "peak MB", ""], rows),
        ]
    )
    print(f"\n{text}\n")
    if write:
        report.write("memory", text, {"machine": found, "peaks_mb": peaks})
        say("wrote docs/benchmarks.md and docs/benchmarks-memory.json")
    return int(any(peak > limit for peak in peaks.values()))
