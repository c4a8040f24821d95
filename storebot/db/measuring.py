"""Metrics as rows give them."""

from __future__ import annotations

from collections.abc import Iterator

import orjson
from sqlalchemy import Connection, func, select

import storebot
from storebot.core.metrics import Sample
from storebot.db import alerts, breakers, jobs, outbox, planned_runs, standing, truth
from storebot.db.schema import REVISION, pages, runs, spending
from storebot.items import PageStatus, RunStatus

OVERDUE_MS = 15 * 60_000


def samples(conn: Connection, now_ms: int) -> Iterator[Sample]:
    """Yield all that the database tells. Counters only grow: what they count is never forgotten."""
    yield Sample("storebot_up", (), 1)
    yield Sample("storebot_build_info", (storebot.__version__, REVISION), 1)
    yield from _runs(conn)
    yield from _pages(conn, now_ms)
    yield from _spending(conn)
    yield from _truth(conn, now_ms)
    yield from _held(conn)
    yield from _jobs(conn, now_ms)
    yield from _told(conn)


def _runs(conn: Connection) -> Iterator[Sample]:
    groups = (runs.c.store, runs.c.kind, runs.c.status)
    for store, kind, status, count in conn.execute(select(*groups, func.count()).group_by(*groups)):
        yield Sample("storebot_runs_total", (store, kind, status), int(count))
    changed = select(runs.c.store, func.sum(runs.c.change_events)).group_by(runs.c.store)
    for store, count in conn.execute(changed):
        yield Sample("storebot_changes_total", (store,), int(count))
    ended = runs.c.finished_at.is_not(None)
    newest = select(func.max(runs.c.id)).where(ended).group_by(runs.c.store, runs.c.kind)
    for run in conn.execute(select(runs).where(runs.c.id.in_(newest)).order_by(runs.c.id)):
        labels = (run.store, run.kind)
        yield Sample("storebot_last_run_start_timestamp_seconds", labels, run.started_at / 1000)
        yield Sample("storebot_last_run_end_timestamp_seconds", labels, run.finished_at / 1000)
        yield Sample("storebot_last_run_duration_seconds", labels, (run.finished_at - run.started_at) / 1000)
        yield Sample("storebot_last_run_status", (*labels, run.status), 1)
        for outcome, count in orjson.loads(run.counts or "{}").items():
            yield Sample("storebot_last_run_visits", (*labels, outcome), count)
        yield Sample("storebot_last_run_changes", labels, run.change_events)
        missed = len(orjson.loads(run.missed)) if run.missed else 0
        yield Sample("storebot_last_run_expectations_missed", labels, missed)
    complete = select(runs.c.store, runs.c.kind, func.max(runs.c.finished_at)).where(
        runs.c.status == RunStatus.COMPLETE.value
    )
    for store, kind, at in conn.execute(complete.group_by(runs.c.store, runs.c.kind)):
        yield Sample("storebot_last_complete_run_timestamp_seconds", (store, kind), at / 1000)
    measured = select(func.max(runs.c.id)).where(runs.c.measured.is_not(None)).group_by(runs.c.store)
    for run in conn.execute(select(runs.c.store, runs.c.measured).where(runs.c.id.in_(measured))):
        yield Sample("storebot_listings", (run.store,), orjson.loads(run.measured)["listings"])


def _pages(conn: Connection, now_ms: int) -> Iterator[Sample]:
    counts = select(pages.c.store, pages.c.status, func.count()).group_by(pages.c.store, pages.c.status)
    for store, status, count in conn.execute(counts):
        yield Sample("storebot_pages", (store, status), int(count))
    due = select(pages.c.store, func.count()).where(
        pages.c.status == PageStatus.PARSED.value, pages.c.next_due_at <= now_ms
    )
    for store, count in conn.execute(due.group_by(pages.c.store)):
        yield Sample("storebot_pages_due", (store,), int(count))


