"""How a store stands: each state with its cause, whose fault it is, and the one safe thing to do."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from storebot.core.alerts.finding import Finding, Kind
from storebot.core.breaker import Breaker, State
from storebot.core.dashboard.blame import Fault, Past
from storebot.core.dashboard.standing import standing
from storebot.core.dashboard.store_now import Does, Planned, Stand, Standing, StoreNow
from storebot.items import RunStatus

HOUR = 3_600_000
NOW = 1_780_000_000_000
_S = RunStatus


def past(number: int, status: RunStatus = _S.COMPLETE, hours_ago: float = 1, **values: Any) -> Past:
    start = int(NOW - hours_ago * HOUR)
    ended = None if status is _S.RUNNING else start + 60_000
    made = Past(number, "refresh", status, "", start, ended, "3-aaaa1111", {"unchanged": 100})
    return made._replace(**values)


def job(status: str = "pending", next_at: int | None = NOW + HOUR) -> Planned:
    return Planned(7, "refresh", status, next_at, 24 * HOUR, True)


def shop(*runs: Past, **facts: Any) -> StoreNow:
    """Return a store whose runs are these, the newest first."""
    good = next((run for run in runs if run.status in (_S.COMPLETE, _S.PARTIAL, _S.HELD)), None)
    return replace(StoreNow(name="acme", runs=runs, good=good, jobs=[job()], interval_ms=24 * HOUR), **facts)


def said(store: StoreNow) -> Standing:
    return standing(store, NOW)


def test_a_store_that_was_seen_lately_is_fine() -> None:
    found = said(shop(past(1)))
    assert found[0] is Stand.FINE
    assert (found.fault, found.action.does) == (Fault.NOBODY, Does.NOTHING)
    assert "Run 1 (refresh) saw all it should" in found.cause


def test_a_run_that_is_under_way_is_to_be_watched() -> None:
    found = said(shop(past(2, _S.RUNNING), past(1, hours_ago=30), running=2))
    assert found.stand is Stand.RUNNING
    assert (found.action.does, found.action.run_id) == (Does.LOOK, 2)


def test_a_run_whose_process_died_is_ours_and_may_be_run_again() -> None:
    found = said(shop(past(2, _S.RUNNING), past(1)))
    assert (found.stand, found.fault) == (Stand.PARTIAL, Fault.OURS)
    assert "its process died" in found.cause
    assert found.action.does is Does.RUN


def test_an_open_breaker_is_the_shops_and_nothing_is_to_be_done() -> None:
    breaker = Breaker(State.OPEN, NOW - HOUR, NOW + HOUR, 1, "20 of 25 visits were blocked")
    found = said(shop(past(1), breaker=breaker))
    assert (found.stand, found.fault, found.action.does) == (Stand.BLOCKED, Fault.SHOP, Does.NOTHING)
    assert "20 of 25 visits were blocked" in found.cause


def test_a_blocked_run_is_the_shops_before_the_breaker_opens() -> None:
    found = said(shop(past(1, _S.BLOCKED, reason="3 blocked")))
    assert (found.stand, found.fault, found.action.about) == (Stand.BLOCKED, Fault.SHOP, "blocks")


def test_held_changes_are_a_decision() -> None:
    found = said(shop(past(2, _S.HELD, reason="held"), held=7, held_since=NOW - HOUR))
    assert (found.stand, found.fault, found.action.about) == (Stand.HELD, Fault.DECISION, "holds")
    assert found.cause.startswith("7 pages changed")


def test_held_changes_are_told_beside_what_is_worse() -> None:
    found = said(shop(past(2, _S.BLOCKED, reason="3 blocked"), past(1), held=1))
    assert found.stand is Stand.BLOCKED
    assert "1 page changed so much" in found.cause


def test_a_store_that_nothing_looks_at_any_more_is_ours() -> None:
    found = said(shop(past(1, hours_ago=49.5)))
    assert (found.stand, found.fault, found.action.does) == (Stand.STALE, Fault.OURS, Does.RUN)
    assert said(shop(past(1, hours_ago=47))).stand is Stand.FINE


def test_where_its_job_waits_a_worker_is_missing() -> None:
    found = said(shop(past(1, hours_ago=60), jobs=[job(next_at=NOW - HOUR)]))
    assert found.stand is Stand.STALE
    assert "scrapy worker" in found.action.text


def test_without_a_schedule_only_what_alerts_say_makes_it_stale() -> None:
    assert said(shop(past(1, hours_ago=500), interval_ms=0)).stand is Stand.FINE
    finding = Finding(Kind.SILENT, "no run has begun since then.", "is the cron there?", "acme")
    assert said(shop(past(1), interval_ms=0, findings=[finding])).stand is Stand.STALE


@pytest.mark.parametrize(
    ("reason", "fault"),
    [
        ("12 exceptions in storebot itself, see the log; 3 error", Fault.OURS),
        ("no product page was found: check [discover], [catalogue] and product_url of the store file", Fault.OURS),
        ("domain moved: 9 of 9 pages redirect to parked.example; is base_url still the shop's?", Fault.SHOP),
    ],
)
def test_a_failed_run_says_whose_fault_it_is(reason: str, fault: Fault) -> None:
    found = said(shop(past(2, _S.FAILED, reason=reason, counts={}), past(1, hours_ago=9)))
    assert (found.stand, found.fault, found.action.run_id) == (Stand.FAILED, fault, 2)
    assert reason in found.cause


def test_a_parser_that_moved_is_named_with_the_failure() -> None:
    failed = past(2, _S.FAILED, reason="90 invalid", parser_version="3-bbbb2222", counts={"invalid": 90})
    found = said(shop(failed, past(1, hours_ago=9)))
    assert "3-bbbb2222" in found.cause
    assert "parser" in found.action.text
    same = said(shop(failed._replace(parser_version="3-aaaa1111"), past(1, hours_ago=9)))
    assert "parser" not in same.action.text


def test_a_job_that_fails_without_a_run_is_ours() -> None:
    finding = Finding(Kind.FAILING, "the job refresh was given up once: killed", "look at its log", "acme", "refresh")
    found = said(shop(past(1), findings=[finding]))
    assert (found.stand, found.fault, found.action.about) == (Stand.FAILED, Fault.OURS, "jobs")


def test_a_part_that_is_missing_is_looked_at_only_where_it_is_more_than_a_few_pages() -> None:
    few = said(shop(past(1, _S.PARTIAL, reason="3 error", counts={"error": 3, "unchanged": 97})))
    assert (few.stand, few.fault, few.action.does) == (Stand.PARTIAL, Fault.NOBODY, Does.NOTHING)
    many = said(shop(past(1, _S.PARTIAL, reason="30 error", counts={"error": 30, "unchanged": 70})))
    assert (many.stand, many.fault, many.action.does) == (Stand.PARTIAL, Fault.SHOP, Does.LOOK)
    parser = said(shop(past(1, _S.PARTIAL, reason="30 invalid", counts={"invalid": 30, "unchanged": 70})))
    assert parser.fault is Fault.OURS


def test_an_interrupted_run_goes_on_by_itself_where_another_is_planned() -> None:
    runs = (past(2, _S.INTERRUPTED, reason="stopped by a signal"), past(1, hours_ago=9))
    assert said(shop(*runs)).action.does is Does.NOTHING
    assert said(shop(*runs, jobs=[])).action.does is Does.RUN


def test_what_was_expected_and_is_not_so_is_said() -> None:
    finding = Finding(Kind.UNEXPECTED, "refresh (run 1): 3 listings are on sale.", "correct it", "acme", "refresh")
    found = said(shop(past(1), findings=[finding]))
    assert (found.stand, found.fault, found.action.run_id) == (Stand.PARTIAL, Fault.OURS, 1)


def test_a_used_up_budget_is_a_decision() -> None:
    found = said(shop(past(1), budget="100 of 100 requests of 2026-07"))
    assert (found.stand, found.fault) == (Stand.BUDGET, Fault.DECISION)


def test_a_paused_store_is_resumed_if_somebody_wants_that() -> None:
    found = said(shop(past(1, hours_ago=90), jobs=[job("paused", None)]))
    assert (found.stand, found.fault, found.action.does) == (Stand.PAUSED, Fault.DECISION, Does.RESUME)


def test_a_broken_file_comes_before_all_else() -> None:
    found = said(shop(past(1, _S.BLOCKED), file_error="store.toml: no base_url"))
    assert (found.stand, found.fault, found.action.does) == (Stand.BROKEN, Fault.OURS, Does.FIX)


def test_a_store_that_was_given_up_needs_nothing() -> None:
    found = said(shop(past(1, hours_ago=900), file_gone=True, jobs=[]))
    assert (found.stand, found.fault) == (Stand.GONE, Fault.NOBODY)


def test_a_store_that_never_ran_is_begun_unless_that_is_planned() -> None:
    assert said(shop(jobs=[])).action.kind == "backfill"
    planned = said(shop())
    assert (planned.stand, planned.action.does) == (Stand.NEVER, Does.LOOK)
