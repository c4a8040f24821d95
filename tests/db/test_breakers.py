"""What a store's circuit breaker remembers, and what a run that begins may do by it."""

from __future__ import annotations

import pytest

from storebot.core.breaker import Breaker, State, opened
from storebot.core.pacing import Pace
from storebot.db import breakers
from storebot.db.database import Database
from storebot.db.dialects import now_ms
from storebot.exceptions import BreakerOpen, ConfigurationError, ExitCode
from tests.db.shop import HOUR, NOW, STORE, Worker


class TestBreaker:
    def test_a_store_that_never_tripped_it_has_a_closed_one(self, database: Database) -> None:
        with database.read() as conn:
            assert breakers.load(conn, STORE) == Breaker()
            assert breakers.not_closed(conn) == {}

    def test_it_is_remembered_and_replaced(self, database: Database) -> None:
        open_ = Breaker(State.OPEN, NOW, NOW + HOUR, 3, "30 of 40 blocked: »nein«")
        with database.write() as conn:
            breakers.record(conn, STORE, open_)
            breakers.record(conn, "other", Breaker(State.HALF_OPEN, NOW, NOW, 1, "503"))
        with database.write() as conn:
            assert breakers.load(conn, STORE) == open_
            assert list(breakers.not_closed(conn)) == ["other", STORE]
            assert breakers.not_closed(conn, STORE) == {STORE: open_}
            breakers.record(conn, STORE, open_._replace(state=State.CLOSED))
            assert list(breakers.not_closed(conn)) == ["other"]

    def test_run_is_turned_away_until_the_cool_down_is_over_and_then_probes(self, database: Database) -> None:
        with database.write() as conn:
            now = now_ms(conn)
            breakers.record(conn, STORE, opened(Breaker(), now, "10 of 10 visits were blocked", chance=0.5))
        with database.write() as conn, pytest.raises(BreakerOpen) as error:
            breakers.ask(conn, STORE, "refresh")
        assert error.value.exit_code is ExitCode.BLOCKED
        assert "shop: its circuit breaker is open until " in str(error.value)
        assert "because 10 of 10 visits were blocked; no request was sent" in str(error.value)
        assert 'scrapy crawl refresh -a store=shop -a force="WHO: WHY"' in str(error.value)
        with database.write() as conn:
            breakers.record(conn, STORE, breakers.load(conn, STORE)._replace(until=now - 1))
            asked, overridden = breakers.ask(conn, STORE, "refresh")
            assert (asked.state, overridden) == (State.HALF_OPEN, ())
            assert breakers.load(conn, STORE) == asked

    def test_run_of_a_store_whose_breaker_is_closed_goes_on_and_needs_no_force(self, database: Database) -> None:
        with database.write() as conn:
            assert breakers.ask(conn, STORE, "refresh", "ann: because") == (Breaker(), ())

    def test_force_makes_it_probe_now_and_is_noted(self, database: Database) -> None:
        with database.write() as conn:
            breakers.record(conn, STORE, opened(Breaker(), now_ms(conn), "503", chance=0.5))
            asked, (override,) = breakers.ask(conn, STORE, "backfill", "Ann: they lifted it")
        assert asked.state is State.HALF_OPEN
        assert override.sentence() == "the open circuit breaker isn't waited for (503) (Ann: they lifted it)"

    def test_reset_has_the_next_run_probe_at_once_as_if_it_had_never_opened(self, database: Database) -> None:
        with database.write() as conn:
            breakers.record(conn, STORE, Breaker(State.OPEN, NOW, now_ms(conn) + HOUR, 4, "503"))
            before = breakers.reset(conn, STORE, "ann", "they lifted it")
            assert (before.state, before.trips) == (State.OPEN, 4)
            assert breakers.load(conn, STORE) == Breaker(
                State.HALF_OPEN, NOW, 0, 0, "503; reset by ann: they lifted it"
            )
            asked, overridden = breakers.ask(conn, STORE, "refresh")
            assert (asked.state, overridden) == (State.HALF_OPEN, ())  # one request, not all of them

    @pytest.mark.parametrize("state", [State.CLOSED, State.HALF_OPEN])
    def test_what_is_not_open_is_not_reset(self, database: Database, state: State) -> None:
        with database.write() as conn:
            breakers.record(conn, STORE, Breaker(state, NOW, 0, 1, "503"))
            with pytest.raises(ConfigurationError, match=f"its circuit breaker is {state.value}: there is nothing"):
                breakers.reset(conn, STORE, "ann", "they lifted it")
            assert breakers.load(conn, STORE) == Breaker(state, NOW, 0, 1, "503")


class TestPace:
    def test_it_is_remembered_by_the_run_that_has_the_lease(self, database: Database) -> None:
        shop = Worker(database)
        with database.write() as conn:
            assert breakers.pace(conn, STORE, NOW) == Pace()
            breakers.record_end(conn, STORE, shop.token, Pace(steps=3, refusals=2), calm=False)
            now = now_ms(conn)
            assert breakers.pace(conn, STORE, now) == Pace(steps=3)
            assert breakers.pace(conn, STORE, now + 2 * HOUR) == Pace(steps=1)
            breakers.record_end(conn, STORE, "another run's", Pace(), calm=True)
            assert breakers.pace(conn, STORE, now).steps == 3

    def test_calm_run_has_a_closed_breaker_forget_how_often_it_opened(self, database: Database) -> None:
        shop = Worker(database)
        with database.write() as conn:
            breakers.record(conn, STORE, Breaker(State.CLOSED, NOW, 0, 4, "blocked"))
            breakers.record_end(conn, STORE, shop.token, Pace(), calm=False)
            assert breakers.load(conn, STORE).trips == 4
            breakers.record_end(conn, STORE, shop.token, Pace(), calm=True)
            assert breakers.load(conn, STORE).trips == 0
            breakers.record(conn, STORE, Breaker(State.OPEN, NOW, NOW + HOUR, 4, "blocked"))
            breakers.record_end(conn, STORE, shop.token, Pace(), calm=True)
            assert breakers.load(conn, STORE).trips == 4
