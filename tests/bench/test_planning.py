"""The large store of the planning benchmark, small: what is measured is what a refresh does."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from bench.planning import steps
from bench.planning.store import make
from storebot.db.database import Database

PAGES, BUDGET = 9_000, 900


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    path = tmp_path_factory.mktemp("planning") / "store.db"
    make(path, PAGES)
    database = Database.open(f"sqlite:///{path}", create=False)
    yield database
    database.dispose()


@pytest.mark.parametrize("what", ["plan", "naive", "ordered"])
def test_each_way_chooses_the_whole_budget(database: Database, what: str) -> None:
    found = steps.WHAT[what](database, BUDGET)
    assert found["chosen"] == BUDGET
    assert found["whole"] > 0


def test_a_visit_is_one_update_of_its_page(database: Database) -> None:
    found = steps.visit(database, PAGES)
    assert found["updates"] == 1
    assert 0 < found["claim"] < 0.01
    assert 0 < found["save"] < 0.01
