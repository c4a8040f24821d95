"""Dates that a plan gave, and what becomes of them when there is no plan any more."""

from __future__ import annotations

import pytest
from sqlalchemy import select, update

from storebot.db.database import Database
from storebot.db.following import take_back
from storebot.db.schema import pages, runs
from tests.db.shop import HOUR, NOW, STORE, Worker, parsed

FAR = NOW + 2_000 * HOUR


def planned(database: Database, *names: str, plan: str | None = '{"requests": 3}') -> Worker:
    """Return a store of read pages that are all due months ahead, after a refresh with this plan."""
    shop = Worker(database, kind="refresh")
    shop.discover(*names)
    shop.save(*(parsed(target, at=NOW) for target in shop.pending()))
    with database.write() as conn:
        conn.execute(update(runs).where(runs.c.id == shop.run.run_id).values(plan=plan))
        conn.execute(update(pages).values(next_due_at=FAR))
    return shop


def due(database: Database) -> dict[str, int]:
    with database.read() as conn:
        return {row.url_key[-1:]: row.next_due_at for row in conn.execute(select(pages))}


def test_a_refresh_without_a_plan_asks_by_the_interval_again(database: Database) -> None:
    """Else who tried a budget once would wait months for what hardly changes."""
    shop = planned(database, "a", "b")
    with database.write() as conn:
        assert take_back(conn, STORE, shop.run.run_id + 1, HOUR) == 2
    assert due(database) == {"a": NOW + HOUR, "b": NOW + HOUR}


@pytest.mark.parametrize(
    "values",
    [{"delisted_at": NOW}, {"misses": 1}, {"last_failure": "blocked"}],
    ids=["delisted", "missing", "not-observed"],
)
def test_dates_that_no_plan_gave_stay(database: Database, values: dict[str, object]) -> None:
    shop = planned(database, "a", "b")
    with database.write() as conn:
        conn.execute(update(pages).where(pages.c.url_key.like("%a")).values(values))
        assert take_back(conn, STORE, shop.run.run_id + 1, HOUR) == 1
    assert due(database) == {"a": FAR, "b": NOW + HOUR}


def test_nothing_is_touched_after_a_refresh_that_had_no_plan(database: Database) -> None:
    shop = planned(database, "a", plan=None)
    with database.write() as conn:
        assert take_back(conn, STORE, shop.run.run_id + 1, HOUR) == 0
    assert due(database) == {"a": FAR}
