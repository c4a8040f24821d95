"""What the write gate does to the visits of a batch: published, waiting or held, on each backend."""

from __future__ import annotations

import copy
from contextlib import suppress
from typing import Any

import orjson
import pytest

from storebot.db import holds as verbs
from storebot.db import runs
from storebot.db.database import Database
from storebot.db.held_visit import unpacked
from storebot.db.schema import blocks, changes, checkpoints, listings, offers, pages, visits
from storebot.db.visits import save
from storebot.items import BlockSignal, Listing, Outcome, Target
from tests.db.gated import NAMES, GatedWorker, known_store
from tests.db.shop import HOUR, NOW, Worker, listing, parsed, unparsed
from tests.db.test_carried import carried, page

LATER = NOW + 48 * HOUR


class _Killed(Exception):
    """Ends a transaction as a dead process does."""


def product(target: Target, price_minor: int | None = None, **fields: Any) -> Listing:
    name = target.url_key.rpartition("/")[2]
    values = {"name": f"Mug {name}", "price_minor": price_minor or 1000 + int(name), "sku": f"M-{name}", **fields}
    return listing(**values)


def due(shop: Worker) -> list[Target]:
    return sorted(shop.due(), key=lambda target: int(target.url_key.rpartition("/")[2]))


def test_a_change_waits_while_its_run_is_young_and_nothing_published_moves(database: Database) -> None:
    known_store(database)
    shop = GatedWorker(database)
    targets, truth = due(shop), shop.published()
    (saved,) = shop.save(parsed(targets[0], product(targets[0], 1100), at=LATER, etag='"b"'))
    assert (saved.outcome, saved.rows_written, saved.changes) == (Outcome.HELD, 0, 0)
    assert shop.published() == truth
    (hold,) = shop.holds("waiting")
    assert (hold["kind"], hold["gate"], hold["run_id"]) == ("changed", "", shop.run.run_id)
    assert orjson.loads(hold["fields"]) == [
        {"variant_id": "", "type": "changed", "fields": [{"field": "price_minor", "before": 1001, "after": 1100}]}
    ]
    page = shop.rows(pages)[0]
    assert (page["claim_token"], page["status"], page["next_due_at"]) == ("", "parsed", LATER + HOUR)
    assert page["checked_at"] == NOW  # not seen
    assert [row["outcome"] for row in shop.rows(visits)][-1] == "held"
    assert hold["visit_id"] == shop.rows(visits)[-1]["id"]


def test_what_waits_is_in_the_transaction_of_its_visit(database: Database) -> None:
    known_store(database)
    shop = GatedWorker(database)
    (target, *_) = due(shop)
    with suppress(_Killed), database.write() as conn:
        save(conn, shop.run, [parsed(target, product(target, 1100), at=LATER)])
        raise _Killed
    assert shop.holds() == []
    assert len(shop.rows(visits)) == len(NAMES)


def test_changes_of_a_batch_that_makes_the_run_old_enough_are_published_with_it(database: Database) -> None:
    known_store(database)
    shop = GatedWorker(database, sample=10)
    targets = due(shop)
    seen = [parsed(targets[0], product(targets[0], 1100), at=LATER)]
    seen += [unparsed(target, Outcome.NOT_MODIFIED, at=LATER) for target in targets[1:]]
    saved = shop.save(*seen)
    assert [one.outcome for one in saved] == [Outcome.CHANGED, *[Outcome.NOT_MODIFIED] * 9]
    assert (saved[0].rows_written, saved[0].changes) == (1, 1)
    assert shop.holds() == []
    assert len(shop.rows(changes)) == 1


def test_a_batch_over_a_limit_holds_its_changes_however_old_the_run(database: Database) -> None:
    known_store(database)
    shop = GatedWorker(database, sample=1)
    targets, truth = due(shop), shop.published()
    saved = shop.save(
        *(parsed(one, product(one, 100 * (1000 + place)), at=LATER) for place, one in enumerate(targets, 1))
    )
    assert {one.outcome for one in saved} == {Outcome.HELD}
    assert shop.published() == truth
    assert "100 times what they were" in shop.holds()[0]["reason"]


def test_a_page_that_is_missing_stays_on_sale_until_the_run_is_judged(database: Database) -> None:
    known_store(database)
    shop = GatedWorker(database)
    targets, truth = due(shop), shop.published()
    (saved,) = shop.save(unparsed(targets[0], Outcome.MISSING, at=LATER, status=404, reason="HTTP 404", evidence="404"))
    assert (saved.outcome, shop.published()) == (Outcome.HELD, truth)
    (hold,) = shop.holds()
    assert (hold["kind"], hold["content_hash"]) == ("missing", "")
    assert orjson.loads(hold["fields"])[0]["fields"] == [{"field": "status", "before": "active", "after": "missing"}]
    assert [one.outcome for one in shop.finish()] == [Outcome.MISSING]
    assert shop.rows(pages)[0]["misses"] == 1
    assert shop.rows(pages)[0]["missed_by"] == "404"
    assert shop.rows(listings)[0]["status"] == "missing"


