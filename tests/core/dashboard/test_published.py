"""What is published: what was accepted last, whatever happened since."""

from __future__ import annotations

from dataclasses import replace

from storebot.core.dashboard.blame import Past
from storebot.core.dashboard.published import published
from storebot.core.dashboard.store_now import Stand, StoreNow
from storebot.items import RunStatus

GOOD = Past(1, "refresh", RunStatus.COMPLETE, "", 1000, 2000, counts={"unchanged": 5}, listings=5)
FAILED = Past(2, "refresh", RunStatus.FAILED, "it broke", 3000, 4000, counts={"invalid": 5})
STORE = StoreNow(name="acme", runs=(GOOD,), good=GOOD)


def test_a_store_that_is_fine_is_current() -> None:
    assert published(STORE, Stand.FINE) == (2000, 1, 5, "Safe, and current.")


def test_a_failed_run_leaves_what_was_there() -> None:
    found = published(replace(STORE, runs=(FAILED, GOOD)), Stand.FAILED)
    assert (found.as_of, found.run_id, found.listings) == (2000, 1, 5)
    assert "not newer than that" in found.text


def test_what_is_held_is_not_published() -> None:
    assert "7 pages show what was accepted before" in published(replace(STORE, held=7), Stand.HELD).text


def test_a_run_that_saw_nothing_published_nothing() -> None:
    empty = GOOD._replace(id=3, counts={"error": 5}, status=RunStatus.PARTIAL)
    assert published(replace(STORE, runs=(empty, GOOD)), Stand.PARTIAL).run_id == 1


def test_before_the_first_run_nothing_is_published() -> None:
    assert published(StoreNow(name="acme"), Stand.NEVER) == (0, 0, 0, "Nothing is published yet.")
