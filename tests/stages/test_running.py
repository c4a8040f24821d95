"""A pass over the rows, on each backend: what it reads again, what it writes, and that twice is once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import fields, replace
from typing import Any

import orjson
import pytest
from sqlalchemy import select

from storebot.core.enrich.price_lows import Lows
from storebot.core.enrich.same_product import SameProduct
from storebot.core.enrich.series import DAY_MS
from storebot.core.stage import Derived, Reads, Stage, Subject
from storebot.db.database import Database
from storebot.db.schema import derived
from storebot.exceptions import StageFailed
from storebot.items import Listing, Outcome
from storebot.stages import BUILT_IN
from storebot.stages.answers import inputs_of
from storebot.stages.running import run_stage
from storebot.stages.tally import Tally
from tests.db.shop import HOUR, NOW, Worker, listing, parsed, unparsed

GTIN, OTHER = "04006381333931", "00036000291452"


class Length:
    """A user's stage: how long the name is. It counts how often it is asked."""

    version = "1"
    reads: frozenset[Reads] = frozenset()

    def __init__(self) -> None:
        self.asked = 0

    def derive(self, subject: Subject) -> Derived:
        self.asked += 1
        name = subject.listing.name or ""
        return Derived(facts={"length": len(name)}, number=len(name), flagged=len(name) > 9)


class Everyone:
    """A user's stage across listings: those whose name begins with A are told how many they are."""

    version = "1"

    def derive_all(self, subjects: Iterable[Subject]) -> Iterator[tuple[int, Derived]]:
        found = [subject.id for subject in subjects if (subject.listing.name or "").startswith("A")]
        yield from ((listing_id, Derived(facts={"many": len(found)})) for listing_id in reversed(found))


def rows(database: Database, stage: str) -> dict[int, dict[str, Any]]:
    with database.read() as conn:
        found = conn.execute(select(derived).where(derived.c.stage == stage)).mappings()
        return {row["listing_id"]: {**row, "facts": orjson.loads(row["facts"])} for row in found}


def counts(tally: Tally) -> tuple[int, int, int, int]:
    return tally.rows, tally.written, tally.unchanged, tally.flagged


def sold(shop: Worker, name: str, at: int = NOW, **fields: Any) -> None:
    """Have one more page, with one listing."""
    shop.discover(name)
    shop.save(*(parsed(target, listing(**{"name": name, **fields}), at=at) for target in shop.pending()))


