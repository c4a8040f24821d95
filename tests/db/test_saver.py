"""Group commit: in batches, in order, all of it or nothing, and never in silence."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

import pymysql.err
import pytest
from sqlalchemy import Connection, insert, text
from sqlalchemy.exc import OperationalError

from storebot.db import leases, visits
from storebot.db.database import Database
from storebot.db.holders import this_process
from storebot.db.saved import Saved
from storebot.db.saver import Saver
from storebot.db.schema import listings, pages, stores
from storebot.exceptions import LeaseLost, SaveFailed, StorebotError
from storebot.items import CatalogPage, Outcome, Record
from tests.db.shop import NOW, STORE, Worker, alive, counted, found, listing, parsed

Save = Callable[[Connection, Sequence[Any]], Sequence[Any]]


class Kept:
    """A saver, and what it told."""

    def __init__(self, database: Database, save: Save, **options: Any) -> None:
        self.saved: list[list[Any]] = []
        self.failures: list[StorebotError] = []
        self.told = threading.Event()
        self.saver: Saver[Any, Any] = Saver(
            database, save, on_saved=self._on_saved, on_failed=self._on_failed, **{"waits_s": (0, 0), **options}
        )

    def _on_saved(self, saved: Sequence[Any]) -> None:
        self.saved.append(list(saved))
        self.told.set()

    def _on_failed(self, error: StorebotError) -> None:
        self.failures.append(error)
        self.told.set()

    def end(self) -> None:
        with suppress(StorebotError):  # it's in `failures`, where a test looks
            self.saver.close()


def names(conn: Connection, records: Sequence[str]) -> Sequence[str]:
    conn.execute(insert(stores), [{"name": name} for name in records])
    return records


@pytest.fixture
def made() -> Iterator[Callable[..., Kept]]:
    kept: list[Kept] = []

    def make(*args: Any, **options: Any) -> Kept:
        kept.append(Kept(*args, **options))
        return kept[-1]

    yield make
    for one in kept:
        one.end()


Make = Callable[..., Kept]


class TestSaver:
    def test_a_full_batch_is_one_commit_and_the_rest_comes_at_the_end(self, database: Database, made: Make) -> None:
        kept = made(database, names, max_rows=3, max_wait_s=60)
        for name in "abcdefgh":
            kept.saver.submit(name)
        kept.saver.close()
        assert kept.saved == [["a", "b", "c"], ["d", "e", "f"], ["g", "h"]]
        assert kept.saver.pending == 0

    def test_a_batch_that_does_not_fill_is_committed_in_time(self, database: Database, made: Make) -> None:
        kept = made(database, names, max_rows=100, max_wait_s=0.01)
        kept.saver.submit("a")
        assert kept.told.wait(10)
        assert kept.saved == [["a"]]

    def test_a_call_sees_everything_that_was_submitted_before_it(self, database: Database, made: Make) -> None:
        kept = made(database, names, max_rows=100, max_wait_s=60)
        kept.saver.submit("a")
        kept.saver.submit("b")
        assert kept.saver.call(counted, stores).result(10) == 2
        assert kept.saved == [["a", "b"]]

    def test_a_call_that_raises_tells_its_caller_and_saving_goes_on(self, database: Database, made: Make) -> None:
        def fail(conn: Connection) -> None:
            raise LeaseLost("gone")

        kept = made(database, names)
        with pytest.raises(LeaseLost):
            kept.saver.call(fail).result(10)
        kept.saver.submit("a")
        kept.saver.flush()
        assert (kept.saved, kept.failures) == ([["a"]], [])

    def test_pending_counts_what_is_not_committed(self, database: Database, made: Make) -> None:
        hold = threading.Event()

        def held(conn: Connection, records: Sequence[str]) -> Sequence[str]:
            assert hold.wait(10)
            return records

        kept = made(database, held, max_rows=1)
        kept.saver.submit("a")
        kept.saver.submit("b")
        assert kept.saver.pending == 2
        hold.set()
        kept.saver.flush()
        assert kept.saver.pending == 0

    def test_an_error_that_passes_costs_nothing(self, database: Database, made: Make) -> None:
        """T08: the whole transaction is done again."""
        tries: list[int] = []

        def locked_twice(conn: Connection, records: Sequence[str]) -> Sequence[str]:
            tries.append(1)
            names(conn, records)
            if len(tries) < 3:
                raise OperationalError("…", {}, pymysql.err.OperationalError(1213, "Deadlock found"))
            return records

        kept = made(database, locked_twice, max_rows=2)
        kept.saver.submit("a")
        kept.saver.submit("b")
        kept.saver.flush()
        assert kept.saved == [["a", "b"]]
        with database.read() as conn:
            assert counted(conn, stores) == 2

    def test_a_failure_is_told_once_and_nothing_after_it_is_taken(self, database: Database, made: Make) -> None:
        """T09: never 'finished' with items lost."""

        def broken(conn: Connection, records: Sequence[str]) -> Sequence[str]:
            names(conn, records)
            if "c" in records:
                conn.execute(text("SELECT * FROM no_such_table"))
            return records

        kept = made(database, broken, max_rows=2, max_wait_s=60)
        for name in "abcdef":
            kept.saver.submit(name)
        with pytest.raises(SaveFailed, match="no_such_table"):
            kept.saver.flush()
        kept.saver.submit("g")
        with pytest.raises(SaveFailed):
            kept.saver.call(counted, stores).result(10)
        with pytest.raises(SaveFailed):
            kept.saver.close()
        assert kept.saved == [["a", "b"]]
        assert len(kept.failures) == 1
        assert (kept.saver.lost, kept.saver.pending) == (5, 0)
        with database.read() as conn:
            assert counted(conn, stores) == 2, "c and d were rolled back whole"

    def test_a_bug_in_a_listener_stops_the_crawl_instead_of_hanging_it(self, database: Database) -> None:
        failures: list[StorebotError] = []

        def on_saved(saved: Sequence[str]) -> None:
            raise ZeroDivisionError

        saver = Saver(database, names, on_saved=on_saved, on_failed=failures.append)
        saver.submit("a")
        with pytest.raises(SaveFailed, match="ZeroDivisionError"):
            saver.close()
        assert len(failures) == 1

    def test_after_closing_it_takes_nothing(self, database: Database, made: Make) -> None:
        kept = made(database, names)
        kept.saver.close()
        kept.saver.submit("a")
        assert kept.saver.lost == 1
        with pytest.raises(SaveFailed, match="closed"):
            kept.saver.call(counted, stores).result(10)
        kept.saver.close()


class TestWithVisits:
    def saver(self, made: Make, worker: Worker) -> Kept:
        def save(conn: Connection, records: Sequence[Record]) -> list[Saved]:
            return visits.save(conn, worker.run, records)

        return made(worker.database, save, max_rows=50, max_wait_s=60, refused=visits.refused)

    @pytest.mark.parametrize("spoiled", [{"name": "Mug \ud800"}, {"price_minor": 2**70}, {"options": {"a": "\udfff"}}])
    def test_one_bad_row_does_not_lose_the_other_49(
        self, database: Database, made: Make, spoiled: dict[str, Any]
    ) -> None:
        """T07: and it's reported."""
        worker = Worker(database)
        worker.discover(*(f"{number:02}" for number in range(50)))
        kept = self.saver(made, worker)
        targets = worker.pending()
        for number, target in enumerate(targets):
            one = listing(**(spoiled if number == 20 else {}))
            kept.saver.submit(parsed(target, one))
        kept.saver.flush()
        outcomes = [saved.outcome for saved in kept.saved[0]]
        assert outcomes.count(Outcome.NEW) == 49
        assert outcomes[20] is Outcome.INVALID
        assert "refused its values" in kept.saved[0][20].reason
        assert len(worker.rows(listings)) == 49
        assert worker.rows(pages)[20]["status"] == "error"

    def test_a_page_of_a_walk_that_is_refused_stops_the_crawl(self, database: Database, made: Make) -> None:
        worker = Worker(database)
        kept = self.saver(made, worker)
        kept.saver.submit(
            CatalogPage(store=STORE, walk="w", number=1, url="\ud800", at_ms=NOW, found=tuple(found("1")))
        )
        with pytest.raises(SaveFailed, match="refused a record"):
            kept.saver.flush()
        assert worker.rows(pages) == []

    def test_a_lost_lease_is_what_it_is(self, database: Database, made: Make) -> None:
        worker = Worker(database)
        worker.discover("1")
        kept = self.saver(made, worker)
        (target,) = worker.pending()
        with database.write() as conn:
            leases.extend(conn, STORE, "lease", -1)
            leases.take(conn, STORE, "successor", this_process(), 60, alive)
        kept.saver.submit(parsed(target))
        with pytest.raises(LeaseLost):
            kept.saver.flush()
        assert [type(failure) for failure in kept.failures] == [LeaseLost]
        assert worker.rows(listings) == []


def test_the_database_thread_never_needs_the_one_that_submits(sqlite_url: str) -> None:
    database = Database.open(sqlite_url)
    main = threading.get_ident()
    threads: set[int] = set()

    def note(conn: Connection, records: Sequence[str]) -> Sequence[str]:
        threads.add(threading.get_ident())
        return records

    saver = Saver(database, note, on_saved=lambda _: None, on_failed=partial(pytest.fail, pytrace=True), max_rows=1)
    for name in "abc":
        saver.submit(name)
    saver.close()
    assert len(threads) == 1
    assert main not in threads
    database.dispose()


def test_what_waits_is_weighed(database: Database, made: Make) -> None:
    """A thousand records that each name a thousand pages aren't a thousand records in memory."""
    hold, went_on = threading.Event(), threading.Event()

    def save(conn: Connection, records: Sequence[str]) -> Sequence[str]:
        went_on.set()
        hold.wait(10)
        return records

    kept = made(database, save, weight=len, max_wait_s=0)
    kept.saver.submit("four")
    assert went_on.wait(10)
    kept.saver.submit("seven77")
    assert kept.saver.pending == 11
    hold.set()
    kept.saver.flush()
    assert kept.saver.pending == 0
