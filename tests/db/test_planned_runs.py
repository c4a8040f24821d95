"""The plans of runs: what each was allowed and spent, and what the next one goes by."""

from __future__ import annotations

import pytest
from sqlalchemy import insert, update

from storebot.core.planner.allowance import Share
from storebot.core.planner.lanes import Lane
from storebot.core.planner.terms import Orders
from storebot.db import planned_runs, robots, runs, spending
from storebot.db.database import Database, now_ms
from storebot.db.planned_runs import PlanNote
from storebot.db.robots import KeptRobots
from storebot.db.schema import catalogue_views
from storebot.db.schema import robots as robots_rows
from storebot.db.schema import runs as run_rows
from storebot.exceptions import PromiseRefused
from storebot.items import Expense, Outcome, Outlay, RunStatus, Tier
from tests.db.shop import NOW, STORE, Worker
from tests.db.test_truth import DAY, clock, visited

PLAN = PlanNote(
    share=40.5, requests=40, discovery=3, views=2, lanes={"hazard": 35}, sweep=0.25, waiting=9.5, expected=4.0
)


def ended(database: Database, plan: PlanNote | None, requests: int = 7, kind: str = "refresh") -> int:
    with database.write() as conn:
        run_id = runs.start(conn, STORE, kind)
        if plan is not None:
            planned_runs.note(conn, run_id, plan)
        runs.finish(conn, run_id, RunStatus.COMPLETE, "", outcomes={}, requests=requests)
    return run_id


def read_sitemaps(database: Database, at: int, requests: int, page_type: str = "sitemap") -> None:
    with database.write() as conn:
        outlay = Outlay(store=STORE, at_ms=at, tier=Tier.HTTP, page_type=page_type, expense=Expense(requests))
        spending.add(conn, STORE, {}, [outlay])


def loaded_robots(database: Database, ago_ms: int = 0) -> None:
    with database.write() as conn:
        robots.record(conn, STORE, "https://shop.example", KeptRobots("https://shop.example/robots.txt", 404, ""))
        conn.execute(update(robots_rows).values(fetched_at=robots_rows.c.fetched_at - ago_ms))


def test_plan_is_kept_with_its_run(database: Database) -> None:
    first, second = ended(database, PLAN), ended(database, None)
    with database.read() as conn:
        by_id = {run.id: run for run in runs.last(conn, STORE)}
    assert by_id[first].plan == PLAN
    assert by_id[second].plan is None


def test_share_is_that_of_the_last_run_which_was_given_one(database: Database) -> None:
    with database.read() as conn:
        assert planned_runs.last_share(conn, STORE) is None
    ended(database, PLAN, requests=33)
    ended(database, None)
    ended(database, PlanNote(share=None, requests=5, discovery=0, views=0), requests=500)
    with database.read() as conn:
        found = planned_runs.last_share(conn, STORE)
        assert found is not None
        assert found._replace(started_ms=0) == Share(0, 40.5, 33)
        assert planned_runs.last_share(conn, "other") is None


def test_run_that_never_ended_has_spent_what_its_visits_took(database: Database) -> None:
    run_id = visited(database, Outcome.UNCHANGED, Outcome.CHANGED, at=NOW, store=STORE)
    with database.write() as conn:
        conn.execute(update(run_rows).where(run_rows.c.id == run_id).values(status="running", requests=0))
        found = planned_runs.last_share(conn, STORE)
    assert found is not None
    assert found.spent == 2


def discovery(database: Database, heads: int, after_ms: int = 0) -> int:
    with database.read() as conn:
        return planned_runs.discovery(conn, STORE, heads, now_ms(conn) + after_ms)


def test_discovery_is_what_the_last_refresh_took_for_it(database: Database) -> None:
    loaded_robots(database, ago_ms=1000)
    ended(database, None, requests=7)
    assert discovery(database, heads=9) == 7
    ended(database, PLAN)
    assert discovery(database, heads=9) == 3


def test_robots_txt_is_asked_for_once_a_day(database: Database) -> None:
    ended(database, None, requests=7)
    loaded_robots(database)  # by that refresh
    assert discovery(database, heads=0) == 6
    assert discovery(database, heads=0, after_ms=2 * DAY) == 7


def test_before_the_first_refresh_it_is_what_a_backfill_s_sitemaps_took_and_the_heads(database: Database) -> None:
    assert discovery(database, heads=2) == 3
    ended(database, None, requests=100, kind="backfill")
    loaded_robots(database)
    read_sitemaps(database, NOW, 4)
    read_sitemaps(database, NOW, 1, "robots")
    read_sitemaps(database, NOW, 50, "catalogue")
    assert discovery(database, heads=2) == 6


def test_facts_are_those_of_the_store(database: Database) -> None:
    now = clock(database)
    worker = Worker(database)
    worker.known("1", "2")
    worker.discover("3")
    read_sitemaps(database, now - DAY, 6)
    read_sitemaps(database, now - 2 * DAY, 2)
    read_sitemaps(database, now, 90)
    with database.write() as conn:
        before = planned_runs.facts(conn, STORE, now, 0)
        conn.execute(insert(catalogue_views).values(store=STORE, walk="w", number=1, url="u"))
        after = planned_runs.facts(conn, STORE, now, 0)
    assert (before.pages, before.discovery_per_day, before.has_views, before.last) == (3, 4.0, False, None)
    assert after.has_views


def test_promise_that_cannot_be_kept_is_refused_with_the_numbers(database: Database) -> None:
    Worker(database).known(*map(str, range(30)))
    orders = Orders(per_day=10, max_age_h=48.0)
    with database.read() as conn:
        with pytest.raises(PromiseRefused, match=r"shop: max_age = 2d can't be promised for 30 pages.*budget = 15"):
            planned_runs.terms_of(conn, STORE, orders, NOW, 0)
        kept = planned_runs.terms_of(conn, STORE, Orders(per_day=15, max_age_h=48.0), NOW, 0)
        assert kept is not None
        assert kept.sweep == 1.0
        assert planned_runs.terms_of(conn, STORE, Orders(), NOW, 0) is None
        assert planned_runs.terms_of(conn, STORE, Orders(per_day=1, full=True, max_age_h=1.0), NOW, 0) is None


def test_found_are_the_pages_that_were_not_as_known(database: Database) -> None:
    now = clock(database)
    one = visited(database, Outcome.CHANGED, Outcome.NEW, Outcome.UNCHANGED, at=now, lane=Lane.HAZARD.value)
    two = visited(database, Outcome.HELD, Outcome.MISSING, at=now)
    with database.read() as conn:
        assert planned_runs.found(conn, [one, two, 99]) == {one: 1, two: 2}
        assert planned_runs.found(conn, []) == {}
