"""Run: what it did, beside the run before it; whether its write gate held, and why pages failed."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from storebot.core.dashboard import error_classes, run_differences, spans
from storebot.core.dashboard.run_differences import Setup
from storebot.core.overrides import Override
from storebot.dashboard import charts, kept
from storebot.dashboard.files import tail
from storebot.dashboard.view import Ask, Facts, NotFound, Picture, View, moment
from storebot.db import tallies
from storebot.db.board import held
from storebot.db.board import run as board
from storebot.db.job_runs import JobRun
from storebot.db.runs import Run
from storebot.db.tallies import Span
from storebot.items import NOT_OBSERVED, Outcome, PageType, RunStatus

_BARS, _NARROW_BARS = 60, 20
_CLASSES = 30


def read(ask: Ask) -> Facts:
    """Return all of a run."""
    run = found(ask)
    before = board.before(ask.conn, run)
    mine = tallies.of_run(ask.conn, run.id)
    of_before = tallies.of_runs(ask.conn, [before.id])[before.id] if before else []
    counts, counts_before = _outcomes(run, mine), _outcomes(before, of_before) if before else {}
    failed = board.failed(ask.conn, run.id) if any(counts.get(one) for one in NOT_OBSERVED) else None
    attempt = board.attempt(ask.conn, run)
    return {
        "run": _run(run, mine, ask.now_ms),
        "before": _brief(before) if before else None,
        "counts": [
            {"outcome": outcome.value, "visits": counts.get(outcome, 0), "before": counts_before.get(outcome, 0)}
            for outcome in Outcome
            if counts.get(outcome) or counts_before.get(outcome)
        ],
        "progress": _progress(run, before, counts, counts_before) if run.status is RunStatus.RUNNING else None,
        "timeline": _timeline(mine, _BARS),
        "other_visits": sum(one.visits for one in mine if one.page_type != PageType.PRODUCT.value),
        "gate": board.gate(ask.conn, run.id),
        "held": held.of_run(ask.conn, run.id),
        "errors": _errors(failed) if failed else None,
        "blocked_by": board.blocked_by(ask.conn, run.id) if counts.get(Outcome.BLOCKED) else [],
        "kept": [_kept(one) for one in kept.of_run(ask.site.failed_pages, run)],
        "differences": run_differences.differences(_setup(before, of_before), _setup(run, mine)) if before else [],
        "overrides": list(run.overrides),
        "missed": list(run.missed),
        "plan": run.plan,
        "log": log_of(ask, attempt) if attempt else None,
        "failures": {one.value: counts.get(one, 0) for one in NOT_OBSERVED if counts.get(one)},
    }


def draw(ask: Ask, narrow: bool) -> bytes:
    """Return the run's visits over time, by outcome."""
    run = found(ask)
    mine = [one for one in tallies.of_run(ask.conn, run.id) if one.page_type == PageType.PRODUCT.value]
    rows = [(one.at, one.outcome, one.visits) for one in mine]
    _, bars = spans.bars(rows, tallies.SPAN_MS, _NARROW_BARS if narrow else _BARS)
    there = [outcome.value for outcome in Outcome if any(one.counts.get(outcome.value) for one in bars)]
    series = [charts.Series(name, charts.OUTCOMES[name], [one.counts.get(name, 0) for one in bars]) for name in there]
    return charts.stacked([_clock(one.at) for one in bars], series, narrow=narrow)


def found(ask: Ask) -> Run:
    """Return the run that the address names."""
    number = ask.number("run")
    run = board.one(ask.conn, number)
    if run is None:
        raise NotFound(f"there is no run {number} (any more)")
    return run


def log_of(ask: Ask, attempt: JobRun) -> Facts:
    """Return where the log of a job's attempt is, and its end where it's one of this machine's worker."""
    told: Facts = {"job": attempt.job_id, "attempt": attempt.id, "node": attempt.node, "path": attempt.log}
    if attempt.node or not attempt.log:
        return {**told, "tail": None}
    return {**told, "tail": tail(ask.site.logs, attempt.log)}


