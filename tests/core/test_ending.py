"""How a run ended, by its facts alone."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storebot.core.ending import Ending, judge
from storebot.exceptions import ExitCode
from storebot.items import NOT_OBSERVED, Outcome, RunStatus


def test_run_that_saw_every_page_is_complete_though_some_are_missing() -> None:
    end = Ending(finish_reason="finished", outcomes={Outcome.NEW: 9, Outcome.MISSING: 1}, pages_known=10, pages_read=9)
    assert judge(end) == (RunStatus.COMPLETE, "", ExitCode.COMPLETE)


def test_run_that_finds_one_of_many_known_pages_due_and_missing_is_complete() -> None:
    end = Ending(finish_reason="finished", outcomes={Outcome.MISSING: 1}, pages_known=10, pages_read=10)
    assert judge(end) == (RunStatus.COMPLETE, "", ExitCode.COMPLETE)


def test_run_that_finds_every_known_page_missing_is_no_success() -> None:
    status, reason, code = judge(Ending(finish_reason="finished", outcomes={Outcome.MISSING: 980}, pages_known=980))
    assert (status, code) == (RunStatus.PARTIAL, ExitCode.PARTIAL)
    assert reason == "all 980 known product pages are missing: has the shop moved?"


# --- each status and each exit code ---------------------------------------------------------------------------------

GOOD = Ending(
    finish_reason="finished", outcomes={Outcome.NEW: 9, Outcome.NOT_MODIFIED: 1}, pages_known=10, pages_read=10
)
NOTHING_SEEN = {Outcome.BLOCKED: 3, Outcome.MISSING: 2}


@pytest.mark.parametrize(
    ("facts", "status", "code", "reason"),
    [
        ({}, RunStatus.COMPLETE, ExitCode.COMPLETE, ""),
        ({"outcomes": {}}, RunStatus.COMPLETE, ExitCode.COMPLETE, ""),  # everything was had before
        ({"outcomes": {Outcome.NEW: 9, Outcome.ERROR: 2}}, RunStatus.PARTIAL, ExitCode.PARTIAL, "2 error"),
        ({"outcomes": {Outcome.NEW: 9, Outcome.INVALID: 1}}, RunStatus.PARTIAL, ExitCode.PARTIAL, "1 invalid"),
        ({"outcomes": {Outcome.NEW: 9, Outcome.BLOCKED: 1}}, RunStatus.PARTIAL, ExitCode.PARTIAL, "1 blocked"),
        ({"pages_left": 4}, RunStatus.PARTIAL, ExitCode.PARTIAL, "4 pages left"),
        ({"pages_waiting": 3}, RunStatus.PARTIAL, ExitCode.PARTIAL, "3 pages of an earlier run that failed wait"),
        ({"pages_read": 0}, RunStatus.PARTIAL, ExitCode.PARTIAL, "none of 10 known pages was ever read"),
        ({"incomplete_walks": ["no end", "lost"]}, RunStatus.PARTIAL, ExitCode.PARTIAL, "no end; lost"),
        ({"outcomes": NOTHING_SEEN}, RunStatus.BLOCKED, ExitCode.BLOCKED, "3 blocked"),
        ({"finish_reason": "blocked"}, RunStatus.BLOCKED, ExitCode.BLOCKED, "the store answers with block pages"),
        (
            {"held": 60, "held_why": "why"},
            RunStatus.HELD,
            ExitCode.HELD,
            "the changes of 60 pages are held, not published: w",
        ),
        (
            {"held": 1, "held_why": "why", "pages_left": 4},
            RunStatus.HELD,
            ExitCode.HELD,
            "the change of 1 page is held, not published: why; see `scrapy holds`; 4 pages left",
        ),
        ({"held": 1, "finish_reason": "blocked"}, RunStatus.BLOCKED, ExitCode.BLOCKED, "the change of 1 page is held"),
        ({"held": 1, "internal_errors": 2}, RunStatus.HELD, ExitCode.INTERNAL_ERROR, "2 exceptions in storebot itself"),
        ({"internal_errors": 2}, RunStatus.PARTIAL, ExitCode.INTERNAL_ERROR, "2 exceptions in storebot itself, see"),
        (
            {"internal_errors": 1, "pages_left": 4},
            RunStatus.PARTIAL,
            ExitCode.INTERNAL_ERROR,
            "1 exceptions in storebot itself, see the log; 4 pages left",
        ),
        ({"outcomes": {}, "pages_known": 0}, RunStatus.FAILED, ExitCode.PARTIAL, "no product page was found: check"),
        (
            {"outcomes": {}, "pages_known": 0, "incomplete_walks": ["sitemap: HTTP 500"]},
            RunStatus.FAILED,
            ExitCode.PARTIAL,
            "sitemap: HTTP 500",
        ),
        (
            {"finish_reason": "closespider_timeout", "pages_left": 2},
            RunStatus.INTERRUPTED,
            ExitCode.PARTIAL,
            "closed early: closespider_timeout; 2 pages left",
        ),
        (
            {"finish_reason": "closespider_timeout"},
            RunStatus.INTERRUPTED,
            ExitCode.PARTIAL,
            "closed early: closespider",
        ),
        ({"finish_reason": "shutdown"}, RunStatus.INTERRUPTED, ExitCode.SIGINT, "the next run resumes"),
        ({"finish_reason": "shutdown", "signal": 2}, RunStatus.INTERRUPTED, ExitCode.SIGINT, "the next run resumes"),
        ({"finish_reason": "shutdown", "signal": 15}, RunStatus.INTERRUPTED, ExitCode.SIGTERM, "the next run resumes"),
        ({"failure": "another run has it", "failure_code": ExitCode.BUSY}, RunStatus.FAILED, ExitCode.BUSY, "another"),
        ({"failure": "disk full", "failure_code": ExitCode.DATABASE}, RunStatus.FAILED, ExitCode.DATABASE, "disk full"),
        ({"failure": "it broke"}, RunStatus.FAILED, ExitCode.INTERNAL_ERROR, "it broke"),
    ],
)
def test_run_is_judged_by(facts: dict[str, Any], status: RunStatus, code: ExitCode, reason: str) -> None:
    found, why, exit_code = judge(replace(GOOD, **facts))
    assert (found, exit_code) == (status, code)
    assert reason in why
    assert bool(why) is (status is not RunStatus.COMPLETE)
    assert not why.endswith(("; ", ";"))


@pytest.mark.parametrize("outcome", [Outcome.MISSING, Outcome.MOVED])
def test_run_that_finds_all_known_pages_gone_or_moved_is_no_success(outcome: Outcome) -> None:
    status, reason, code = judge(replace(GOOD, outcomes={outcome: 10}))
    assert (status, code) == (RunStatus.PARTIAL, ExitCode.PARTIAL)
    assert "has the shop moved?" in reason
    assert judge(replace(GOOD, outcomes={outcome: 9}))[0] is RunStatus.COMPLETE


def test_run_that_was_allowed_to_visit_nothing_is_no_success() -> None:
    status, reason, code = judge(replace(GOOD, outcomes={Outcome.SKIPPED: 4}))
    assert (status, code) == (RunStatus.PARTIAL, ExitCode.PARTIAL)
    assert "does robots.txt forbid them?" in reason
    assert judge(replace(GOOD, outcomes={Outcome.SKIPPED: 4, Outcome.NEW: 1}))[0] is RunStatus.COMPLETE


def test_catalogue_that_is_blocked_before_any_page_is_seen_ends_the_run_as_blocked() -> None:
    assert judge(replace(GOOD, outcomes={}, pages_known=0, walks_blocked=1))[2] is ExitCode.BLOCKED


WORST_FIRST: list[dict[str, Any]] = [
    {"failure": "the lease was lost", "failure_code": ExitCode.BUSY},
    {"finish_reason": "shutdown", "signal": 15},
    {"outcomes": NOTHING_SEEN},
    {"internal_errors": 1},
    {"pages_known": 0},
    {"pages_left": 1},
]


@pytest.mark.parametrize("place", range(len(WORST_FIRST)))
def test_the_worst_fact_wins_over_all_that_are_less_bad(place: int) -> None:
    worst = judge(replace(GOOD, **WORST_FIRST[place]))
    together: dict[str, Any] = {}
    for facts in reversed(WORST_FIRST[place:]):
        together |= facts
    found = judge(replace(GOOD, **together))
    assert (found[0], found[2]) == (worst[0], worst[2])


def test_store_that_redirects_every_known_page_away_is_no_success() -> None:
    status, reason, code = judge(Ending(finish_reason="finished", outcomes={Outcome.MOVED: 40}, pages_known=40))
    assert (status, code) == (RunStatus.PARTIAL, ExitCode.PARTIAL)
    assert reason == "all 40 known product pages redirect away: has the shop moved?"


@pytest.mark.parametrize(("away", "failed"), [({"new.example": 6}, True), ({"new.example": 5}, False), ({}, False)])
def test_domain_has_moved_when_most_pages_lead_off_the_site(away: dict[str, int], failed: bool) -> None:
    """Case R05."""
    outcomes = {Outcome.MOVED: 6, Outcome.UNCHANGED: 4}
    end = replace(GOOD, outcomes=outcomes, moved_off=away)
    status, reason, code = judge(end)
    assert (status is RunStatus.FAILED) is failed
    if failed:
        assert code is ExitCode.PARTIAL
        assert reason.startswith("domain moved: 6 of 10 pages redirect to new.example; is base_url still the shop's?")


def test_host_that_most_pages_lead_to_is_named() -> None:
    end = replace(GOOD, outcomes={Outcome.MOVED: 10}, moved_off={"parked.example": 3, "new.example": 7})
    assert "10 of 10 pages redirect to new.example" in judge(end)[1]


def test_run_of_which_robots_txt_left_nothing_is_no_success() -> None:
    """Case Z07."""
    status, reason, code = judge(Ending(finish_reason="finished", outcomes={Outcome.SKIPPED: 7}, pages_known=40))
    assert (status, code) == (RunStatus.PARTIAL, ExitCode.PARTIAL)
    assert reason == "all 7 pages were skipped: does robots.txt forbid them?"
    seen = {Outcome.SKIPPED: 7, Outcome.NOT_MODIFIED: 33}
    some = Ending(finish_reason="finished", outcomes=seen, pages_known=40, pages_read=33)
    assert judge(some)[0] is RunStatus.COMPLETE


def test_catalogue_of_block_pages_is_blocked_though_no_product_page_was_asked_for() -> None:
    end = Ending(finish_reason="finished", outcomes={}, incomplete_walks=["page 1 blocked"], walks_blocked=1)
    assert judge(end) == (RunStatus.BLOCKED, "page 1 blocked", ExitCode.BLOCKED)


COUNTS = st.dictionaries(st.sampled_from(list(Outcome)), st.integers(0, 20), max_size=5)
ENDINGS = st.builds(
    Ending,
    finish_reason=st.sampled_from(["finished", "finished", "finished", "shutdown", "blocked", "closespider_timeout"]),
    outcomes=COUNTS,
    incomplete_walks=st.lists(st.just("a walk without its end"), max_size=1),
    pages_known=st.integers(0, 20),
    pages_read=st.integers(0, 20),
    pages_waiting=st.integers(0, 1),
    pages_left=st.integers(0, 1),
    internal_errors=st.integers(0, 1),
    signal=st.sampled_from([0, 0, 0, 2, 15]),
    failure=st.sampled_from(["", "", "", "the database is gone"]),
    failure_code=st.sampled_from([None, ExitCode.BUSY, ExitCode.DATABASE]),
)


@given(ENDINGS)
def test_complete_means_that_nothing_speaks_against_it(end: Ending) -> None:
    status, reason, code = judge(end)
    assert (status is RunStatus.COMPLETE) == (code is ExitCode.COMPLETE) == (reason == "")
    if status is RunStatus.COMPLETE:
        assert (end.finish_reason, end.failure, end.signal, end.internal_errors) == ("finished", "", 0, 0)
        assert (end.pages_left, end.pages_waiting, list(end.incomplete_walks)) == (0, 0, [])
        assert not any(end.outcomes.get(outcome) for outcome in NOT_OBSERVED)
        assert end.pages_known
        assert end.pages_read


@given(ENDINGS, st.sampled_from(NOT_OBSERVED))
def test_one_more_page_that_was_not_observed_never_makes_a_run_complete(end: Ending, outcome: Outcome) -> None:
    more = {**end.outcomes, outcome: end.outcomes.get(outcome, 0) + 1}
    assert judge(replace(end, outcomes=more))[0] is not RunStatus.COMPLETE


def test_pages_that_wait_after_a_failure_keep_a_run_from_being_complete() -> None:
    end = Ending(finish_reason="finished", outcomes={}, pages_known=9, pages_read=8, pages_waiting=3)
    assert judge(end) == (
        RunStatus.PARTIAL,
        "3 pages of an earlier run that failed wait for their next try",
        ExitCode.PARTIAL,
    )


def test_a_store_of_which_nothing_was_ever_read_is_not_complete() -> None:
    status, reason, code = judge(Ending(finish_reason="finished", outcomes={}, pages_known=980))
    assert (status, code) == (RunStatus.PARTIAL, ExitCode.PARTIAL)
    assert reason == "none of 980 known pages was ever read"


def test_a_backfill_with_fewer_listings_than_its_store_expects_is_partial() -> None:
    end = Ending(finish_reason="finished", outcomes={}, pages_known=9, pages_read=9, listings_known=9, min_listings=10)
    assert judge(end)[:2] == (RunStatus.PARTIAL, "9 listings, and [expect] min_listings is 10")
    assert judge(replace(end, listings_known=10))[0] is RunStatus.COMPLETE


def test_an_empty_store_has_failed_unless_its_file_says_that_it_may_be_empty() -> None:
    empty = Ending(finish_reason="finished", outcomes={})
    assert judge(empty)[0] is RunStatus.FAILED
    assert judge(replace(empty, min_listings=0))[0] is RunStatus.COMPLETE


def test_run_that_its_budget_ended_is_partial_and_names_its_lists_only_by_number() -> None:
    walks = ["sitemap a: why", "sitemap b: why"]
    end = replace(GOOD, budget="15 of 15 requests of this run", pages_left=4, incomplete_walks=walks)
    reason = "15 of 15 requests of this run; the next run goes on; 4 pages left; 2 lists not read to the end"
    assert judge(end) == (RunStatus.PARTIAL, f"budget reached: {reason}", ExitCode.BUDGET)


def test_budget_that_ended_discovery_before_it_found_a_page_is_no_failure() -> None:
    end = Ending(finish_reason="finished", outcomes={}, budget="1 of 1 requests of this run")
    assert judge(end)[0::2] == (RunStatus.PARTIAL, ExitCode.BUDGET)


@pytest.mark.parametrize(
    ("worse", "code"),
    [
        ({"internal_errors": 1}, ExitCode.INTERNAL_ERROR),
        ({"held": 1}, ExitCode.HELD),
        ({"finish_reason": "blocked"}, ExitCode.BLOCKED),
        ({"signal": 15}, ExitCode.SIGTERM),
    ],
    ids=["error", "held", "blocked", "signal"],
)
def test_budget_is_the_least_of_what_a_run_can_end_by(worse: dict[str, Any], code: ExitCode) -> None:
    assert judge(replace(GOOD, budget="it", **worse))[2] is code


@pytest.mark.parametrize(
    ("forbidden", "seen", "status", "code", "reason"),
    [
        ({"known": 2}, 0, RunStatus.BLOCKED, ExitCode.BLOCKED, "blocked by robots.txt: 2 pages that were read before"),
        ({"known": 1}, 8, RunStatus.PARTIAL, ExitCode.PARTIAL, "blocked by robots.txt: 1 page that was read before"),
        (
            {"walk": 1, "new": 3},
            8,
            RunStatus.PARTIAL,
            ExitCode.PARTIAL,
            "blocked by robots.txt: 1 request that finds pages, 3 pages that were never read",
        ),
        ({"new": 3}, 8, RunStatus.COMPLETE, ExitCode.COMPLETE, ""),
    ],
    ids=["all of what is known", "some of it", "a list", "pages never read"],
)
def test_what_robots_txt_forbids_by_now_is_said_with_counts_and_is_no_complete_run(
    forbidden: dict[str, int], seen: int, status: RunStatus, code: ExitCode, reason: str
) -> None:
    """Case Z07."""
    outcomes = {Outcome.UNCHANGED: seen, Outcome.SKIPPED: sum(forbidden.values())}
    end = Ending(finish_reason="finished", outcomes=outcomes, forbidden=forbidden, pages_known=11, pages_read=8)
    assert judge(end) == (status, reason, code)


def test_store_of_which_every_page_is_forbidden_from_the_first_is_blocked_by_robots_txt() -> None:
    """Case Z07."""
    end = Ending(finish_reason="finished", outcomes={Outcome.SKIPPED: 5}, forbidden={"new": 5}, pages_known=5)
    assert judge(end) == (
        RunStatus.BLOCKED,
        "blocked by robots.txt: 5 pages that were never read",
        ExitCode.BLOCKED,
    )


def test_run_that_an_open_breaker_turned_away_is_blocked_not_failed() -> None:
    end = Ending(finish_reason="not_started", outcomes={}, failure="it is open", failure_code=ExitCode.BLOCKED)
    assert judge(end) == (RunStatus.BLOCKED, "it is open", ExitCode.BLOCKED)


def test_blocked_run_without_a_visit_says_why_it_ended() -> None:
    end = Ending(finish_reason="blocked", outcomes={}, notes=["its probe failed"])
    assert judge(end) == (RunStatus.BLOCKED, "its probe failed", ExitCode.BLOCKED)


def test_what_was_expected_and_is_missed_is_in_the_reason_and_changes_neither_status_nor_exit_code() -> None:
    end = Ending(
        finish_reason="finished", outcomes={Outcome.NEW: 1}, pages_known=1, pages_read=1, missed=("9 are few",)
    )
    assert judge(end) == (RunStatus.COMPLETE, "not as expected: 9 are few", ExitCode.COMPLETE)
    held = judge(replace(end, held=1, held_why="why"))
    assert (held[0], held[2]) == (RunStatus.HELD, ExitCode.HELD)
    assert held[1].endswith("; not as expected: 9 are few")
    stopped = judge(replace(end, signal=15))
    assert "expected" not in stopped[1]