def test_pages_that_never_had_a_record_are_not_missed(database: Database) -> None:
    shop = GatedWorker(database, kind="backfill")
    shop.discover(*NAMES)
    saved = shop.save(*(unparsed(one, Outcome.MISSING, at=LATER, status=404) for one in shop.pending()))
    assert {one.outcome for one in saved} == {Outcome.MISSING}
    assert (shop.gate.tally.seen, shop.gate.tally.missing) == (0, 0)


def test_a_page_that_leads_to_another_is_retired_when_the_run_is_judged(database: Database) -> None:
    known_store(database)
    shop = GatedWorker(database)
    first, second, *_ = due(shop)
    truth = shop.published()
    (saved,) = shop.save(parsed(first, product(second), at=LATER, final_key=second.url_key, final_url=second.url))
    assert (saved.outcome, shop.published()) == (Outcome.HELD, truth)
    assert shop.holds()[0]["kind"] == "moved"
    (moved,) = shop.finish()
    assert (moved.outcome, "which is another product" in moved.reason) == (Outcome.MOVED, True)
    assert [row["status"] for row in shop.rows(pages)].count("gone") == 1
    assert [row["outcome"] for row in shop.rows(visits)][-1] == "moved"


def test_new_listings_are_written_as_they_come_but_not_one_record_again_and_again(database: Database) -> None:
    shop = GatedWorker(database, kind="backfill")
    shop.discover(*NAMES)
    saved = shop.save(*(parsed(target, listing("The frozen page"), at=LATER) for target in shop.pending()))
    assert [one.outcome for one in saved] == [Outcome.NEW] * 3 + [Outcome.HELD] * 7
    assert {row["gate"] for row in shop.holds()} == {"identical"}
    assert [row["status"] for row in shop.rows(pages)].count("error") == 7
    assert shop.finish() == []
    (reason,) = {row["reason"] for row in shop.holds("held")}
    assert reason == "10 of 10 pages show the very same record (100%); the limit is 10%"


def test_another_description_is_no_change_that_waits(database: Database) -> None:
    known_store(database)
    shop = GatedWorker(database)
    (target, *_) = due(shop)
    (saved,) = shop.save(parsed(target, product(target, description="New text"), at=LATER))
    assert (saved.outcome, shop.holds()) == (Outcome.UNCHANGED, [])
    assert shop.rows(listings)[0]["description"] == "New text"


def test_a_parser_that_loses_a_field_is_held_though_it_announces_nothing(database: Database) -> None:
    known_store(database)
    shop = GatedWorker(database, parser_version="p2")
    truth = shop.published()
    saved = shop.save(*(parsed(one, product(one, price_minor=None, availability=None), at=LATER) for one in due(shop)))
    assert {one.outcome for one in saved} == {Outcome.HELD}
    shop.finish()
    assert shop.published() == truth
    hold = shop.holds("held")[0]
    assert (hold["kind"], hold["gate"]) == ("rebased", "lost")
    assert {"field": "availability", "before": "InStock", "after": None} in orjson.loads(hold["fields"])[0]["fields"]


def test_a_parser_that_reads_more_is_rebased_in_silence_when_the_run_is_judged(database: Database) -> None:
    known_store(database)
    shop = GatedWorker(database, parser_version="p2")
    shop.save(*(parsed(one, product(one, brand="Oak"), at=LATER) for one in due(shop)))
    assert {one.outcome for one in shop.finish()} == {Outcome.UNCHANGED}
    assert {row["brand"] for row in shop.rows(listings)} == {"Oak"}
    assert shop.rows(changes) == []
    assert {row["parser_version"] for row in shop.rows(pages)} == {"p2"}