def _run(run: Run, mine: list[Span], now_ms: int) -> Facts:
    names = ["id", "store", "kind", "reason", "parser_version", "hash_version", "rows_written", "rows_skipped"]
    names += ["change_events", "discovered", "pages_known", "listings_known", "walks_reason"]
    going = run.status is RunStatus.RUNNING
    return {
        **{name: getattr(run, name) for name in names},
        "status": run.status.value,
        "started_at": moment(run.started_at),
        "finished_at": moment(run.finished_at),
        "elapsed_s": ((run.finished_at or now_ms) - run.started_at) / 1000,
        "requests": sum(one.requests for one in mine) if going else run.requests,
        "size_bytes": sum(one.size_bytes for one in mine) if going else run.size_bytes,
    }


def _brief(run: Run) -> Facts:
    took_s = (run.finished_at - run.started_at) / 1000 if run.finished_at else None
    return {"id": run.id, "status": run.status.value, "started_at": moment(run.started_at), "elapsed_s": took_s}


def _outcomes(run: Run, mine: list[Span]) -> dict[Outcome, int]:
    """Return the visits of products by outcome: as the run's row has them, while it goes on as they add up."""
    if run.outcomes:
        return dict(run.outcomes)
    counts: dict[Outcome, int] = {}
    for one in mine:
        if one.page_type == PageType.PRODUCT.value:
            counts[Outcome(one.outcome)] = counts.get(Outcome(one.outcome), 0) + one.visits
    return counts


def _progress(run: Run, before: Run | None, counts: dict[Outcome, int], then: dict[Outcome, int]) -> Facts:
    planned = sum(run.plan.lanes.values()) if run.plan else 0
    return {
        "visits": sum(counts.values()),
        "expected": planned or sum(then.values()),
        "by": "its plan" if planned else f"run {before.id} made" if before and then else "",
    }


def _timeline(mine: list[Span], most: int) -> Facts:
    products = [(one.at, one.outcome, one.visits) for one in mine if one.page_type == PageType.PRODUCT.value]
    length, bars = spans.bars(products, tallies.SPAN_MS, most)
    names = [outcome.value for outcome in Outcome if any(one.counts.get(outcome.value) for one in bars)]
    rows = [{"at": moment(one.at), "counts": dict(one.counts)} for one in bars]
    return {"minutes": length // 60_000, "outcomes": names, "rows": rows}


def _errors(failed: board.Failed) -> Facts:
    rows = [(row.outcome, row.reason, row.page_id) for row in failed.rows]
    found_classes = error_classes.classes(rows)
    return {
        "classes": [
            {"outcome": one.outcome, "says": one.says, "visits": one.visits, "example": one.example[:2000]}
            for one in found_classes[:_CLASSES]
        ],
        "left_out": max(len(found_classes) - _CLASSES, 0),
        "told_by": len(rows),
        "looked_at": failed.looked_at,
        "whole": failed.whole,
    }


def _kept(one: kept.Kept) -> Facts:
    told = one._asdict()
    return {name: told[name] for name in ("name", "url", "status", "reason", "fetched_at")}


def _setup(run: Run, mine: list[Span]) -> Setup:
    used: dict[str, int] = {}
    for one in mine:
        if one.page_type == PageType.PRODUCT.value and one.requests:
            used[one.tier] = used.get(one.tier, 0) + one.visits
    return Setup(
        parser_version=run.parser_version,
        hash_version=run.hash_version,
        overrides=[Override(**_texts(one)).sentence() for one in run.overrides],
        planned=run.plan.requests if run.plan else None,
        tiers=used,
    )


def _texts(one: Any) -> dict[str, str]:
    return {name: str(one.get(name, "")) for name in Override._fields}


def _clock(at_ms: int) -> str:
    return datetime.fromtimestamp(at_ms / 1000, UTC).strftime("%H:%M")


VIEWS = (View("/runs/{run:int}", "run", "run.html", read),)
PICTURES = (Picture("/runs/{run:int}/timeline.svg", "run timeline", draw),)
