"""``python -m bench month``: thirty days of a demo store, refreshed by a plan, by a sweep a day, and round-robin."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from bench import report, table
from bench.crawl import say
from bench.freshness.shop import DAY_H, HOT, Sizes, What, make
from bench.month.arms import Arm, arm, backfilled, round_robin
from bench.month.events import play, script
from storebot.demo.running import DemoProcess

SEED = 14  # neither tuned with nor reported by the simulation
SHARE = 0.1  # of the products a day
RUNS_A_DAY = 4
MONTH = replace(
    HOT, products=5_000, days=30, births_a_day=15, deaths_a_day=12, site_sales=0, lastmod_false_a_day=0.0, listed=1.0
)
QUICK_MONTH = replace(MONTH, products=500, days=4, births_a_day=2, deaths_a_day=2)
FROZEN = r"[0-3]$"  # entries of these products never move: lastmod tells of six changes in ten
_MB = 1024 * 1024
_AFTER = "freshness"  # the section of the docs that this one follows


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What is promised of the planned refreshes."""

    requests: float = 1.0  # times the budget: nothing above it
    of_sweep: float = 0.9  # share of what a full sweep a day catches
    of_robin: float = 4.0  # times what round-robin catches at the same budget


def month(*, sizes: Sizes, write: bool) -> int:
    """Let the days pass, print the table, and return 1 where a promise was missed."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="storebot-bench-") as folder:
        ways = live(sizes, SEED, Path(folder))
    promises = _promises(ways, sizes)
    text = _text(ways, sizes, promises)
    print(f"\n{text}\n")
    say(f"month: {time.monotonic() - began:.0f} s")
    if write:
        raw = {"machine": report.machine(), "seed": SEED, "ways": [_raw(way) for way in ways]}
        report.write("month", text, raw, after=_AFTER)
        say("wrote docs/benchmarks.md and docs/benchmarks-month.json")
    return int(any(not kept for _, kept in promises))


def live(sizes: Sizes, seed: int, folder: Path) -> list[Arm]:
    """Return what came of each way to refresh the same shop."""
    happens = script(make(seed, sizes))
    per_day = round(sizes.products * SHARE)
    with DemoProcess(products=sizes.products, page_size=48, sitemap_size=50_000, variant_share=0.0) as shop:
        shop.lie("frozen_lastmod", "^/sitemaps/", entries=FROZEN)
        read = backfilled(shop, folder)
        ways = [
            arm(shop, read, "planned", f"budget = {per_day}\n", DAY_H // RUNS_A_DAY),
            arm(shop, read, "full sweep a day", "", DAY_H, {"plan": "full"}),
            round_robin(shop, read, round(1 / SHARE), DAY_H),
        ]
        for hour in range(1, happens.hours):
            changes = play(shop, happens.by_hour.get(hour, ()))
            now_s = int(shop.status()["now_s"]) if changes else 0
            for way in ways:
                for change in changes:
                    way.judge.happened(change, now_s)
            for way in ways:
                if hour % way.every_h == 0 and hour >= DAY_H:  # by then a day's budget has come in
                    way.refresh()
            if hour % DAY_H == 0:
                told = ", ".join(f"{way.name} {way.judge.caught_share:.0%} for {way.requests:,}" for way in ways)
                say(f"month: day {hour // DAY_H}: {told}")
    for way in ways:
        way.judge.end()
    return ways


def _promises(ways: Sequence[Arm], sizes: Sizes) -> list[tuple[str, bool]]:
    planned, sweep, robin = ways
    limits, budget = Limits(), round(sizes.products * SHARE) * sizes.days
    of_sweep = planned.judge.caught_share / max(sweep.judge.caught_share, 1e-9)
    of_robin = planned.judge.caught_share / max(robin.judge.caught_share, 1e-9)
    return [
        (f"requests: {planned.requests:,} of {budget:,} (not above)", planned.requests <= budget * limits.requests),
        (f"of the sweep's catch: {of_sweep:.0%} (at least {limits.of_sweep:.0%})", of_sweep >= limits.of_sweep),
        (f"times round-robin's: {of_robin:.1f} (at least {limits.of_robin:.0f})", of_robin >= limits.of_robin),
    ]


def _text(ways: Sequence[Arm], sizes: Sizes, promises: Sequence[tuple[str, bool]]) -> str:
    rows = []
    for way in ways:
        judge = way.judge
        price = What.PRICE
        rows.append(
            [
                way.name,
                f"{judge.caught_share:.1%}",
                f"{judge.caught[price] / max(judge.events[price], 1):.1%}",
                f"{judge.missed[price] / max(judge.events[price], 1):.1%}",
                f"{way.requests:,}",
                f"{way.size_bytes / _MB:,.0f}",
                f"{way.requests / max(judge.caught.total(), 1):.2f}",
            ]
        )
    head = ["", "caught in 24 h", "price caught", "price missed", "requests", "MB", "requests a catch"]
    kept = "\n".join(f"- {'kept' if is_kept else '**missed**'}: {what}" for what, is_kept in promises)
    events = ways[0].judge.events.total()
    return f"""## A month over HTTP

`python -m bench month`: the demo store with {sizes.products:,} products over {sizes.days} days, real crawls by `scrapy
crawl refresh` over HTTP. What changes when is that of the simulated shop above (seed {SEED}, {events:,} changes);
lastmod tells of those of six products in ten. Planned: {SHARE:.0%} of the products a day, in {RUNS_A_DAY} runs. Each
way has a database of its own, whose clock is the shop's. Requests are what the shop counted, with sitemaps and lists.

{table.markdown(head, rows)}

{kept}
"""


def _raw(way: Arm) -> dict[str, object]:
    judge = way.judge
    counts = {"events": judge.events, "caught": judge.caught, "missed": judge.missed}
    named = {name: {what.name: count for what, count in counter.items()} for name, counter in counts.items()}
    return {"way": way.name, "requests": [one.requests for one in way.spent], "bytes": way.size_bytes, **named}