def _spending(conn: Connection) -> Iterator[Sample]:
    sums = [func.sum(spending.c[name]) for name in ("requests", "bytes")]
    groups = (spending.c.store, spending.c.tier, spending.c.page_type)
    for store, tier, page_type, requests, size in conn.execute(select(*groups, *sums).group_by(*groups)):
        yield Sample("storebot_requests_total", (store, tier, page_type), int(requests))
        yield Sample("storebot_received_bytes_total", (store, tier, page_type), int(size))
    by_tier = (spending.c.store, spending.c.tier)
    for store, tier, browser_ms in conn.execute(
        select(*by_tier, func.sum(spending.c.browser_ms)).group_by(*by_tier).having(func.sum(spending.c.browser_ms) > 0)
    ):
        yield Sample("storebot_browser_seconds_total", (store, tier), int(browser_ms) / 1000)
    priced = (*by_tier, spending.c.currency)
    cost = select(*priced, func.sum(spending.c.cost_micro)).where(spending.c.currency != "").group_by(*priced)
    for store, tier, currency, micro in conn.execute(cost):
        yield Sample("storebot_cost_total", (store, tier, currency), int(micro) / 1e6)


def _truth(conn: Connection, now_ms: int) -> Iterator[Sample]:
    for store in truth.stores(conn):
        known = truth.truth(conn, store, now_ms)
        lately, trust = known.lately, known.trust
        yield Sample("storebot_audits", (store,), lately.looks)
        yield Sample("storebot_audits_stale", (store,), lately.stale)
        if lately.looks:
            bounds = zip(("low", "high"), lately.interval, strict=True)
            for bound, share in (("estimate", lately.stale / lately.looks), *bounds):
                yield Sample("storebot_stale_ratio", (store, bound), share)
        believed = {
            "lastmod": trust.reads_sitemaps and not trust.lastmod_is_junk,
            "validators": not trust.validators.proof,
            "cards": trust.cards_are_prices,
        }
        for signal, is_believed in believed.items():
            yield Sample("storebot_signal_trusted", (store, signal), int(is_believed))
        if trust.lastmod_looks >= 1:
            yield Sample("storebot_lastmod_lift_ratio", (store,), trust.lift)
            yield Sample("storebot_lastmod_recall_ratio", (store,), trust.recall)
        yield Sample("storebot_validators_audited", (store,), trust.validators.asked)
        yield Sample("storebot_validators_lies", (store,), trust.validators.lies)
    newest = select(func.max(runs.c.id)).where(runs.c.plan.is_not(None), runs.c.finished_at.is_not(None))
    planned = conn.execute(
        select(runs.c.id, runs.c.store, runs.c.plan).where(runs.c.id.in_(newest.group_by(runs.c.store)))
    ).all()
    found = planned_runs.found(conn, [run.id for run in planned])
    for run in planned:
        if (plan := planned_runs.read(run.plan)) is not None:
            yield Sample("storebot_plan_changes_expected", (run.store,), plan.expected)
            yield Sample("storebot_plan_changes_found", (run.store,), found.get(run.id, 0))


def _held(conn: Connection) -> Iterator[Sample]:
    held, shut = standing.held(conn), breakers.not_closed(conn)
    for store in standing.known_stores(conn):
        count, since = held.get(store, (0, 0))
        yield Sample("storebot_holds_open", (store,), count)
        if count:
            yield Sample("storebot_holds_oldest_timestamp_seconds", (store,), since / 1000)
        yield Sample("storebot_breaker_open", (store,), int(store in shut))


def _jobs(conn: Connection, now_ms: int) -> Iterator[Sample]:
    for labels, count in jobs.counts(conn).items():
        yield Sample("storebot_jobs", labels, count)
    yield Sample("storebot_jobs_overdue", (), len(standing.overdue(conn, now_ms, OVERDUE_MS)))


def _told(conn: Connection) -> Iterator[Sample]:
    is_open = {(alert.kind.value, alert.store) for alert in alerts.load(conn).values() if alert.open}
    for labels in sorted(is_open):
        yield Sample("storebot_alerts_open", labels, 1)
    for labels, count in outbox.counts(conn).items():
        yield Sample("storebot_outbox_messages", labels, count)
    oldest: dict[tuple[str, str], int] = {}
    for backlog in outbox.backlogs(conn):
        oldest.setdefault((backlog.channel, backlog.service), backlog.since)
    for labels, since in oldest.items():
        yield Sample("storebot_outbox_oldest_timestamp_seconds", labels, since / 1000)
