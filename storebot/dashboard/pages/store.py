"""Store: one shop, from its last runs to what is trusted of it; and the list of its runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from storebot.core import budget
from storebot.core.budget import Use
from storebot.core.dashboard.store_now import StoreNow
from storebot.core.month import Month, day_name
from storebot.core.pacing import Pace, as_duration
from storebot.core.schedule import Schedule
from storebot.dashboard import listing
from storebot.dashboard.cards import RUN_LIGHTS, card, compared, open_alerts
from storebot.dashboard.standings import Seen, look
from storebot.dashboard.view import Ask, Choice, Facts, Listed, NotFound, Sort, View, moment
from storebot.db import breakers, spending, tiers
from storebot.db.board import standings as board
from storebot.db.board import store as store_board
from storebot.db.board.store import RunRow, Took
from storebot.items import Outcome, RunStatus
from storebot.stores.model import Store

_RECENT = 12
RUNS = Listed(
    sorts=(Sort("run", "run", (int,), descending=True),),
    choices=(
        Choice("status", "Status", tuple((one.value, one.value) for one in RunStatus)),
        Choice("kind", "Kind", tuple((one, one) for one in ("backfill", "refresh", "reparse"))),
    ),
)


def read(ask: Ask) -> Facts:
    """Return all that is known of one store."""
    seen = found(ask)
    name = seen.now.name
    runs = store_board.last_runs(ask.conn, name)
    took = store_board.took(ask.conn, [run.id for run in runs])
    trusted = store_board.trusted(ask.conn, name, ask.now_ms)
    covered = store_board.covered(ask.conn, name)
    return {
        "card": card(ask, seen, open_alerts(ask), board.tiers(ask.conn, compared([seen]))),
        "file": {"error": seen.file.error, "base_url": seen.file.store.base_url if seen.file.store else ""},
        "breaker": _breaker(seen.now),
        "jobs": [_job(job) for job in seen.jobs],
        "pausable": any(job.status.value in ("pending", "running") for job in seen.jobs),
        "resumable": any(job.status.value == "paused" for job in seen.jobs),
        "runs": [run_row(run, took.get(run.id)) for run in reversed(runs)],
        "recent": _RECENT,
        "outcomes": outcomes(runs),
        "fill": _fill(runs),
        "coverage": {**covered.found, "at": moment(covered.at)} if covered else None,
        "rungs": _rungs(ask, name),
        "spend": _spend(ask, seen.file.store, name),
        "pace": _pace(ask, seen),
        "trust": {"sentences": trusted.sentences(), "since": moment(trusted.since_ms), **_plain(trusted)},
    }


def read_runs(ask: Ask) -> Facts:
    """Return the runs of a store."""
    name = found(ask).now.name
    what = listing.asked(RUNS, ask.query)
    rows = store_board.runs_listed(
        ask.conn, name, what.choices, what.after, descending=what.descending, limit=what.limit
    )
    took = store_board.took(ask.conn, [run.id for run in rows[: what.limit]])
    return {
        "store": name,
        "list": listing.shown(RUNS, what, rows, lambda run: (run.id,), lambda run: run_row(run, took.get(run.id))),
    }


def found(ask: Ask) -> Seen:
    """Return the store that the address names."""
    name = ask.path["store"]
    seen = look(ask.conn, ask.site, ask.now_ms, name).stores[name]
    if not seen.now.runs and not seen.jobs and seen.file.store is None and not seen.now.file_error:
        raise NotFound(f"there is no store {name[:60]}: no run looked at it, and there is no store file of that name")
    return seen


def run_row(run: RunRow, took: Took | None) -> Facts:
    """Return a run for a list of them."""
    return {
        "id": run.id,
        "kind": run.kind,
        "status": run.status,
        "light": RUN_LIGHTS[RunStatus(run.status)],
        "reason": run.reason,
        "started_at": moment(run.started_at),
        "took_s": (run.finished_at - run.started_at) / 1000 if run.finished_at else None,
        "visits": sum(run.counts.values()),
        "counts": dict(run.counts),
        "changes": run.changes,
        "listings": run.listings,
        "requests": run.requests,
        "size_bytes": run.size_bytes,
        "parser_version": run.parser_version,
        "tiers": dict(took.tiers) if took else {},
        "latency_ms": round(took.latency_ms) if took and took.latency_ms is not None else None,
    }


def outcomes(runs: Sequence[RunRow]) -> list[str]:
    """Return the outcomes that any of the runs had, in their own order."""
    return [one.value for one in Outcome if any(run.counts.get(one.value) for run in runs)]


def _breaker(now: StoreNow) -> Facts:
    found = now.breaker
    return {
        "state": found.state.value,
        "reason": found.reason,
        "opened_at": moment(found.opened_at),
        "until": moment(found.until),
        "trips": found.trips,
    }


def _job(job: Any) -> Facts:
    return {
        "id": job.id,
        "kind": job.kind,
        "status": job.status.value,
        "asked": job.asked.value,
        "when": _when(job.schedule),
        "next_at": moment(job.next_run_at) if job.status.value != "running" else None,
        "last_verdict": job.last_verdict,
        "last_error": job.last_error,
        "failures": job.failures,
    }


def _when(schedule: Schedule) -> str:
    if schedule.cron:
        return f"{schedule.cron} {schedule.timezone}"
    return f"every {as_duration(schedule.every_ms / 1000)}" if schedule.every_ms else "once"


def _fill(runs: Sequence[RunRow]) -> list[Facts]:
    """Return how many of the listings had each field: first, lowest and last of the runs that were measured."""
    measured = [run.fill for run in runs if run.fill]
    names = sorted({name for fill in measured for name in fill})
    shares = {name: [fill.get(name, 0.0) for fill in measured] for name in names}
    rows = [{"field": name, "first": some[0], "lowest": min(some), "last": some[-1]} for name, some in shares.items()]
    return sorted(rows, key=lambda row: (row["last"] - row["first"], row["field"]))


def _rungs(ask: Ask, name: str) -> list[Facts]:
    return [
        {
            "page_type": rung.page_type.value,
            "tier": rung.tier.value,
            "rate": rung.rate,
            "failures": rung.failures,
            "is_left": rung.is_left,
            "retry_at": moment(rung.retry_at),
            "worked_at": moment(rung.worked_at),
            "reason": rung.reason,
        }
        for rung in tiers.load(ask.conn, name)
    ]


def _spend(ask: Ask, store: Store | None, name: str) -> Facts:
    """Return what the month took, by tier, beside what the store file allows."""
    month, currency = Month.at(ask.now_ms), store.costs.currency if store and store.costs else ""
    spent = spending.spent_on(ask.conn, name, month.days, currency)
    limits = store.budget.month.limits if store else budget.Limits()
    use = Use(limits, month.name, currency, spent)
    rows = store_board.spent_by_day(ask.conn, name, ask.now_ms)
    return {
        "month": month.name,
        "currency": currency,
        "passed": round(month.passed(ask.now_ms), 3),
        "limits": [
            {"name": one, "text": use.sentence(one), "share": round(share, 4)}
            for one, share in limits.shares(spent).items()
        ],
        "requests": spent.requests,
        "size_bytes": spent.size_bytes,
        "browser_s": spent.browser_ms // 1000,
        "money": budget.shown("cost_micro", spent.cost_micro) if currency else None,
        "days": [{**row, "day": day_name(row["day"])} for row in reversed(rows)],
    }


def _pace(ask: Ask, seen: Seen) -> Facts:
    """Return between which delays the store is asked: as its file says, and as it has to be now."""
    slowed: Pace = breakers.pace(ask.conn, seen.now.name, ask.now_ms)
    store = seen.file.store
    base_s = store.politeness.delay_s if store else None
    return {
        "delay_s": base_s,
        "now_s": slowed.delay_s(base_s) if base_s is not None else None,
        "steps": slowed.steps,
        "since": moment(seen.row.slow_at) if slowed.steps else None,
        "concurrency": store.politeness.concurrency if store else None,
    }


def _plain(trusted: Any) -> Mapping[str, Any]:
    values = trusted._asdict()
    return {**values, "validators": trusted.validators._asdict(), "since_ms": trusted.since_ms}


VIEWS = (
    View("/stores/{store}/runs", "store_runs", "store_runs.html", read_runs, RUNS),
    View("/stores/{store}", "store", "store.html", read),
)
