"""``scrapy plan``: what a refresh would fetch now and why, what it takes, and what it's expected to find."""

from __future__ import annotations

import argparse
import os

import orjson
from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError
from scrapy.settings import BaseSettings

from storebot.commands import ended_by_errors
from storebot.core.costs import PriceTable
from storebot.core.month import DAY_MS
from storebot.core.planner.lanes import Lane
from storebot.core.planner.plan_report import PlanReport, as_json, render
from storebot.core.planner.planned import PlannedRun
from storebot.core.planner.prospect import Counts, Manners, latency_s, prospect
from storebot.core.planner.terms import Orders
from storebot.core.planner.truth import Truth
from storebot.db import breakers, planned_runs, robots, samples, truth
from storebot.db.database import Database, now_ms
from storebot.db.views import Heads
from storebot.exceptions import ExitCode
from storebot.manners import kept_delay_s
from storebot.spiders.base import store_settings
from storebot.stores import load_store
from storebot.stores.model import Store

_FIRST = 10  # pages that are named


class Command(ScrapyCommand):
    """Print the plan of the next refresh. It reads the database and the store file; it writes and fetches nothing."""

    requires_project = True
    requires_crawler_process = False
    default_settings = {"LOG_ENABLED": False}  # noqa: RUF012 - declared so by Scrapy

    def short_desc(self) -> str:
        return "Show what a refresh would fetch, why, and what it takes"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--store", metavar="NAME", help="of this store")
        parser.add_argument(
            "--budget", type=int, metavar="N", help="with so many requests, as refresh -a budget=N would"
        )
        parser.add_argument("--full", action="store_true", help="of all that is known, as refresh -a plan=full would")
        parser.add_argument("--json", action="store_true", help="one JSON object")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        if args or not opts.store or (opts.budget is not None and (opts.full or opts.budget < 1)):
            raise UsageError("scrapy plan --store NAME [--budget N | --full] [--json]")
        with ended_by_errors(self):
            report = self._report(opts)
            print(orjson.dumps(as_json(report)).decode() if opts.json else render(report))
            if report.refusal:
                self.exitcode = int(ExitCode.USAGE)

    def _report(self, opts: argparse.Namespace) -> PlanReport:
        assert self.settings is not None
        folders = [folder for folder in self.settings.get("STOREBOT_STORES").split(os.pathsep) if folder]
        store = load_store(opts.store, folders)
        database = Database.open(self.settings.get("STOREBOT_DATABASE_URL"), create=False)
        try:
            return report(database, store, store.refresh.orders(once=opts.budget, full=opts.full), self.settings)
        finally:
            database.dispose()


def report(database: Database, store: Store, orders: Orders, settings: BaseSettings) -> PlanReport:
    """Return what is told of a refresh that would begin now. A promise that can't be kept is in it, not raised."""
    from storebot.db import plan_preview  # numpy: every command of Scrapy imports this module

    name, heads = store.name, _heads(store)
    with database.read() as conn:
        now = now_ms(conn)
        terms = planned_runs.looked_up(conn, name, orders, now, heads.pages)
        goes = terms is None or not (terms.must_wait or terms.is_refused)
        planned = PlannedRun(budget=0, seed=0)
        if goes:
            planned = plan_preview.preview(conn, name, orders, terms, now, heads)
        first = plan_preview.first(conn, name, planned, now, _FIRST)
        discovery = planned_runs.discovery(conn, name, heads.pages, now) if goes else 0
        known, truth_of_store = planned_runs.known(conn, name), truth.truth(conn, name, now)
        visits, finding = samples.of_pages(conn, name), samples.of_discovery(conn, name, now // DAY_MS)
        pace, asked = breakers.pace(conn, name, now), robots.texts(conn, name)
    counts, prices = _counts(planned, discovery, truth_of_store), store.costs.table if store.costs else PriceTable()
    delay_s = kept_delay_s(store, of_run(store, settings), asked, pace)
    manners = Manners(delay_s, store.politeness.concurrency, latency_s(visits))
    return PlanReport(
        store=name,
        known=known,
        orders=orders,
        terms=terms,
        lanes={lane: len(ids) for lane, ids in planned.lanes.items()},
        counts=counts,
        prospect=prospect(counts, visits, finding, manners, prices),
        delay_s=delay_s,
        own_delay_s=store.politeness.delay_s,
        currency=prices.currency if prices.tiers else "",
        waiting=planned.differ,
        found=planned.finds,
        truth=truth_of_store,
        first=first,
    )


def of_run(store: Store, settings: BaseSettings) -> BaseSettings:
    """Return the settings that a run over the store would have."""
    found = settings.copy()
    found.setdict(store_settings(store, settings.get("STOREBOT_CONTACT") or ""), priority="spider")
    return found


def _heads(store: Store) -> Heads:
    first = store.catalogue.first if store.catalogue is not None else 1
    return Heads([store.walk_of(template) for template in store.catalogue_urls], first, store.refresh.head_pages)


def _counts(planned: PlannedRun, discovery: int, known: Truth) -> Counts:
    """Return the requests by what they are for: new pages and audits are never conditional."""
    pages = sum(len(ids) for ids in planned.lanes.values())
    full = sum(len(planned.lanes.get(lane, ())) for lane in (Lane.NEW, Lane.AUDIT))
    if known.trust.validators.proof:
        full = pages
    return Counts(discovery=discovery, views=len(planned.views), conditional=pages - full, full=full)
