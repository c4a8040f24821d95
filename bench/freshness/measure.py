"""``python -m bench freshness``: what each policy catches in the simulated shop, and whether the promises are kept."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from statistics import mean

from bench import report, table
from bench.crawl import say
from bench.freshness.baselines import Adaptive, Estimated, Oracle
from bench.freshness.planner import Planner, RoundRobin
from bench.freshness.plot import draw
from bench.freshness.shop import CALM, HOT, Sizes, What, make
from bench.freshness.simulate import Policy, Score, simulate

SEEDS = (11, 12, 13)  # held out: constants were tuned on seeds 1 to 3
SHARES = (0.05, 0.1, 0.2)
MAIN_SHARE = 0.1
REFERENCE = "round-robin"
FULL, DUE, INDEX = "full policy", "full policy, due dates", "index, no signals"
JUNK = "index, junk lastmod"
CLOSER = (REFERENCE, INDEX, FULL)  # these with other budgets, and in a calmer shop
SHOPS: dict[str, Sizes] = {
    "hot": HOT,
    "calm": CALM,
    "junk": replace(HOT, lastmod_recall=0.0, lastmod_false_a_day=1.0),
}


def policies() -> list[Policy]:
    """Return all policies, in the order of the table."""
    return [
        RoundRobin(REFERENCE),
        Adaptive(),
        Estimated(),
        Planner(INDEX),
        Planner("index + lastmod", sitemaps=True),
        Planner("index + cards as hints", hints=True),
        Planner("index + cards as prices", listings=True),
        RoundRobin("round-robin + both signals", sitemaps=True, listings=True),
        Planner(FULL, sitemaps=True, listings=True),
        Planner(DUE, sitemaps=True, listings=True, exact=False),
        Oracle(),
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One policy in one shop with one budget, over all seeds."""

    shop: str
    policy: str
    share: float
    scores: Sequence[Score]

    @property
    def caught(self) -> float:
        return mean(score.caught_share for score in self.scores)

    @property
    def price_caught(self) -> float:
        return mean(score.share(What.PRICE)[0] for score in self.scores)

    @property
    def price_missed(self) -> float:
        return mean(score.share(What.PRICE)[1] for score in self.scores)

    @property
    def staleness_h(self) -> float:
        return mean(score.staleness_h for score in self.scores)

    @property
    def oldest_d(self) -> float:
        return max(score.oldest_h for score in self.scores) / 24


def freshness(*, seeds: Sequence[int], write: bool) -> int:
    """Simulate each policy in each shop; print the table; return 1 where a promise was missed."""
    jobs = [*_jobs(seeds)]
    found: dict[tuple[str, str, float], list[Score]] = {}
    context = multiprocessing.get_context("spawn")
    with context.Pool(min(os.cpu_count() or 1, len(jobs))) as pool:
        for number, (job, score) in enumerate(pool.imap_unordered(_run, jobs), 1):
            found.setdefault(job[:3], []).append(score)
            say(f"{number} of {len(jobs)}: {job[1]} in {job[0]} at {job[2]:.0%}: {score.caught_share:.1%} caught")
    cells = {key: Cell(shop=key[0], policy=key[1], share=key[2], scores=scores) for key, scores in found.items()}
    promises = [*_promises(cells)]
    text = _text(cells, promises, seeds)
    print(text)
    if write:
        raw = {"machine": report.machine(), "scores": [_raw(cell) for cell in cells.values()]}
        report.write("freshness", text, raw)
        draw({policy.name: cells["hot", policy.name, MAIN_SHARE].caught for policy in policies()})
    return int(any(not kept for _, kept in promises))


def _jobs(seeds: Sequence[int]) -> Iterable[tuple[str, str, float, int]]:
    for policy in policies():
        for seed in seeds:
            yield ("hot", policy.name, MAIN_SHARE, seed)
            if policy.name in CLOSER:
                yield from (("hot", policy.name, share, seed) for share in SHARES if share != MAIN_SHARE)
                yield ("calm", policy.name, MAIN_SHARE, seed)
    for seed in seeds:
        yield ("junk", INDEX, MAIN_SHARE, seed)
        yield ("junk", JUNK, MAIN_SHARE, seed)


