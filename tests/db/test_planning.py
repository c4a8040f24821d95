"""The plan of a refresh, made from the tables: which pages it names, in which lane, and which it never does."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from sqlalchemy import Connection, insert, select

from storebot.core.planner.hazard import Flag
from storebot.core.planner.lanes import Lane
from storebot.core.planner.planned import PlannedRun
from storebot.db import knowledge, views
from storebot.db.database import Database
from storebot.db.following import addresses, date_anew
from storebot.db.knowledge import Memory
from storebot.db.page_columns import load
from storebot.db.page_samples import at_random, in_turn
from storebot.db.planning import make_plan
from storebot.db.schema import catalogue_views, pages, stores
from tests.db.shop import HOUR, NOW, STORE

DAY = 24 * HOUR
KNOWN: dict[str, Any] = {
    "store": STORE,
    "status": "parsed",
    "content_hash": "c",
    "parser_version": "p1",
    "hash_version": 1,
    "checked_at": NOW - DAY,
    "next_due_at": NOW,
}
# Each would be the first to be fetched, if it might be.
NEVER: dict[str, dict[str, Any]] = {
    "retired": {"status": "gone"},
    "delisted": {"misses": 2, "delisted_at": NOW - DAY, "next_due_at": NOW + HOUR},
    "missing": {"misses": 1, "next_due_at": NOW + HOUR},
    "failed a while ago": {"last_failure": "error", "next_due_at": NOW + HOUR},
    "set aside": {"status": "error", "next_due_at": NOW + HOUR},
    "being read": {"status": "in_progress"},
    "new, and failed a while ago": {"status": "error", "content_hash": None, "next_due_at": NOW + HOUR},
    "of another store": {"store": "other"},
}


@pytest.fixture
def conn(database: Database) -> Iterator[Connection]:
    with database.write() as connection:
        connection.execute(insert(stores), [{"name": STORE}])
        yield connection


def add(conn: Connection, count: int = 1, first: int = 1, **values: Any) -> list[int]:
    """Add pages with ids from ``first`` on; a value that is a function is called with the id."""
    rows = []
    for page_id in range(first, first + count):
        own = {name: value(page_id) if callable(value) else value for name, value in values.items()}
        rows.append(KNOWN | {"id": page_id, "url_key": f"https://a/{page_id}", "url": f"https://a/{page_id}"} | own)
    conn.execute(insert(pages), rows)
    return [row["id"] for row in rows]


def plan(conn: Connection, budget: int, **how: Any) -> PlannedRun:
    return make_plan(conn, STORE, budget, **{"now_ms": NOW, "seed": 7, **how})


def test_catalogue_pages_that_are_seen_anyway_are_not_planned(conn: Connection) -> None:
    """What a run's discovery looks at needs no second request; and its cards are then known."""
    add(conn, 60, view_id=lambda page_id: 1 + page_id % 3, listed_at=NOW - DAY)
    assert set(plan(conn, 20).views) == {1, 2, 3}
    assert set(plan(conn, 20, seen=[1, 3, 99]).views) == {2}
    assert plan(conn, 20, seen=[1, 3]).differ < plan(conn, 20).differ


def test_heads_of_the_catalogue_are_the_first_pages_of_each_walk(conn: Connection) -> None:
    row = {"store": STORE, "url": "u", "viewed_at": NOW, "cards": 0, "shown": "[]"}
    rows = [row | {"walk": walk, "number": number} for walk in ("a", "b", "c") for number in (1, 2, 3)]
    conn.execute(insert(catalogue_views), rows)
    found = conn.execute(select(catalogue_views.c.walk, catalogue_views.c.number, catalogue_views.c.id))
    ids = {(walk, number): view_id for walk, number, view_id in found}
    heads = views.of_heads(conn, STORE, views.Heads(("a", "c"), 1, 2))
    assert set(heads) == {ids[walk, number] for walk in ("a", "c") for number in (1, 2)}
    assert views.of_heads(conn, STORE, views.Heads(("a",), 1, 0)) == []


def planned(found: PlannedRun) -> list[int]:
    return [page_id for ids in found.lanes.values() for page_id in ids]


