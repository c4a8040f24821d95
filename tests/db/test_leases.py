"""The lease of a store: one run at a time."""

from __future__ import annotations

import threading
from dataclasses import replace
from functools import partial

import pytest

from storebot.db import leases
from storebot.db.database import Database
from storebot.db.holders import Holder, is_alive, this_process
from storebot.db.retry import retrying
from storebot.exceptions import LeaseLost, StoreBusy
from tests.db.shop import STORE, alive


def take(database: Database, token: str, holder: Holder | None = None, ttl_s: float = 60) -> leases.Taken:
    with database.write() as conn:
        return leases.take(conn, STORE, token, holder or this_process(), ttl_s, is_alive)


class TestLease:
    def test_a_second_run_is_refused_and_told_who_has_it_until_when(self, database: Database) -> None:
        take(database, "first")
        with pytest.raises(StoreBusy, match=rf"process {this_process().pid} on .* until 2\d{{3}}-.* UTC") as busy:
            take(database, "second")
        assert busy.value.exit_code == 7

    def test_another_store_is_free(self, database: Database) -> None:
        take(database, "first")
        with database.write() as conn:
            leases.take(conn, "other", "second", this_process(), 60, alive)

    def test_a_released_lease_is_free(self, database: Database) -> None:
        take(database, "first")
        with database.write() as conn:
            leases.release(conn, STORE, "first")
        assert take(database, "second") == leases.Taken(None)

    def test_an_expired_lease_is_taken_over_with_the_number_of_its_run(self, database: Database) -> None:
        take(database, "first", ttl_s=-1)
        with database.write() as conn:
            leases.note_run(conn, STORE, "first", 42)
        assert take(database, "second") == leases.Taken(42)

    def test_a_holder_that_died_on_this_host_loses_it_at_once(self, database: Database) -> None:
        take(database, "first", replace(this_process(), started="1"))
        take(database, "second")

    def test_a_holder_on_another_host_keeps_it_till_it_expires(self, database: Database) -> None:
        take(database, "first", replace(this_process(), host="elsewhere", started="1"))
        with pytest.raises(StoreBusy, match="elsewhere"):
            take(database, "second")

    def test_who_lost_it_can_neither_write_nor_extend_nor_release(self, database: Database) -> None:
        take(database, "first", ttl_s=-1)
        take(database, "second")
        for verb in (leases.check, partial(leases.extend, ttl_s=60), partial(leases.note_run, run_id=1)):
            with pytest.raises(LeaseLost), database.write() as conn:
                verb(conn, STORE, "first")
        with database.write() as conn:
            leases.release(conn, STORE, "first")
            leases.check(conn, STORE, "second")

    def test_an_extended_lease_lasts(self, database: Database) -> None:
        take(database, "first", ttl_s=-1)
        with database.write() as conn:
            leases.extend(conn, STORE, "first", 60)
        with pytest.raises(StoreBusy):
            take(database, "second")

    @pytest.mark.parametrize("token", ["", "unknown"])
    def test_a_token_that_never_had_it_is_refused(self, database: Database, token: str) -> None:
        with pytest.raises(LeaseLost), database.write() as conn:
            leases.check(conn, STORE, token)

    def test_of_many_that_come_at_once_one_gets_it(self, database: Database) -> None:
        start, results = threading.Barrier(4), []

        def work(token: str) -> None:
            start.wait()
            try:
                retrying(database, lambda conn: leases.take(conn, STORE, token, this_process(), 60, alive))
                results.append("taken")
            except StoreBusy:
                results.append("busy")

        threads = [threading.Thread(target=work, args=(str(number),)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(results) == ["busy", "busy", "busy", "taken"]