class TestListingStage:
    def test_a_second_pass_reads_and_asks_nothing_and_writes_nothing(self, database: Database) -> None:
        shop = Worker(database)
        for name in ("Anvil", "Long anvil name"):
            sold(shop, name)
        stage = Length()
        assert counts(run_stage(database, "length", stage)) == (2, 2, 0, 1)
        first = rows(database, "length")
        assert sorted((row["number"], row["flagged"], row["facts"]["length"]) for row in first.values()) == [
            (5, 0, 5),
            (15, 1, 15),
        ]
        assert counts(run_stage(database, "length", stage)) == (2, 0, 2, 1)
        assert stage.asked == 2
        assert rows(database, "length") == first

    def test_only_what_changed_is_made_anew(self, database: Database) -> None:
        shop = Worker(database)
        shop.known("1", "2", "3")
        stage = Length()
        run_stage(database, "length", stage)
        one, two, _ = shop.due()
        shop.save(parsed(one, listing("Renamed mug"), at=NOW + HOUR), unparsed(two, Outcome.NOT_MODIFIED, NOW + HOUR))
        assert counts(run_stage(database, "length", stage)) == (3, 1, 2, 1)
        assert stage.asked == 4

    def test_a_new_version_makes_all_anew_and_writes_what_differs(self, database: Database) -> None:
        Worker(database).known("1", "2")
        stage = Length()
        run_stage(database, "length", stage)
        before = rows(database, "length")
        stage.version = "2"
        assert counts(run_stage(database, "length", stage)) == (2, 0, 2, 0)
        assert stage.asked == 4
        after = rows(database, "length")
        assert {row["version"] for row in after.values()} == {"2"}
        assert [row["at"] for row in after.values()] == [row["at"] for row in before.values()]
        run_stage(database, "length", stage)
        assert stage.asked == 4

    def test_redo_asks_again_for_all(self, database: Database) -> None:
        Worker(database).known("1", "2")
        stage = Length()
        run_stage(database, "length", stage)
        assert counts(run_stage(database, "length", stage, redo=True)) == (2, 0, 2, 0)
        assert stage.asked == 4

    def test_a_dry_run_counts_and_writes_nothing(self, database: Database) -> None:
        Worker(database).known("1", "2")
        assert counts(run_stage(database, "length", Length(), dry_run=True)) == (2, 2, 0, 0)
        assert rows(database, "length") == {}

    def test_one_store_is_looked_at_alone(self, database: Database) -> None:
        Worker(database).known("1")
        Worker(database, token="other", store="other").known("2")
        assert counts(run_stage(database, "length", Length(), store="other")) == (1, 1, 0, 0)
        assert len(rows(database, "length")) == 1

    def test_one_odd_listing_keeps_its_row_and_stops_no_other(self, database: Database) -> None:
        shop = Worker(database)
        shop.known("1", "2")
        run_stage(database, "length", Length())
        before = rows(database, "length")

        class Odd(Length):
            version = "2"

            def derive(self, subject: Subject) -> Derived:
                if subject.id == min(before):
                    raise ZeroDivisionError("no price to divide")
                return Derived(facts={"length": 0})

        tally = run_stage(database, "length", Odd())
        assert (tally.rows, tally.written, tally.failed, tally.unchanged) == (2, 1, 1, 0)
        assert "shop: https://shop.example/p/1: ZeroDivisionError: no price to divide (" in tally.failure
        assert rows(database, "length")[min(before)] == before[min(before)]

    @pytest.mark.parametrize(
        "answer",
        [None, Derived(facts={"x": object()}), Derived(number=2**63)],
        ids=["nothing", "no JSON", "a number of 65 bits"],
    )
    def test_an_answer_that_cannot_be_saved_is_a_failure(self, database: Database, answer: Any) -> None:
        Worker(database).known("1")

        class Wrong(Length):
            def derive(self, subject: Subject) -> Derived:
                return answer  # type: ignore[no-any-return]

        assert run_stage(database, "wrong", Wrong()).failed == 1
        assert rows(database, "wrong") == {}

    def test_progress_is_told_of_every_row(self, database: Database) -> None:
        Worker(database).known("1", "2", "3")
        told: list[int] = []
        run_stage(database, "length", Length(), progress=told.append)
        run_stage(database, "all", Everyone(), progress=told.append)
        assert told == [3, 3]


class TestCatalogueStage:
    def test_what_one_listing_changes_is_changed_for_all_and_taken_back(self, database: Database) -> None:
        shop = Worker(database)
        sold(shop, "Anvil")
        sold(shop, "Mug")
        assert counts(run_stage(database, "all", Everyone())) == (2, 1, 1, 0)
        sold(shop, "Axe")
        assert counts(run_stage(database, "all", Everyone())) == (3, 2, 1, 0)
        assert [row["facts"] for row in rows(database, "all").values()] == [{"many": 2}] * 2
        assert counts(run_stage(database, "all", Everyone())) == (3, 0, 3, 0)
        first = shop.due()[0]
        shop.save(parsed(first, listing("Renamed"), at=NOW + HOUR))
        assert counts(run_stage(database, "all", Everyone(), dry_run=True)) == (3, 2, 1, 0)
        assert len(rows(database, "all")) == 2
        assert counts(run_stage(database, "all", Everyone())) == (3, 2, 1, 0)
        assert [row["facts"] for row in rows(database, "all").values()] == [{"many": 1}]

    def test_all_stores_are_compared_and_the_rows_of_one_are_written(self, database: Database) -> None:
        sold(Worker(database), "Anvil")
        sold(Worker(database, token="other", store="other"), "Axe")
        assert counts(run_stage(database, "all", Everyone(), store="other")) == (1, 1, 0, 0)
        assert [row["facts"] for row in rows(database, "all").values()] == [{"many": 2}]

    def test_what_it_raises_ends_the_pass_with_its_name(self, database: Database) -> None:
        class Odd(Everyone):
            def derive_all(self, subjects: Iterable[Subject]) -> Iterator[tuple[int, Derived]]:
                raise KeyError("brand")

        Worker(database).known("1")
        with pytest.raises(StageFailed, match="stage 'odd': KeyError: 'brand'"):
            run_stage(database, "odd", Odd())