class TestColumns:
    def test_what_is_known_of_each_page_is_read(self, conn: Connection) -> None:
        add(
            conn,
            change_credit=1.5,
            exposure_h=30.0,
            listed_at=NOW - HOUR,
            signal=2,
            category_id=4,
            view_id=9,
            value=3.0,
        )
        add(conn, first=2)
        live = load(conn, STORE, NOW)
        columns = live.columns
        assert live.ids.tolist() == [1, 2]
        hours = [(NOW - DAY) / HOUR, (NOW - HOUR) / HOUR]
        assert (columns.looked[0], columns.listed[0]) == pytest.approx(tuple(hours))
        assert (columns.credit[0], columns.exposure[0], columns.value[0]) == (1.5, 30.0, 3.0)
        assert (columns.flag[0], columns.category[0], columns.listing[0]) == (Flag.LASTMOD, 4, 9)
        assert (columns.listed[1], columns.listing[1], columns.value[1]) == (0.0, -1, 1.0)

    def test_page_that_was_never_read_is_new_and_not_old(self, conn: Connection) -> None:
        add(conn, status="pending", content_hash=None, checked_at=None, next_due_at=0)
        columns = load(conn, STORE, NOW).columns
        assert (columns.flag[0], columns.looked[0]) == (Flag.NEW, pytest.approx(NOW / HOUR))

    @pytest.mark.parametrize("why", NEVER)
    def test_page_that_may_not_be_fetched_is_none(self, conn: Connection, why: str) -> None:
        add(conn, signal=Flag.DIFFERS.value, checked_at=1, **{**{"next_due_at": 0}, **NEVER[why]})
        assert load(conn, STORE, NOW).ids.tolist() == []

    def test_more_rows_than_a_chunk_come_in_the_order_of_their_ids(
        self, conn: Connection, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("storebot.db.page_columns._CHUNK", 3)
        add(conn, 10, next_due_at=lambda page_id: NOW - page_id, change_credit=float)
        live = load(conn, STORE, NOW)
        assert live.ids.tolist() == [*range(1, 11)]
        assert live.columns.credit.tolist() == [*map(float, range(1, 11))]


class TestExact:
    def test_lanes_are_what_is_new_what_is_told_the_oldest_some_at_random_and_the_likeliest(
        self, conn: Connection
    ) -> None:
        add(conn, 100, checked_at=lambda page_id: NOW - DAY - page_id * HOUR, exposure_h=500.0)
        add(conn, 3, first=101, status="pending", content_hash=None, checked_at=None, next_due_at=0)
        add(conn, 2, first=111, signal=Flag.DIFFERS.value)
        often = add(conn, 5, first=121, change_credit=20.0, exposure_h=400.0)
        found = plan(conn, 40)
        assert found.requests == 40
        assert [*found.lanes[Lane.NEW]] == [101, 102, 103]
        assert [*found.lanes[Lane.SIGNAL]] == [111, 112]
        assert [*found.lanes[Lane.SWEEP]] == [*range(100, 90, -1)]
        assert 1 <= len(found.lanes[Lane.AUDIT]) <= 2
        assert set(often) <= set(found.lanes[Lane.HAZARD]) | set(found.lanes[Lane.AUDIT])
        assert len(planned(found)) == len(set(planned(found)))
        assert (found.budget, found.pages) == (40, 107)

    def test_same_seed_gives_the_same_plan_and_another_other_audits(self, conn: Connection) -> None:
        add(conn, 200, checked_at=lambda page_id: NOW - page_id * HOUR)
        one, same, other = (plan(conn, 100, seed=seed) for seed in (7, 7, 8))
        assert one == same
        assert one.lanes[Lane.AUDIT] != other.lanes[Lane.AUDIT]

    @pytest.mark.parametrize("why", NEVER)
    def test_page_that_may_not_be_fetched_is_in_no_plan(self, conn: Connection, why: str) -> None:
        add(conn, signal=Flag.DIFFERS.value, checked_at=1, **{**{"next_due_at": 0}, **NEVER[why]})
        add(conn, 3, first=11)
        assert sorted(planned(plan(conn, 10))) == [11, 12, 13]

    def test_what_is_away_is_asked_by_its_own_date_and_never_by_much_of_the_budget(self, conn: Connection) -> None:
        add(conn, 60)
        add(conn, 30, first=101, misses=2, delisted_at=NOW - 9 * DAY, next_due_at=lambda page_id: NOW - page_id)
        found = plan(conn, 40)
        assert [*found.lanes[Lane.DUE]] == [130, 129, 128, 127]
        assert found.requests == 40
        assert len(plan(conn, 1).lanes[Lane.DUE]) == 1

    def test_budget_that_is_larger_than_the_store_takes_it_whole(self, conn: Connection) -> None:
        add(conn, 10)
        assert sorted(planned(plan(conn, 50))) == [*range(1, 11)]

    @pytest.mark.parametrize("budget", [0, 1, 2, 5])
    def test_small_budget_is_kept(self, conn: Connection, budget: int) -> None:
        add(conn, 50)
        add(conn, 5, first=101, misses=1)
        assert plan(conn, budget).requests == budget

    def test_store_without_pages_has_an_empty_plan(self, conn: Connection) -> None:
        assert planned(plan(conn, 10)) == []

    def test_share_of_the_sweep_is_the_callers(self, conn: Connection) -> None:
        add(conn, 100)
        found = plan(conn, 20, sweep=1.0, audit=0.0)
        assert {lane: len(ids) for lane, ids in found.lanes.items()} == {Lane.SWEEP: 20}

    def test_catalogue_pages_that_show_much_are_views(self, conn: Connection) -> None:
        view = {"store": STORE, "walk": "w", "url": "https://a/c/1", "shown": "", "viewed_at": NOW - DAY}
        conn.execute(insert(catalogue_views), [view | {"id": 5, "number": 1}])
        add(conn, 200, view_id=5, listed_at=NOW - DAY, change_credit=5.0, exposure_h=200.0)
        found = plan(conn, 40)
        assert [*found.views] == [5]
        assert found.requests == 40
        assert addresses(conn, found.views) == [(5, "https://a/c/1")]
        assert addresses(conn, [99]) == []

    def test_signals_raise_what_is_expected(self, conn: Connection) -> None:
        add(conn, 100, exposure_h=2000.0)
        calm = plan(conn, 20)
        add(conn, 10, first=201, signal=Flag.DIFFERS.value)
        told = plan(conn, 20)
        assert told.differ == pytest.approx(calm.differ + 9.9, abs=0.01)
        assert calm.finds < calm.differ
        assert told.finds > 9.9

    def test_due_dates_are_worked_out_by_what_the_budget_can_bear(self, conn: Connection) -> None:
        add(conn, 500, exposure_h=500.0, change_credit=1.0)
        much, little, hourly = plan(conn, 200), plan(conn, 20), plan(conn, 20, every_h=1.0)
        assert much.threshold < little.threshold
        assert hourly.threshold < little.threshold

    def test_value_of_a_page_is_weighed(self, conn: Connection) -> None:
        add(conn, 100, exposure_h=500.0, value=lambda page_id: 50.0 if page_id <= 10 else 1.0)
        found = plan(conn, 20, sweep=0.0, audit=0.0)
        assert set(range(1, 11)) <= set(found.lanes[Lane.HAZARD])


class TestFull:
    def test_everything_known_is_swept_the_oldest_first(self, conn: Connection) -> None:
        add(conn, 5, checked_at=lambda page_id: NOW - page_id * HOUR, next_due_at=NOW + 9 * DAY)
        add(conn, 1, first=11, status="pending", content_hash=None, checked_at=None, next_due_at=0)
        add(conn, 1, first=21, misses=1)
        add(conn, 1, first=31, **NEVER["delisted"])
        found = plan(conn, 0, full=True)
        assert {lane: [*ids] for lane, ids in found.lanes.items()} == {
            Lane.SWEEP: [5, 4, 3, 2, 1],
            Lane.NEW: [11],
            Lane.DUE: [21],
        }
        assert (found.budget, found.finds) == (0, found.differ)


class TestLarge:
    """A store that is too large to be weighed page by page."""

    def draw(self, conn: Connection, budget: int, **how: Any) -> PlannedRun:
        return plan(conn, budget, exact_most=100, **how)

    def test_lanes_and_budget_are_as_in_a_small_one(self, conn: Connection) -> None:
        long_ago = NOW - 90 * DAY
        add(conn, 300, checked_at=long_ago, next_due_at=lambda page_id: NOW + page_id * HOUR, exposure_h=500.0)
        add(conn, 3, first=401, status="pending", content_hash=None, checked_at=None, next_due_at=0)
        add(conn, 2, first=411, signal=Flag.DIFFERS.value, next_due_at=0)
        found = self.draw(conn, 40)
        assert found.requests == 40
        assert [*found.lanes[Lane.NEW]] == [401, 402, 403]
        assert [*found.lanes[Lane.SIGNAL]] == [411, 412]
        assert [*found.lanes[Lane.SWEEP]] == [*range(1, 11)]
        assert len(planned(found)) == len(set(planned(found)))
        assert found == self.draw(conn, 40)

    @pytest.mark.parametrize("why", NEVER)
    def test_page_that_may_not_be_fetched_is_in_no_plan(self, conn: Connection, why: str) -> None:
        add(conn, signal=Flag.DIFFERS.value, checked_at=1, **{**{"next_due_at": 0}, **NEVER[why]})
        add(conn, 150, first=11)
        assert 1 not in planned(self.draw(conn, 140))

    def test_losers_are_due_anew_and_winners_keep_their_date(self, conn: Connection) -> None:
        add(conn, 300, next_due_at=lambda page_id: NOW - page_id, exposure_h=500.0)
        found = self.draw(conn, 20)
        losers = dict(found.due_anew)
        # Four times the budget was weighed, but for what the floor has; what isn't chosen waits for an hour at least.
        assert len(losers) + len(found.lanes[Lane.HAZARD]) >= 75
        assert losers.keys().isdisjoint(planned(found))
        assert min(losers.values()) >= NOW + HOUR
        date_anew(conn, found.due_anew)
        again = self.draw(conn, 20)
        assert losers.keys().isdisjoint(again.lanes[Lane.HAZARD])  # the head of the queue is others'

    def test_sweep_comes_to_every_page_in_turn(self, conn: Connection) -> None:
        """The floor: what no signal and no rate names is looked at all the same."""
        ids = add(conn, 120, checked_at=NOW - 90 * DAY, exposure_h=5000.0)
        seen: set[int] = set()
        memory = Memory()
        for _ in range(6):
            found = self.draw(conn, 80)
            assert len(found.lanes[Lane.SWEEP]) == 20
            seen.update(found.lanes[Lane.SWEEP])
            memory.sweep_after = found.sweep_after
            knowledge.save(conn, STORE, memory, ())
        assert seen == set(ids)

    def test_page_that_was_looked_at_lately_needs_no_sweep(self, conn: Connection) -> None:
        add(conn, 300, checked_at=NOW - DAY)
        found = self.draw(conn, 40)
        assert Lane.SWEEP not in found.lanes
        assert found.requests == 40

    def test_turn_begins_anew_behind_the_last_page_and_passes_over_what_was_just_seen(self, conn: Connection) -> None:
        add(conn, 10, checked_at=lambda page_id: NOW if page_id in (2, 9) else NOW - 9 * DAY)
        live, last = in_turn(conn, STORE, NOW, 7, 5, NOW - DAY)
        assert live.ids.tolist() == [1, 3, 4, 8, 10]
        assert last == 4

    def test_pages_at_random_are_each_as_likely(self, conn: Connection) -> None:
        add(conn, 40)
        add(conn, 40, first=101, **NEVER["of another store"])
        rng, times = np.random.default_rng(3), np.zeros(41)
        for _ in range(200):
            times[at_random(conn, STORE, NOW, 10, rng).ids] += 1
        assert times[0] == 0
        assert times[1:].min() > 25  # 50 expected, each with a deviation of 6
        assert times[1:].max() < 75


def test_who_makes_no_plan_does_not_wait_for_numpy() -> None:
    modules = "storebot.run, storebot.spiders.refresh, storebot.spiders.backfill, storebot.commands.crawl"
    code = f"import sys, {modules}; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