class TestSeenAgain:
    def test_the_published_value_supersedes_what_was_held(self, database: Database) -> None:
        known_store(database)
        shop = GatedWorker(database)
        (target, *_) = due(shop)
        shop.save(parsed(target, product(target, 1100), at=LATER))
        (again,) = (one for one in shop.due() if one.page_id == target.page_id)
        (saved,) = shop.save(unparsed(again, Outcome.NOT_MODIFIED, at=LATER + HOUR))
        assert saved.outcome is Outcome.NOT_MODIFIED
        (closed,) = shop.holds("superseded")
        assert (closed["visit"], closed["facts"]) == ("", "")
        assert closed["why"] == f"run {shop.run.run_id} saw the page anew"
        assert shop.gate.open_pages == set()

    def test_the_same_value_makes_no_second_hold_and_stays_as_old_as_it_is(self, database: Database) -> None:
        known_store(database)
        shop = GatedWorker(database)
        (target, *_) = due(shop)
        shop.save(parsed(target, product(target, 1100), at=LATER))
        (first,) = shop.holds()
        (again,) = (one for one in shop.due() if one.page_id == target.page_id)
        shop.save(parsed(again, product(target, 1100), at=LATER + HOUR, etag='"c"'))
        (second,) = shop.holds()
        assert (second["id"], second["created_at"], second["stale_since"]) == (first["id"], LATER, LATER)
        assert unpacked(second["visit"]).visit.etag == '"c"'

    def test_another_value_is_another_hold_as_stale_as_the_first(self, database: Database) -> None:
        known_store(database)
        shop = GatedWorker(database)
        (target, *_) = due(shop)
        shop.save(parsed(target, product(target, 1100), at=LATER))
        (again,) = (one for one in shop.due() if one.page_id == target.page_id)
        shop.save(parsed(again, product(target, 1200), at=LATER + HOUR))
        (hold,) = shop.holds()
        assert (hold["created_at"], hold["stale_since"]) == (LATER + HOUR, LATER)
        assert len(shop.holds("superseded")) == 1
        with database.read() as conn:
            assert verbs.stale_since(conn, shop.store) == LATER
            assert verbs.stale_since(conn, "another") is None

    @pytest.mark.parametrize("outcome", [Outcome.ERROR, Outcome.BLOCKED, Outcome.INVALID])
    def test_a_visit_that_saw_nothing_decides_nothing(self, database: Database, outcome: Outcome) -> None:
        known_store(database)
        shop = GatedWorker(database)
        (target, *_) = due(shop)
        shop.save(parsed(target, product(target, 1100), at=LATER))
        (again,) = (one for one in shop.due() if one.page_id == target.page_id)
        shop.save(unparsed(again, outcome, at=LATER + HOUR))
        assert len(shop.holds("waiting")) == 1


class TestOutlier:
    """One price that is far from its own history, in a run that is old enough and else as ever."""

    def outlying(self, database: Database, price_minor: int | None, **fields: Any) -> tuple[GatedWorker, Target]:
        known_store(database)
        shop = GatedWorker(database, sample=2)
        first, *others = due(shop)
        shop.save(*(unparsed(target, Outcome.NOT_MODIFIED, at=LATER) for target in others))
        record = product(first, **fields) if price_minor is None else product(first, price_minor, **fields)
        (saved,) = shop.save(parsed(first, record, at=LATER))
        assert saved.outcome is Outcome.HELD
        return shop, first

    def test_it_is_due_at_once_and_published_when_a_second_look_sees_the_same(self, database: Database) -> None:
        shop, _ = self.outlying(database, 100_100)
        (hold,) = shop.holds("waiting")
        assert (hold["gate"], hold["reason"]) == (
            "outlier",
            "the price moved from 1001 to 100100, exactly 100 times more",
        )
        (again,) = shop.due(before=0)
        (saved,) = shop.save(parsed(again, product(again, 100_100), at=LATER + 1))
        assert (saved.outcome, saved.changes) == (Outcome.CHANGED, 1)
        assert [row["price_minor"] for row in shop.rows(offers)][-1] == 100_100
        assert shop.holds() == []

    def test_two_looks_at_one_page_count_once(self, database: Database) -> None:
        """Else a few prices that were looked at twice would be the median of all."""
        shop, _ = self.outlying(database, 100_100)
        once = copy.deepcopy(shop.gate.tally)
        assert (once.seen, once.changed, once.moved) == (10, 1, 1)
        (again,) = shop.due(before=0)
        shop.save(unparsed(again, Outcome.ERROR, at=LATER + 1))
        assert shop.gate.tally == once
        again = next(target for target in shop.due() if target.page_id == again.page_id)
        shop.save(parsed(again, product(again, 100_100), at=LATER + 2))
        assert shop.gate.tally == once

    def test_a_second_look_that_sees_the_old_value_leaves_no_move_behind(self, database: Database) -> None:
        shop, _ = self.outlying(database, 100_100)
        (again,) = shop.due(before=0)
        shop.save(parsed(again, product(again), at=LATER + 1))
        tally = shop.gate.tally
        assert (tally.seen, tally.changed, tally.moved) == (10, 0, 0)

    def test_it_is_held_when_nobody_looked_again(self, database: Database) -> None:
        shop, _ = self.outlying(database, 100_100)
        assert shop.finish() == []
        (hold,) = shop.holds("held")
        assert hold["reason"].endswith("exactly 100 times more, and a second look did not confirm it")
        with database.read() as conn:
            assert verbs.held_by(conn, shop.run.run_id) == [("outlier", hold["reason"], 1)]

    def test_a_third_value_is_not_looked_at_a_third_time(self, database: Database) -> None:
        shop, _ = self.outlying(database, 100_100)
        (again,) = shop.due(before=0)
        shop.save(parsed(again, product(again, 10_010), at=LATER + 1))
        assert shop.due(before=0) == []
        assert len(shop.holds("waiting")) == len(shop.holds("superseded")) == 1

    def test_the_next_run_confirms_what_the_last_one_could_not(self, database: Database) -> None:
        shop, first = self.outlying(database, 100_100)
        shop.finish()
        following = GatedWorker(database, sample=1)
        (again,) = (one for one in following.due() if one.page_id == first.page_id)
        (saved,) = following.save(parsed(again, product(again, 100_100), at=LATER + HOUR))
        assert saved.outcome is Outcome.CHANGED

    def test_a_value_that_is_lost_is_looked_at_twice(self, database: Database) -> None:
        shop, _ = self.outlying(database, None, availability=None)
        assert shop.holds()[0]["reason"] == "the availability was lost"

    def test_a_currency_that_switches_is_looked_at_twice(self, database: Database) -> None:
        shop, _ = self.outlying(database, None, currency="USD")
        assert shop.holds()[0]["reason"] == "the currency switched from EUR to USD"

    def test_another_product_waits_for_the_end_and_is_published_if_no_other_page_sells_it(
        self, database: Database
    ) -> None:
        shop, _ = self.outlying(database, 700, name="Bowl", sku="B-1")
        assert shop.holds()[0]["gate"] == "identity"
        assert [one.outcome for one in shop.finish()] == [Outcome.CHANGED]
        assert shop.rows(listings)[0]["name"] == "Bowl"

    def test_another_product_that_another_page_sells_is_held(self, database: Database) -> None:
        shop, _ = self.outlying(database, 1002, name="Mug 2", sku="M-2")
        assert shop.finish() == []
        assert shop.holds("held")[0]["reason"] == "it shows the product that is published at http://shop.example/p/2"


