"""Claims by a plan: in its order, within its requests, and only what may still be claimed."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from sqlalchemy import Connection

from storebot.core.planner.hazard import Flag
from storebot.core.planner.lanes import Lane
from storebot.core.planner.planned import PlannedRun
from storebot.db.database import Database
from storebot.db.planned_claims import PlannedClaims
from storebot.items import Target
from tests.db.planner_shop import LearningWorker
from tests.db.shop import HOUR, NOW, STORE, parsed

DAY = 24 * HOUR


class Plan:
    """A run that follows a plan over ten known pages, ``0`` to ``9``."""

    def __init__(self, database: Database, budget: int, **lanes: str) -> None:
        self.shop = LearningWorker(database, planned=True)
        self.shop.known(*"0123456789", at=NOW)
        self.left, self.flagged, self.given = budget, list[int](), list[str]()
        for name in lanes.get("signal", ""):
            self.shop.set_page(name, signal=Flag.LASTMOD.value)
        plan = PlannedRun(
            budget=budget,
            seed=1,
            lanes={Lane(lane): [self.id(name) for name in names] for lane, names in lanes.items()},
        )
        self.claims = PlannedClaims(
            plan,
            self.claim,
            flagged=self.flagged,
            started_ms=NOW + DAY,
            planned_ms=NOW + DAY,
            batch=4,
            left=lambda: self.left,
        )

    def id(self, name: str) -> int:
        return int(self.shop.page(name)["id"])

    def claim(self, verb: Callable[..., list[Target]], conn: Connection, what: object, **more: Any) -> list[Target]:
        return verb(conn, STORE, "claim", what, 60, parser_version="p1", hash_version=1, **more)

    def next(self) -> list[str]:
        """Claim once; each page takes one request."""
        with self.shop.database.write() as conn:
            targets = self.claims.claim(conn)
        self.left -= len(targets)
        self.targets = targets
        return [f"{target.url_key[-1]} {target.lane}" for target in targets]

    def all(self) -> list[str]:
        """Claim until nothing comes, and visit what comes."""
        found: list[str] = []
        while some := self.next():
            found += some
            self.shop.save(*(parsed(target, at=NOW + DAY + 1) for target in self.targets))
        return found


@pytest.fixture
def plan(database: Database) -> Callable[..., Plan]:
    return partial(Plan, database)


def test_pages_come_in_the_plans_order_each_in_its_lane(plan: Callable[..., Plan]) -> None:
    found = plan(6, hazard="75", sweep="90", signal="3", due="1").all()
    assert found == ["1 due", "3 signal", "9 sweep", "0 sweep", "7 hazard", "5 hazard"]


def test_half_of_what_is_left_is_claimed_at_once_for_a_page_may_take_more_than_one_request(
    plan: Callable[..., Plan],
) -> None:
    one = plan(6, sweep="012345")
    assert [len(one.next()) for _ in range(4)] == [3, 2, 1, 0]


def test_no_request_left_is_no_page(plan: Callable[..., Plan]) -> None:
    one = plan(6, sweep="012345")
    one.left = 0
    assert one.next() == []
    one.left = -2  # pages took more than was thought
    assert one.next() == []


def test_new_pages_of_the_run_come_first_and_leave_the_floor_its_requests(plan: Callable[..., Plan]) -> None:
    one = plan(8, sweep="01", audit="2", hazard="34567")
    one.shop.discover(*"ABCDEFGH")
    found = one.all()
    assert found[:5] == ["A new", "B new", "C new", "D new", "E new"]
    assert sorted(found[5:]) == ["0 sweep", "1 sweep", "2 audit"]


def test_page_that_a_signal_names_in_the_run_comes_before_the_plan(plan: Callable[..., Plan]) -> None:
    one = plan(4, hazard="0123")
    one.flagged.append(one.id("8"))
    assert one.all() == ["8 signal", "0 hazard", "1 hazard", "2 hazard"]


def test_page_that_was_looked_at_since_is_passed_over(plan: Callable[..., Plan]) -> None:
    """A feed, or a card, may have brought it meanwhile."""
    one = plan(3, hazard="012")
    one.shop.set_page("1", checked_at=NOW + DAY + 5)
    assert one.all() == ["0 hazard", "2 hazard", "3 hazard"]


def test_page_whose_card_has_told_its_change_since_isnt_asked_because_of_the_signal(plan: Callable[..., Plan]) -> None:
    one = plan(4, signal="012", hazard="34")
    for name in "135":  # 5 is in no lane: it'd be the next one
        one.shop.set_page(name, signal=Flag.NONE.value, carded_at=NOW + DAY + 5, next_due_at=0)
    assert one.all() == ["0 signal", "2 signal", "3 hazard", "4 hazard"]
    one.left = 9
    assert not {"1 hazard", "5 hazard"} & set(one.all())


def test_page_that_is_gone_or_claimed_by_now_is_passed_over(plan: Callable[..., Plan]) -> None:
    one = plan(3, hazard="012")
    one.shop.set_page("0", status="gone")
    one.shop.set_page("1", status="in_progress", claim_token="another", claim_expires_at=2**60)
    assert one.all()[0] == "2 hazard"
    assert one.shop.page("1")["claim_token"] == "another"


def test_what_the_plan_could_not_spend_goes_to_what_is_due_next(plan: Callable[..., Plan]) -> None:
    one = plan(4, hazard="01")
    one.shop.set_page("5", next_due_at=1)
    one.shop.set_page("6", misses=1, next_due_at=0)
    one.shop.set_page("7", last_failure="error", next_due_at=0)
    assert one.all() == ["0 hazard", "1 hazard", "5 hazard", "2 hazard"]


def test_budget_above_the_store_ends_when_all_was_looked_at(plan: Callable[..., Plan]) -> None:
    one = plan(50, sweep="0123456789")
    assert len(one.all()) == 10
    assert one.next() == []


def test_second_look_is_given_once_and_only_to_a_page_that_is_due_at_once(plan: Callable[..., Plan]) -> None:
    one = plan(5, hazard="01")
    for name, due in (("8", 0), ("9", NOW + 5 * DAY)):
        one.shop.set_page(name, next_due_at=due)
        one.claims.look_again(one.id(name))
    assert one.all()[:2] == ["8 signal", "0 hazard"]


def test_suspected_page_comes_last_and_alone(plan: Callable[..., Plan]) -> None:
    one = plan(6, hazard="0123")
    for name in "01":
        one.shop.set_page(name, tries=4)
    batches = []
    while some := one.next():
        batches.append(some)
        one.shop.save(*(parsed(target, at=NOW + DAY + 1) for target in one.targets))
    assert batches[:4] == [["2 hazard"], ["3 hazard"], ["0 hazard"], ["1 hazard"]]


def test_full_plan_has_no_budget_and_tops_nothing_up(plan: Callable[..., Plan]) -> None:
    one = plan(0, sweep="012345")
    one.left = 2**60
    one.shop.discover("A")
    assert one.next() == ["A new"]
    assert one.all() == [f"{number} sweep" for number in range(6)]


def test_audits_are_not_conditional_by_their_lane_and_keep_what_they_are_compared_with(
    plan: Callable[..., Plan],
) -> None:
    one = plan(2, audit="0")
    one.shop.set_page("0", etag='"a"')
    assert one.next() == ["0 audit"]
    assert one.targets[0].etag == '"a"'
