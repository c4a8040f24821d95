"""The plan as data: how many requests it takes, and in which order its pages are asked for."""

from __future__ import annotations

from storebot.core.planner.lanes import Lane
from storebot.core.planner.planned import PlannedRun, ids_of

LANES = {
    Lane.HAZARD: [50, 51],
    Lane.SWEEP: [10, 11, 12, 13],
    Lane.AUDIT: [30, 31],
    Lane.SIGNAL: [40],
    Lane.NEW: [60],
    Lane.DUE: [70],
}


def test_requests_are_counted_and_new_pages_get_none_of_those_of_the_floor() -> None:
    plan = PlannedRun(budget=20, seed=1, lanes=LANES, views=[5, 6])
    assert plan.requests == 13
    assert plan.reserved == 2 + 4 + 2 + 1


def test_order_is_what_is_known_then_the_floor_mixed_with_audits_then_the_rest() -> None:
    plan = PlannedRun(budget=20, seed=1, lanes=LANES)
    assert [page_id for page_id, _ in plan.in_order()] == [70, 40, 10, 30, 11, 12, 31, 13, 50, 51]
    assert dict(plan.in_order())[31] is Lane.AUDIT


def test_nothing_planned_is_nothing_to_ask_for() -> None:
    assert [*PlannedRun(budget=0, seed=1).in_order()] == []


def test_ids_are_read_from_the_memory_of_whole_numbers() -> None:
    assert [*ids_of((2**40).to_bytes(8, "little") + (7).to_bytes(8, "little"))] == [2**40, 7]