def _run(job: tuple[str, str, float, int]) -> tuple[tuple[str, str, float, int], Score]:
    shop, name, share, seed = job
    known = {policy.name: policy for policy in policies()} | {JUNK: Planner(JUNK, sitemaps=True)}
    return job, simulate(known[name], make(seed, SHOPS[shop]), share, seed=seed)


def _promises(cells: dict[tuple[str, str, float], Cell]) -> Iterable[tuple[str, bool]]:
    """Yield each promise with its number, and whether it's kept."""
    plain, full, due = (cells["hot", name, MAIN_SHARE] for name in (REFERENCE, FULL, DUE))
    index = cells["hot", INDEX, MAIN_SHARE]
    yield f"changes caught within 24 h: {full.caught:.1%} (at least 75 %)", full.caught >= 0.75
    yield f"price changes caught: {full.price_caught:.1%} (at least 85 %)", full.price_caught >= 0.85
    yield f"price changes missed: {full.price_missed:.1%} (at most 12 %)", full.price_missed <= 0.12
    times = full.caught / plain.caught
    yield f"times round-robin: {times:.1f} (at least 9)", times >= 9
    stale = f"staleness: {full.staleness_h:.1f} h, round-robin {plain.staleness_h:.1f} h (not above)"
    yield stale, full.staleness_h <= plain.staleness_h
    yield f"by due dates: {due.caught:.1%} (at least 70 %)", due.caught >= 0.7
    times = due.caught / plain.caught
    yield f"by due dates, times round-robin: {times:.1f} (at least 8)", times >= 8
    times = index.caught / plain.caught
    yield f"without signals, times round-robin: {times:.2f} (at least 2)", times >= 2
    cost = cells["junk", INDEX, MAIN_SHARE].caught - cells["junk", JUNK, MAIN_SHARE].caught
    yield f"what a lastmod of junk costs: {cost * 100:.1f} points (at most 1)", cost <= 0.01


def _text(cells: dict[tuple[str, str, float], Cell], promises: Sequence[tuple[str, bool]], seeds: Sequence[int]) -> str:
    columns = [f"caught at {share:.0%}" for share in SHARES]
    head = ["policy", *columns, "price caught", "price missed", "stale, h", "oldest, d"]
    rows = []
    for policy in policies():
        main = cells["hot", policy.name, MAIN_SHARE]
        at = [cells.get(("hot", policy.name, share)) for share in SHARES]
        caught = [f"{cell.caught:.1%}" if cell else "" for cell in at]
        price = [f"{main.price_caught:.1%}", f"{main.price_missed:.1%}"]
        rows.append([policy.name, *caught, *price, f"{main.staleness_h:.1f}", f"{main.oldest_d:.0f}"])
    calm = ", ".join(f"{name} {cells['calm', name, MAIN_SHARE].caught:.1%}" for name in CLOSER)
    kept = "\n".join(f"- {'kept' if kept else '**missed**'}: {what}" for what, kept in promises)
    return f"""## Where a refresh spends its requests

`python -m bench freshness`: a simulated shop of {HOT.products:,} products over {HOT.days} days, hourly runs, the
planner of `storebot/core/planner` against a fake fetcher and clock. A change counts as caught if it's seen within 24
hours, while it is still true. Budgets are shares of the products a day, catalogue pages and sitemaps included. Seeds
{", ".join(map(str, seeds))}; constants were tuned on others. The shop's processes are guesses ([decision
32](decisions/0032-refresh-planner.md)); the last four columns are at {MAIN_SHARE:.0%}.

{table.markdown(head, rows)}

![Share of changes caught within a day at a tenth of the requests](freshness.svg)

A calmer shop (half the repricing, few sales) at {MAIN_SHARE:.0%}: {calm}.

{kept}
"""


def _raw(cell: Cell) -> dict[str, object]:
    scores = [{**asdict(score), **_named(score)} for score in cell.scores]
    return {"shop": cell.shop, "policy": cell.policy, "share": cell.share, "scores": scores}


def _named(score: Score) -> dict[str, dict[str, int]]:
    parts = {"events": score.events, "caught": score.caught, "missed": score.missed}
    return {part: {what.name: count for what, count in counts.items()} for part, counts in parts.items()}
