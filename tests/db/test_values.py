"""What changes of pages are worth, by the rules of the store file: as pages are read, and anew with other rules."""

from __future__ import annotations

import pytest

from storebot.core.planner.value import ValueRule
from storebot.db import values
from storebot.db.database import Database
from storebot.db.knowledge import Memory
from storebot.db.learning import Learner
from storebot.db.schema import pages
from tests.db.shop import NOW, STORE, Worker, listing, parsed

ACME = ValueRule(weight=3.0, brand="Acme")
SHOES = ValueRule(weight=2.0, category=("Shoes",))


def worths(worker: Worker) -> list[float]:
    return [row["value"] for row in worker.rows(pages)]


def test_page_has_its_value_from_when_it_is_read(database: Database) -> None:
    worker = Worker(database, learner=Learner(STORE, Memory(), rules=[ACME, SHOES]))
    worker.discover("1", "2", "3")
    one, two, three = worker.pending()
    assert worths(worker) == [1.0, 1.0, 1.0]
    worker.save(
        parsed(one, listing(brand="ACME")),
        parsed(two, listing(category_path=("Shoes", "Trail"))),
        parsed(three, listing()),
    )
    assert worths(worker) == [3.0, 2.0, 1.0]


def test_value_follows_the_record(database: Database) -> None:
    worker = Worker(database, learner=Learner(STORE, Memory(), rules=[ACME]))
    worker.known("1", listings=[listing(brand="Acme")])
    (target,) = worker.due()
    worker.save(parsed(target, listing(brand="Other"), at=NOW + 1))
    assert worths(worker) == [1.0]


@pytest.mark.parametrize("chunk", [1, 2, 1000])
def test_other_rules_value_all_pages_anew_and_once_is_enough(
    database: Database, monkeypatch: pytest.MonkeyPatch, chunk: int
) -> None:
    monkeypatch.setattr(values, "_CHUNK", chunk)
    worker = Worker(database)
    worker.discover("1", "2", "3", "never-read")
    one, two, three, _ = worker.pending()
    worker.save(
        parsed(one, listing(brand="Acme"), listing(variant_id="v2")),
        parsed(two, listing(category_path=("shoes",))),
        parsed(three, listing(brand="Acme", category_path=("Shoes",))),
    )
    assert values.value_anew(database, STORE, [SHOES, ACME]) == 3
    assert worths(worker) == [3.0, 2.0, 2.0, 1.0]
    assert values.value_anew(database, STORE, [SHOES, ACME]) == 0
    assert values.value_anew(database, "other", [SHOES]) == 0
    assert values.value_anew(database, STORE, []) == 3
    assert worths(worker) == [1.0] * 4
