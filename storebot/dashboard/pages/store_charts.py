"""The charts of a store: how its runs ended, what its listings have, how they were fetched, what that took."""

from __future__ import annotations

from datetime import UTC, datetime

from storebot.core.month import DAY_MS, day_name
from storebot.dashboard.charts import OUTCOMES, Series, bars, lines, stacked
from storebot.dashboard.pages.store import outcomes
from storebot.dashboard.view import Ask, NotFound, Picture
from storebot.db.board import store as store_board
from storebot.db.board.store import RunRow
from storebot.items import Tier

FIELDS = ("price", "availability", "gtin", "brand", "sku", "description")  # whose fill is drawn; the table has all
_ROLES = ("main", "good", "second", "third", "idle", "bad")
_TIER_ROLES = {
    Tier.HTTP: "good",
    Tier.HTTP2: "calm",
    Tier.BROWSER: "third",
    Tier.ATTACHED: "second",
    Tier.API: "main",
}


def draw_outcomes(ask: Ask, narrow: bool) -> bytes:
    """Draw what the visits of the last runs came to."""
    runs = _runs(ask)
    series = [Series(one, OUTCOMES[one], [run.counts.get(one, 0) for run in runs]) for one in outcomes(runs)]
    return stacked(_labels(runs), series, narrow=narrow)


def draw_fill(ask: Ask, narrow: bool) -> bytes:
    """Draw which share of the listings had a field, run by run."""
    runs = [run for run in _runs(ask) if run.fill]
    known = [name for name in FIELDS if any(run.fill.get(name) for run in runs)]
    series = [
        Series(name, role, [round(run.fill.get(name, 0.0) * 100, 1) for run in runs])
        for name, role in zip(known, _ROLES, strict=False)
    ]
    return lines(_labels(runs), series, narrow=narrow, unit=" %")


def draw_tiers(ask: Ask, narrow: bool) -> bytes:
    """Draw by which tiers the pages of the last runs came."""
    runs = _runs(ask)
    took = store_board.took(ask.conn, [run.id for run in runs])
    series = [
        Series(tier.value, role, [took[run.id].tiers.get(tier.value, 0) for run in runs])
        for tier, role in _TIER_ROLES.items()
        if any(took[run.id].tiers.get(tier.value) for run in runs)
    ]
    return stacked(_labels(runs), series, narrow=narrow)


def draw_latency(ask: Ask, narrow: bool) -> bytes:
    """Draw how long an answer took, run by run."""
    runs = _runs(ask)
    took = store_board.took(ask.conn, [run.id for run in runs])
    return lines(_labels(runs), [Series("one answer", "main", [took[run.id].latency_ms for run in runs])],
                 narrow=narrow, unit=" ms")  # fmt: skip


def draw_spend(ask: Ask, narrow: bool) -> bytes:
    """Draw the requests of each of the last days, by tier."""
    rows = store_board.spent_by_day(ask.conn, ask.path["store"], ask.now_ms)
    days = sorted({row["day"] for row in rows})
    sums: dict[tuple[int, str], int] = {}
    for row in rows:
        key = (row["day"], row["tier"])
        sums[key] = sums.get(key, 0) + row["requests"]
    series = [
        Series(tier.value, role, [sums.get((day, tier.value), 0) for day in days])
        for tier, role in _TIER_ROLES.items()
        if any(row["tier"] == tier.value for row in rows)
    ]
    draw = stacked if len(series) > 1 else bars
    return draw([day_name(day)[5:] for day in days], series, narrow=narrow)


def _runs(ask: Ask) -> list[RunRow]:
    runs = store_board.last_runs(ask.conn, ask.path["store"])
    if not runs:
        raise NotFound("no run has looked at this store yet")
    return [run for run in runs if run.status != "running"]


def _labels(runs: list[RunRow]) -> list[str]:
    """Return when each run began: its time where all began within a day, else its day."""
    times = [run.started_at for run in runs]
    form = "%H:%M" if times and times[-1] - times[0] <= DAY_MS else "%m-%d"
    return [f"{datetime.fromtimestamp(at_ms / 1000, UTC):{form}}" for at_ms in times]


PICTURES = tuple(
    Picture(f"/stores/{{store}}/{name}.svg", f"store_{name}", draw)
    for name, draw in (
        ("outcomes", draw_outcomes),
        ("fill", draw_fill),
        ("tiers", draw_tiers),
        ("latency", draw_latency),
        ("spend", draw_spend),
    )
)
