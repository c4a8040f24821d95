"""``python -m bench planning``: what planning a refresh costs in a large store, beside weighing pages one by one."""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

from bench import report, table
from bench.crawl import say
from bench.measure import Usage, run
from bench.shop import ROOT

SHARE = 0.1  # of the pages: the budget
FULL, QUICK = 1_000_000, 50_000
_SMALLER = 20  # times: beside it, what a claim and a visit cost in a store of such a size
_MOST_S, _MOST_MB = 10.0, 600.0  # promised of a million pages: "in seconds", and in what a small machine has
_MB = 1024 * 1024


def planning(*, pages: int, write: bool) -> int:
    """Measure each step on a store of so many pages; print the table; return 1 where a promise was missed."""
    budget = round(pages * SHARE)
    with tempfile.TemporaryDirectory(prefix="storebot-bench-") as folder:
        large, small = Path(folder) / "large.db", Path(folder) / "small.db"
        for path, count in ((large, pages), (small, max(pages // _SMALLER, 5_000))):
            say(f"planning: making a store of {count:,} pages")
            _step("make", path, count)
        plan, naive, ordered = (_step(what, large, budget) for what in ("plan", "naive", "ordered"))
        visit = _step("visit", _copy(large), budget)
        visit_small = _step("visit", _copy(small), max(pages // _SMALLER, 5_000))
    promises = _promises(plan, naive, visit, visit_small)
    text = _text(pages, budget, [plan, naive, ordered], [visit_small, visit], promises)
    print(f"\n{text}\n")
    if write:
        steps = {"plan": plan, "naive": naive, "ordered": ordered, "visit": visit, "visit_small": visit_small}
        raw = {name: {**usage.summary, "peak_mb": usage.peak_rss_bytes / _MB} for name, usage in steps.items()}
        report.write("planning", text, {"machine": report.machine(), "pages": pages, "budget": budget, "steps": raw})
        say("wrote docs/benchmarks.md and docs/benchmarks-planning.json")
    return int(any(not kept for _, kept in promises))


def _step(what: str, database: Path, budget: int) -> Usage:
    usage = run([sys.executable, "-m", "bench.planning.steps", what, str(database), str(budget)], env={}, cwd=ROOT)
    say(f"planning: {what}: {usage.cpu_s:.1f} s of CPU, {usage.peak_rss_bytes / _MB:.0f} MB")
    return usage


def _copy(database: Path) -> Path:
    """Return a copy that may be written to."""
    return Path(shutil.copyfile(database, database.with_suffix(".copy.db")))


def _promises(plan: Usage, naive: Usage, visit: Usage, small: Usage) -> list[tuple[str, bool]]:
    whole, peak = plan.summary["whole"], plan.peak_rss_bytes / _MB
    times = (visit.summary["claim"] + visit.summary["save"]) / (small.summary["claim"] + small.summary["save"])
    return [
        (f"a plan takes {whole:.1f} s of CPU (at most {_MOST_S:.0f})", whole <= _MOST_S),
        (f"and {peak:.0f} MB at its peak (at most {_MOST_MB:.0f})", peak <= _MOST_MB),
        (f"a visit writes {visit.summary['updates']:.0f} update of its page (1)", visit.summary["updates"] == 1),
        (f"claim and visit take {times:.1f} × what they do in a store of a {_SMALLER}th (at most 3)", times <= 3),
    ]


def _text(pages: int, budget: int, plans: list[Usage], visits: list[Usage], promises: list[tuple[str, bool]]) -> str:
    plan, naive, ordered = plans
    parts = "load {load:.2f}, score {score:.2f}, choose {choose:.2f}".format(**plan.summary)
    rows = [
        [f"storebot's plan ({parts})", f"{plan.summary['whole']:.2f}", _peak(plan), "1"],
        ["the same pages weighed row by row in Python", *_beside(naive, plan)],
        ["`ORDER BY next_due_at`, nothing weighed", *_beside(ordered, plan)],
    ]
    small, large = visits
    sizes = [f"{max(pages // _SMALLER, 5_000):,} pages", f"{pages:,} pages"]
    per_page = [
        ["claim", *(f"{usage.summary['claim'] * 1e6:.0f}" for usage in (small, large))],
        ["save a look", *(f"{usage.summary['save'] * 1e6:.0f}" for usage in (small, large))],
    ]
    kept = "\n".join(f"- {'kept' if is_kept else '**missed**'}: {what}" for what, is_kept in promises)
    return f"""## Planning a large store

`python -m bench planning`: a store of {pages:,} pages in SQLite, a budget of {budget:,} requests. Seconds of CPU, and
the peak of the process's resident memory, Python and its libraries included.

{report.facts(report.machine())}.

{table.markdown(["", "CPU, s", "peak MB", "times the plan's CPU"], rows)}

What a run then asks of the database for each page, in microseconds of SQL, in batches of 200:

{table.markdown(["", *sizes], per_page)}

{kept}
"""


def _beside(usage: Usage, plan: Usage) -> list[str]:
    cpu_s = usage.summary["whole"]
    return [f"{cpu_s:.2f}", _peak(usage), f"{cpu_s / plan.summary['whole']:.2f}"]


def _peak(usage: Usage) -> str:
    return f"{usage.peak_rss_bytes / _MB:.0f}"