def test_a_blocked_visit_that_waits_no_more_keeps_its_signals(database: Database) -> None:
    known_store(database)
    shop = GatedWorker(database)
    (target, *_) = due(shop)
    shop.save(parsed(target, product(target, 1100), at=LATER, blocks=(BlockSignal("status", "403"),)))
    assert shop.only(blocks)["value"] == "403"


def test_counts_of_a_run_add_up_to_its_visits_whatever_waited(database: Database) -> None:
    known_store(database)
    shop = GatedWorker(database)
    targets = due(shop)
    shop.save(*(parsed(one, product(one, 1100), at=LATER) for one in targets[:4]))
    shop.save(*(unparsed(one, Outcome.NOT_MODIFIED, at=LATER) for one in targets[4:]))
    with database.read() as conn:
        assert runs.tally(conn, shop.run.run_id) == {Outcome.HELD: 4, Outcome.NOT_MODIFIED: 6}
    shop.finish()
    with database.read() as conn:
        found = runs.totals(conn, shop.run.run_id)
    assert found.outcomes == {Outcome.CHANGED: 4, Outcome.NOT_MODIFIED: 6}
    assert (found.rows_written, found.change_events) == (4, 4)


class TestCarried:
    """Products that a feed carries pass the same gate, and its checkpoint doesn't wait for them."""

    def test_a_feed_full_of_wrong_prices_is_held_and_its_page_is_saved(self, database: Database) -> None:
        shop = Worker(database)
        shop.save(page(*(carried(name, listing(f"Mug {name}", 1000, sku=name)) for name in NAMES)))
        gated = GatedWorker(database, kind="backfill")
        truth = gated.published()
        wrong = [carried(name, listing(f"Mug {name}", 100_000, sku=name), at=LATER) for name in NAMES]
        *products, walked = gated.save(page(*wrong, number=2, at=LATER))
        assert {one.outcome for one in products} == {Outcome.HELD}
        assert walked.outcome is None
        assert gated.only(checkpoints)["page"] == 2
        assert gated.finish() == []
        assert gated.published()[:3] == truth[:3]
        assert {row["gate"] for row in gated.holds("held")} == {"price"}

    def test_one_price_far_away_is_not_looked_at_on_its_page_which_says_it_in_other_words(
        self, database: Database
    ) -> None:
        shop = Worker(database)
        shop.save(page(*(carried(name, listing(f"Mug {name}", 1000, sku=name)) for name in NAMES)))
        gated = GatedWorker(database, sample=5)
        same = [carried(name, listing(f"Mug {name}", 1000, sku=name), at=LATER) for name in NAMES[1:]]
        gated.save(page(*same, carried("1", listing("Mug 1", 100_000, sku="1"), at=LATER), number=2, at=LATER))
        assert [row["gate"] for row in gated.holds()] == ["outlier"]
        assert gated.due(before=0) == []
