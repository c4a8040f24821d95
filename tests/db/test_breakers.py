"""What a circuit breaker remembers."""

from __future__ import annotations

from storebot.db import breakers
from storebot.db.breakers import Breaker
from storebot.db.database import Database
from tests.db.shop import NOW, STORE


class TestBreaker:
    def test_a_store_that_never_tripped_it_has_none(self, database: Database) -> None:
        with database.read() as conn:
            assert breakers.load(conn, STORE) == Breaker()

    def test_it_is_remembered_and_replaced(self, database: Database) -> None:
        with database.write() as conn:
            breakers.record(conn, STORE, Breaker("open", NOW, "30 of 40 blocked"))
        with database.write() as conn:
            breakers.record(conn, STORE, Breaker("closed", NOW + 1, ""))
            assert breakers.load(conn, STORE) == Breaker("closed", NOW + 1, "")
