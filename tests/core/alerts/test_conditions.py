"""What is wrong, by the facts: each rule at its limit, with its numbers and what to do."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from storebot.core.alerts.conditions import (
    UNDELIVERED_AFTER_MS,
    Disk,
    End,
    Facts,
    FailingJob,
    Late,
    Limits,
    Receiver,
    StoreFacts,
    Waiting,
    findings,
)
from storebot.core.breaker import Breaker, State
from storebot.items import RunStatus
from tests.core.alerts.timeline import BERLIN, at

HOUR = 3_600_000
NOW = at("2026-06-01 12:00")
LIMITS = Limits(zone=BERLIN)


def end(hours_ago: float, status: RunStatus = RunStatus.COMPLETE, **values: Any) -> End:
    start = int(NOW - hours_ago * HOUR)
    return End(int(1000 - hours_ago), status, "why", start, start + 60_000)._replace(**values)


def store(*ends: End, **facts: Any) -> StoreFacts:
    """Return facts of a store whose refreshes ended so, the newest first."""
    last = ends[0].started_at if ends else 0
    made = StoreFacts(name="acme", ends={"refresh": ends} if ends else {}, last_start=last)
    return replace(made, **facts)


def said(*stores: StoreFacts, limits: Limits = LIMITS, now: int = NOW, **facts: Any) -> dict[str, str]:
    """Return the texts of what is wrong, by key; each has an advice."""
    found = findings(Facts(stores=stores, **facts), limits, now)
    assert all(one.advice for one in found)
    return {one.key: one.text for one in found}


FAILED, BLOCKED = RunStatus.FAILED, RunStatus.BLOCKED


def test_a_store_in_which_all_is_well_is_not_spoken_of() -> None:
    assert said(store(end(1), end(25))) == {}
    assert said(store()) == {}


@pytest.mark.parametrize(
    ("statuses", "fails"),
    [
        ((FAILED, FAILED, FAILED), True),
        ((FAILED, BLOCKED, FAILED), True),
        ((FAILED, FAILED, RunStatus.COMPLETE), False),
        ((FAILED, FAILED), False),
        ((RunStatus.PARTIAL,) * 3, False),
        ((RunStatus.INTERRUPTED,) * 3, False),
        ((RunStatus.HELD,) * 3, False),
    ],
)
def test_runs_that_failed_in_a_row(statuses: tuple[RunStatus, ...], fails: bool) -> None:
    found = said(store(*(end(place, status) for place, status in enumerate(statuses, 1))))
    assert ("failing acme refresh" in found) is fails


def test_a_job_that_was_given_up_is_told_once_with_its_runs() -> None:
    jobs = [FailingJob("refresh", 2, "exit 1"), FailingJob("prune", 1, "disk full")]
    found = said(store(end(1, FAILED), end(2, FAILED), end(3, FAILED), jobs=jobs))
    assert found["failing acme refresh"] == "the last 3 runs (refresh) failed: why"
    assert found["failing acme prune"] == "the job prune was given up once: disk full"
    assert len(found) == 2


def test_a_shop_that_says_no() -> None:
    assert said(store(end(1, BLOCKED), end(25))) == {"blocked acme": "run 999 was blocked: why"}
    shut = Breaker(State.OPEN, NOW, NOW + HOUR, 1, "503")
    assert said(store(end(1, BLOCKED), breaker=shut)) == {
        "breaker acme": "it is left alone until 2026-06-01 13:00 CEST, because 503."
    }
    half = said(store(breaker=shut._replace(state=State.HALF_OPEN)))
    assert half["breaker acme"].startswith("it is left alone until its probe is answered")


def test_changes_that_are_held() -> None:
    assert said(store(held=2, held_since=NOW - HOUR)) == {
        "held acme": "the changes of 2 pages are held and not published, the oldest since 2026-06-01 11:00 CEST."
    }


def test_a_run_that_was_not_as_expected_counts_until_the_next_that_was_measured() -> None:
    missed = end(3, missed=("few",))
    assert said(store(end(1, FAILED), missed)) == {"unexpected acme refresh": "refresh (run 997): few."}
    assert said(store(end(1), missed)) == {}


def test_a_store_that_nothing_looks_at_any_more_by_its_file() -> None:
    days = {"max_age_ms": 48 * HOUR}
    assert said(store(end(1, FAILED), end(47.9), **days)) == {}
    found = said(store(end(1, FAILED), end(49), **days))
    assert found["silent acme"].endswith("and [expect] max_age is 48h.")


def test_a_store_that_nothing_looks_at_any_more_by_its_habit() -> None:
    daily = store(*(end(49 + day * 24) for day in range(6)))
    assert said(daily)["silent acme"].endswith("and one begins each 24h as a rule.")
    assert said(store(*(end(48 + day * 24) for day in range(6)))) == {}, "twice the usual time isn't over yet"
    assert said(store(*(end(49 + day * 24) for day in range(5)))) == {}, "too few runs to know"
    assert said(replace(daily, learned=False)) == {}
    assert said(replace(daily, last_start=NOW - HOUR)) == {}, "one is under way"
    tried_again = [end(5 + day * 24 - place / 60, FAILED) for day in range(3) for place in range(4, -1, -1)]
    nights = [*tried_again, *(end(5 + day * 24) for day in range(3, 9))]
    assert set(said(store(*nights))) == {"failing acme refresh"}, "tries of one night aren't how often one runs"
    minutely = store(*(end(1 + place / 60) for place in range(6)))
    assert said(minutely) == {}, "an hour is nothing"
    shut = Breaker(State.OPEN, NOW, NOW + HOUR, 1, "503")
    assert set(said(replace(daily, breaker=shut))) == {"breaker acme"}


def test_a_budget_a_disk_a_file_and_jobs() -> None:
    disks = [Disk("database", "/data", 1_900_000_000), Disk("page archive", "/pages", 2_100_000_000)]
    found = said(
        store(budget="5 of 5 requests of 2026-06"),
        disks=disks,
        broken={"b": "b.toml: base_url: is missing"},
        overdue=[Late("refresh of acme", NOW - HOUR), Late("prune of acme", NOW - 2 * HOUR)],
    )
    assert found == {
        "budget acme": "5 of 5 requests of 2026-06: until the month ends no request is sent.",
        "disk database": "1.9 GB are free where the database is (/data).",
        "store_file b": "b.toml: base_url: is missing",
        "overdue": "2 jobs wait for a worker, prune of acme since 2026-06-01 10:00 CEST.",
    }


def test_a_job_that_no_node_takes_says_why() -> None:
    """Case Y04: each minute a worker tries, and no node has its version."""
    late = Late("refresh of acme", NOW - HOUR, "job 3 (refresh of acme): no Scrapyd node took it: n1: it has r9")
    assert said(overdue=[late]) == {
        "overdue": "1 job waits for a worker, refresh of acme since 2026-06-01 11:00 CEST. "
        "A worker tried: job 3 (refresh of acme): no Scrapyd node took it: n1: it has r9"
    }


def test_messages_that_a_recipient_does_not_take_for_an_hour() -> None:
    waiting = Waiting("ann", "slack", 3, NOW, "HTTP 404")
    assert said(waiting=[waiting], now=NOW + UNDELIVERED_AFTER_MS - 1) == {}
    assert said(waiting=[waiting], now=NOW + UNDELIVERED_AFTER_MS) == {
        "undelivered ann": "3 messages wait for slack since 2026-06-01 12:00 CEST: HTTP 404"
    }


def test_a_receiver_of_changes_that_takes_none_for_an_hour() -> None:
    well = Receiver(1, "https://a.example/***")
    waits = Receiver(7, "https://b.example/***", since=NOW, error="it answered 500")
    assert said(receivers=[well, waits], now=NOW + UNDELIVERED_AFTER_MS - 1) == {}
    later = NOW + UNDELIVERED_AFTER_MS
    assert said(receivers=[well, waits], now=later) == {
        "webhook 7": "a message waits for subscription 7 (https://b.example/***) since 2026-06-01 12:00 CEST: "
        "it answered 500."
    }
    unsent = waits._replace(error="")
    assert said(receivers=[unsent], now=later)["webhook 7"].endswith(": nothing sends it, so plan scrapy deliver run.")


def test_a_receiver_of_changes_that_is_gone_or_lacks_some() -> None:
    gone = Receiver(7, "https://b.example/***", "its receiver answered 410 Gone", since=NOW, after=41)
    assert said(receivers=[gone]) == {
        "webhook 7": "subscription 7 (https://b.example/***) ended, because its receiver answered 410 Gone."
    }
    lacks = Receiver(8, "https://c.example/***", dead=2, after=41)
    assert said(receivers=[lacks])["webhook 8"] == "2 messages to subscription 8 (https://c.example/***) were given up."
    both = lacks._replace(dead=1, since=NOW - UNDELIVERED_AFTER_MS, error="no answer")
    found = findings(Facts(receivers=[both]), LIMITS, NOW)
    assert [one.text for one in found] == [
        "a message waits for subscription 8 (https://c.example/***) since 2026-06-01 11:00 CEST: no answer. "
        "1 message to subscription 8 (https://c.example/***) was given up."
    ]
    assert "scrapy deliver replay --subscription 8 --after 41 sends what it lacks" in found[0].advice
