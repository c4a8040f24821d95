"""``scrapy report``: the runs as a table, beside what fetching and rewriting everything would have cost."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from dataclasses import asdict, fields
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any

import orjson
from scrapy.commands import ScrapyCommand

from storebot.core.breaker import Breaker, State
from storebot.core.overrides import Override
from storebot.core.planner.truth import Truth
from storebot.core.sizes import size
from storebot.core.summary import is_beyond_http, table, tiers_in_words
from storebot.db import breakers, planned_runs, runs, truth
from storebot.db.database import Database, now_ms
from storebot.db.planned_runs import PlanNote
from storebot.exceptions import StorebotError
from storebot.items import Outcome

HEADERS = (
    "run", "kind", "store", "started (UTC)", "status", "pages fetched", "not modified", "rows rewritten",
    "rows skipped", "changes", "requests", "bytes", "elapsed", "naive: pages", "naive: rows",
)  # fmt: skip


class Command(ScrapyCommand):
    """Print the last runs. The naive columns are a script that fetches and rewrites every page on every run."""

    requires_project = True
    requires_crawler_process = False
    default_settings = {"LOG_ENABLED": False}  # noqa: RUF012 - declared so by Scrapy

    def short_desc(self) -> str:
        return "Show the runs as a table"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--store", help="only this store")
        parser.add_argument("--last", type=int, default=20, metavar="N", help="so many runs (default 20)")
        parser.add_argument("--json", action="store_true", help="one JSON object a line")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        assert self.settings is not None
        try:
            database = Database.open(self.settings.get("STOREBOT_DATABASE_URL"), create=False)
            with database.read() as conn:
                found = runs.last(conn, opts.store, limit=opts.last)
                shut = breakers.not_closed(conn, opts.store)
                found_by_plan = planned_runs.found(conn, [run.id for run in found if run.plan])
                planned = [opts.store] if opts.store else truth.stores(conn)
                known = [one for store in planned if (one := truth.truth(conn, store, now_ms(conn))).is_known]
            database.dispose()
        except StorebotError as error:
            print(error, file=sys.stderr)
            self.exitcode = int(error.exit_code)
            return
        if opts.json:
            for run in found:
                print(orjson.dumps(_as_dict(run, found_by_plan), option=orjson.OPT_NON_STR_KEYS).decode())
            for one in known:
                print(orjson.dumps({"store": one.store, "truth": one.as_dict()}).decode())
            for store, breaker in shut.items():
                print(orjson.dumps({"store": store, "breaker": breaker._asdict()}).decode())
        else:
            told = render(list(reversed(found)), found_by_plan)
            print(told if found else "No runs yet: scrapy crawl backfill -a store=NAME")
            for one in known:
                print("\n".join(true_of(one)))
            for store, breaker in shut.items():
                print(left_alone(store, breaker))


def render(found: list[runs.Run], found_by_plan: Mapping[int, int] = MappingProxyType({})) -> str:
    """Return the table, oldest run first, with the reasons of those that weren't complete below it, which fetch tiers
    were used where it wasn't the plain one alone, and what came of plans.

    ``found_by_plan``: pages that weren't as they were known, by run.
    """
    rows = [_row(run) for run in found]
    notes = [f"run {run.id} ({run.status}): {run.reason}" for run in found if run.reason]
    notes += [f"run {run.id} overrode: {Override(**one).sentence()}" for run in found for one in run.overrides]
    used = [_tiers(run) for run in found if is_beyond_http(run.tiers, run.escalations)]
    plans = [_plan(run.id, run.plan, found_by_plan.get(run.id, 0)) for run in found if run.plan]
    return "\n".join([table(HEADERS, rows), *notes, *used, *plans])


def _tiers(run: runs.Run) -> str:
    steps = "1 escalation" if run.escalations == 1 else f"{run.escalations} escalations"
    return f"run {run.id} fetched by {tiers_in_words(run.tiers)}; {steps}"


def _plan(run_id: int, plan: PlanNote, found: int) -> str:
    lanes = ", ".join(f"{count:,} {lane}" for lane, count in plan.lanes.items() if count) or "no page"
    views = f", {plan.views:,} pages of the catalogue" if plan.views else ""
    return (
        f"run {run_id} planned {plan.requests:,} requests ({lanes}{views}): {plan.expected:,.1f} changes expected, "
        f"{found:,} found"
    )


def _as_dict(run: runs.Run, found_by_plan: Mapping[int, int]) -> dict[str, Any]:
    """Return a run as plain values; ``plan`` with what it found."""
    told = {field.name: getattr(run, field.name) for field in fields(run)}
    if run.plan:
        told["plan"] = {**asdict(run.plan), "found": found_by_plan.get(run.id, 0)}
    return told


def true_of(known: Truth) -> list[str]:
    """Return what is known to be true of a store's copies and signals, a line each."""
    stale = f"{known.store}: {known.stale_of_late()}"
    if known.ever.looks > known.lately.looks:
        stale += f"; ever: {known.ever.sentence()}"
    return [stale, *(f"{known.store}: {sentence}" for sentence in known.trust.sentences())]


def left_alone(store: str, breaker: Breaker) -> str:
    """Return the line of a store whose circuit breaker is open, or waits for the answer to its probe."""
    since = f"since {_time(breaker.opened_at)} UTC, because {breaker.reason}"
    if breaker.state is State.HALF_OPEN:
        return f"{store}: circuit breaker half-open ({since}): the next run asks for one page first"
    return f"{store}: circuit breaker open until {_time(breaker.until)} UTC ({since}): until then no run asks anything"


def _time(at_ms: int) -> str:
    return datetime.fromtimestamp(at_ms / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S")


def _row(run: runs.Run) -> list[str]:
    visits = sum(run.outcomes.values())
    not_modified = run.outcomes.get(Outcome.NOT_MODIFIED, 0)
    elapsed = f"{(run.finished_at - run.started_at) / 1000:.1f} s" if run.finished_at else "-"
    return [
        str(run.id),
        run.kind,
        run.store,
        _time(run.started_at),
        str(run.status),
        str(visits - not_modified),
        str(not_modified),
        str(run.rows_written),
        str(run.rows_skipped),
        str(run.change_events),
        str(run.requests),
        size(run.size_bytes),
        elapsed,
        str(max(run.pages_known, visits)),
        str(max(run.listings_known, visits)),
    ]