class TestOwnStages:
    def test_each_is_idempotent(self, database: Database) -> None:
        shop = Worker(database)
        sold(shop, "Beans 500 g", gtin=GTIN, brand="Acme")
        sold(shop, "Anvil", gtin=None, price_minor=None)
        for name, made in BUILT_IN.items():
            stage: Stage = made()
            first = run_stage(database, name, stage)
            assert first.failed == 0
            saved = rows(database, name)
            again = run_stage(database, name, stage, redo=True)
            assert (again.rows, again.written, again.flagged) == (2, 0, first.flagged)
            assert rows(database, name) == saved

    def test_one_product_is_found_in_two_stores(self, database: Database) -> None:
        one, two = Worker(database), Worker(database, token="other", store="other")
        sold(one, "a", gtin=GTIN, brand="Acme")
        sold(two, "b", gtin=GTIN, brand="ACME Ltd")
        sold(two, "c", gtin=OTHER, brand="Acme")
        run_stage(database, "same_product", SameProduct())
        groups = sorted(row["group_key"] for row in rows(database, "same_product").values())
        assert groups == [f"gtin:{OTHER}", f"gtin:{GTIN}", f"gtin:{GTIN}"]

    def test_an_id_stays_when_a_listing_is_added_and_goes_when_the_number_goes(self, database: Database) -> None:
        one, two = Worker(database), Worker(database, token="other", store="other")
        sold(one, "a", gtin=GTIN, brand="Acme")
        run_stage(database, "same_product", SameProduct())
        (before,) = rows(database, "same_product").values()
        sold(two, "b", gtin=GTIN, brand="Acme")
        run_stage(database, "same_product", SameProduct())
        after = rows(database, "same_product")
        assert {row["group_key"] for row in after.values()} == {before["group_key"]}
        assert {row["facts"]["stores"] for row in after.values()} == {2}
        one.save(parsed(one.due()[0], listing("a", brand="Acme"), at=NOW + HOUR))
        run_stage(database, "same_product", SameProduct())
        assert len(rows(database, "same_product")) == 1

    def test_price_lows_follow_the_history_and_what_was_observed_of_it(self, database: Database) -> None:
        """A hundred days: 100.00, a sale at day 10, back at day 15, a reduction at day 60; nobody looks for 12 days."""
        shop = Worker(database)
        prices = {0: 10_000, 10: 8_000, 15: 10_000, 60: 9_000}
        price = prices[0]
        shop.known("1", listings=[listing(price_minor=price)])
        for day in range(1, 101):
            at = NOW + day * DAY_MS
            if day in prices:
                price = prices[day]
                shop.save(parsed(shop.due()[0], listing(price_minor=price), at=at))
            elif 70 <= day < 82:
                shop.save(unparsed(shop.due()[0], Outcome.ERROR, at))
            else:
                shop.save(unparsed(shop.due()[0], Outcome.NOT_MODIFIED, at))
            if day == 65:
                run_stage(database, "price_lows", Lows())
                (before,) = rows(database, "price_lows").values()
        tally = run_stage(database, "price_lows", Lows())
        (row,) = rows(database, "price_lows").values()
        facts = row["facts"]
        assert (facts["price_minor"], facts["since"], facts["reduced"]) == (9_000, NOW + 60 * DAY_MS, True)
        assert (facts["low_30d_minor"], facts["low_30d_at"], facts["low_30d_enough"]) == (
            10_000,
            NOW + 15 * DAY_MS,
            True,
        )
        assert (facts["all_time_low_minor"], facts["all_time_low_at"]) == (8_000, NOW + 10 * DAY_MS)
        assert facts["unobserved_days"] == 13
        assert (before["facts"]["all_time_enough"], facts["all_time_enough"]) == (True, False)
        assert (row["number"], tally.written) == (10_000, 1)

    def test_a_304_is_looked_at_and_not_written(self, database: Database) -> None:
        shop = Worker(database)
        shop.known("1")
        run_stage(database, "price_lows", Lows())
        (before,) = rows(database, "price_lows").values()
        shop.save(unparsed(shop.due()[0], Outcome.NOT_MODIFIED, NOW + HOUR))
        assert counts(run_stage(database, "price_lows", Lows())) == (1, 0, 1, 0)
        (after,) = rows(database, "price_lows").values()
        assert {**after, "inputs": ""} == {**before, "inputs": ""}
        assert after["inputs"] != before["inputs"]


def test_a_listing_is_hashed_by_all_that_it_says() -> None:
    blank = Listing(store="a", url_key="k", url="u")
    one = Subject(id=1, page_id=1, listing=blank)
    for field in fields(Listing):
        says: dict[str, Any] = {field.name: "x"}
        other = replace(one, listing=replace(blank, **says))
        assert inputs_of(other, frozenset()) != inputs_of(one, frozenset()), field.name
    assert inputs_of(replace(one, last_seen_at=5), frozenset()) == inputs_of(one, frozenset())
    assert inputs_of(replace(one, last_seen_at=5), Lows.reads) != inputs_of(one, Lows.reads)
