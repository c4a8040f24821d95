"""What a batch spent is added up in its transaction, by day, tier and type of page."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import pytest
from sqlalchemy import Connection, column, insert, table

from storebot.core.cost_report import Line, PageCost
from storebot.core.month import DAY_MS, Month
from storebot.db import spending
from storebot.db.database import Database, upgrade
from storebot.db.saver import Saver
from storebot.db.schema import runs, visits
from storebot.items import CatalogPage, Expense, Outcome, Outlay, PageType, Target, Tier, Visit
from tests.db.shop import NOW, STORE, Worker, parsed

TODAY = NOW // DAY_MS
PRICED = {Tier.API: "EUR"}


def visit(name: str = "1", at: int = NOW, tier: Tier = Tier.HTTP, **spent: Any) -> Visit:
    """Return the visit of a product page."""
    key = f"https://shop.example/p/{name}"
    return Visit(target=Target(store=STORE, url=key, url_key=key, page_id=7), at_ms=at, tier=tier.value, **spent)


def outlay(page_type: str = "sitemap", at: int = NOW, **spent: Any) -> Outlay:
    """Return a request of discovery."""
    tier = spent.pop("tier", Tier.HTTP)
    return Outlay(store=STORE, at_ms=at, tier=tier, page_type=page_type, expense=Expense(requests=1, **spent))


def added(database: Database, *records: Any, store: str = STORE) -> list[Line]:
    with database.write() as conn:
        spending.add(conn, store, PRICED, records)
    with database.read() as conn:
        return spending.lines(conn)


class TestOnEachBackend:
    def test_visits_of_one_day_are_one_row_and_the_next_batch_is_added_to_it(self, database: Database) -> None:
        one = added(database, visit(requests=2, size_bytes=10, elapsed_ms=5), visit(requests=1, size_bytes=1))
        assert one == [Line(STORE, TODAY, "http", "product", "", 2, Expense(3, 11, 5))]
        two = added(database, visit(requests=4, size_bytes=2**40))
        assert two == [Line(STORE, TODAY, "http", "product", "", 3, Expense(7, 11 + 2**40, 5))]

    def test_days_tiers_types_and_stores_stand_apart(self, database: Database) -> None:
        added(database, visit(), visit(at=NOW + DAY_MS), outlay(), outlay("robots"))
        found_lines = added(database, visit(tier=Tier.API, billed=1, cost_micro=2_100), store="other")
        assert [(line.store, line.day - TODAY, line.tier, line.page_type, line.visits) for line in found_lines] == [
            ("other", 0, "api", "product", 1),
            (STORE, 0, "http", "product", 1),
            (STORE, 0, "http", "robots", 0),
            (STORE, 0, "http", "sitemap", 0),
            (STORE, 1, "http", "product", 1),
        ]
        assert [line.currency for line in found_lines] == ["EUR", "", "", "", ""]

    def test_an_escalated_visit_is_shared_among_its_tiers_and_counts_as_one_of_the_last(
        self, database: Database
    ) -> None:
        by_tier = {Tier.HTTP: Expense(2, 30), Tier.API: Expense(1, 70, billed=1, cost_micro=2_100)}
        lines = added(database, visit(tier=Tier.API, requests=3, size_bytes=100, by_tier=by_tier))
        assert lines == [
            Line(STORE, TODAY, "api", "product", "EUR", 1, by_tier[Tier.API]),
            Line(STORE, TODAY, "http", "product", "", 0, by_tier[Tier.HTTP]),
        ]

    def test_what_took_no_request_is_no_spending(self, database: Database) -> None:
        page = CatalogPage(store=STORE, walk="w", number=1, url="u", at_ms=NOW, found=())
        blocked = Target(store=STORE, url="u", url_key="u", page_type=PageType.CATALOGUE)
        in_the_ledger = Visit(target=blocked, at_ms=NOW, outcome=Outcome.BLOCKED, requests=2)  # an Outlay tells of it
        assert added(database, visit(requests=0), page, in_the_ledger) == []

    def test_a_month_is_what_its_days_spent_and_money_only_in_todays_currency(self, database: Database) -> None:
        month = Month.at(NOW)
        inside = [visit(at=month.start_ms), visit(at=month.end_ms - 1)]
        paid = [
            visit(at=NOW, tier=Tier.API, cost_micro=2_100),
            visit(at=month.end_ms, tier=Tier.API, cost_micro=5_000),
        ]
        added(database, *inside, *paid, visit(at=month.start_ms - 1))
        with database.read() as conn:
            assert spending.spent_on(conn, STORE, month.days, "EUR") == Expense(requests=3, cost_micro=2_100)
            assert spending.spent_on(conn, STORE, month.days, "USD") == Expense(requests=3)
            assert spending.spent_on(conn, "other", month.days, "EUR") == Expense()
            assert len(spending.lines(conn, STORE, month.days)) == 3
            assert spending.lines(conn, "other") == []

    def test_the_dearest_pages_come_first_and_then_the_largest(self, database: Database) -> None:
        shop = Worker(database)
        shop.discover("1", "2", "3")
        one, two, three = shop.pending()
        shop.save(
            parsed(one, requests=1, size_bytes=900),
            parsed(two, requests=3, size_bytes=5, cost_micro=10, tier="api"),
            parsed(three, requests=1, size_bytes=1_000),
        )
        with database.read() as conn:
            pages = spending.dearest(conn, STORE, NOW, NOW + 1, 2)
            assert spending.dearest(conn, STORE, NOW + 1, NOW + 2, 2) == []
        assert pages == [
            PageCost(two.url, "product", "api", 1, 0, Expense(3, 5, cost_micro=10)),
            PageCost(three.url, "product", "http", 1, 0, Expense(1, 1_000)),
        ]

    def test_calls_that_were_billed_and_brought_no_page_are_counted(self, database: Database) -> None:
        common = {
            "store": STORE, "page_id": 1, "page_type": "product", "http_status": 200, "reason": "", "requests": 2,
            "bytes": 0, "elapsed_ms": 0, "rows_written": 0, "changes": 0, "at": NOW,
        }  # fmt: skip
        looked = [
            ("api", "new", 1),
            ("api", "changed", 3),
            ("api", "blocked", 2),
            ("http", "error", 1),
            ("http", "new", 0),
        ]
        with database.write() as conn:
            run = {"store": STORE, "kind": "refresh", "status": "complete", "started_at": NOW}
            (run_id,) = conn.execute(insert(runs).values(run)).inserted_primary_key or (0,)
            rows = [
                {**common, "run_id": run_id, "tier": tier, "outcome": outcome, "billed": billed}
                for tier, outcome, billed in looked
            ]
            conn.execute(insert(visits), rows)
            assert spending.failed_calls(conn, STORE, NOW, NOW + 1) == 2 + 1
            assert spending.failed_calls(conn, None, NOW, NOW + 1) == 3
            assert spending.failed_calls(conn, "other", NOW, NOW + 1) == 0

    def test_two_writers_lose_nothing(self, database: Database) -> None:
        """Two stores' runs, or one that was taken over, may write one row at the same time."""

        def write() -> None:
            for _ in range(10):
                with database.write() as conn:
                    spending.add(conn, STORE, {}, [visit()])

        threads = [threading.Thread(target=write) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        with database.read() as conn:
            (line,) = spending.lines(conn)
        assert (line.visits, line.expense.requests) == (30, 30)


class _Spoiled(OverflowError):
    """As a driver refuses a value: the batch is saved once more, record by record."""


@pytest.mark.parametrize("backend", ["sqlite"], indirect=True)
def test_a_batch_that_is_saved_anew_is_added_once(database: Database) -> None:
    """What a transaction spent is made of its records: rolled back, it left nothing."""
    tries = []

    def save(conn: Connection, records: Sequence[Visit]) -> list[Visit]:
        spending.add(conn, STORE, {}, records)
        tries.append(len(records))
        if len(tries) == 1:
            raise _Spoiled("a value doesn't fit")
        return [*records]

    saver = Saver(database, save, on_saved=lambda _: None, on_failed=lambda _: None)
    saver.submit(visit())
    saver.submit(visit())
    saver.close()
    with database.read() as conn:
        (line,) = spending.lines(conn)
    assert (tries, line.expense.requests) == ([2, 1, 1], 2)


def test_what_was_spent_before_there_was_the_table_is_added_up_by_its_migration(empty_url: str) -> None:
    """On each backend: of product pages, for the visits that told it then."""
    from alembic import command
    from alembic.config import Config

    upgrade(empty_url)
    database = Database.open(empty_url)
    visit_row: dict[str, Any] = {
        "run_id": 1, "store": STORE, "page_id": 1, "outcome": "new", "http_status": 200, "reason": "", "tier": "http",
        "bytes": 2**33, "elapsed_ms": 7, "rows_written": 0, "changes": 0, "page_type": "product", "requests": 2,
    }  # fmt: skip
    told: list[dict[str, Any]] = [
        {"at": TODAY * DAY_MS},
        {"at": TODAY * DAY_MS + DAY_MS - 1},
        {"at": (TODAY + 1) * DAY_MS},
        {"at": NOW, "page_type": "catalogue"},
        {"at": NOW, "requests": 0},
    ]
    config = Config()
    config.set_main_option("script_location", "storebot.db:migrations")
    with database.write() as conn:
        config.attributes["connection"] = conn
        command.downgrade(config, "0005")
        columns = [column.name for column in visits.c if column.name not in ("id", *_ADDED)]
        before = table("visits", *map(column, columns))
        conn.execute(insert(before), [{**visit_row, **one} for one in told])
    with database.write() as conn:
        config.attributes["connection"] = conn
        command.upgrade(config, "head")
        lines = spending.lines(conn)
    database.dispose()
    assert lines == [
        Line(STORE, TODAY, "http", "product", "", 2, Expense(4, 2**34, 14)),
        Line(STORE, TODAY + 1, "http", "product", "", 1, Expense(2, 2**33, 7)),
    ]


_ADDED = ("browser_ms", "billed", "cost_micro", "steps")
