"""What changed just before: the newest first, of the last week alone."""

from __future__ import annotations

from storebot.core.dashboard.before import LATELY_MS, before
from storebot.core.dashboard.blame import Past
from storebot.items import RunStatus

HOUR = 3_600_000
NOW = 1_780_000_000_000


def past(number: int, hours_ago: int, parser: str = "3-aaaa1111", status: RunStatus = RunStatus.COMPLETE) -> Past:
    start = NOW - hours_ago * HOUR
    return Past(number, "refresh", status, "", start, start + 1, parser)


def test_a_parser_that_moved_is_told_with_the_run_that_had_it_first() -> None:
    runs = [past(3, 1, "3-bbbb2222"), past(2, 2, "3-bbbb2222"), past(1, 3)]
    (found,) = before(runs, NOW)
    assert (found.run_id, found.at_ms) == (2, NOW - 2 * HOUR)
    assert found.text == "the parser moved from 3-aaaa1111 to 3-bbbb2222"


def test_another_generation_of_the_parser_is_another_release() -> None:
    (found,) = before([past(2, 1, "4-aaaa1111"), past(1, 2)], NOW)
    assert "storebot itself is another release" in found.text


def test_a_file_that_was_edited_and_a_breaker_that_opened_are_told_the_newest_first() -> None:
    found = before(
        [past(1, 9)], NOW, file_at_ms=NOW - 2 * HOUR, breaker_opened_at=NOW - HOUR, held_since=NOW - 3 * HOUR
    )
    assert [one.text for one in found] == [
        "its circuit breaker opened",
        "the store file was edited",
        "the write gate began to hold changes",
    ]


def test_what_is_long_past_is_not_told() -> None:
    assert before([], NOW, file_at_ms=NOW - LATELY_MS - 1) == []
    assert len(before([], NOW, file_at_ms=NOW - LATELY_MS)) == 1


def test_another_tier_is_told_from_a_tenth_of_the_pages_on() -> None:
    runs = [past(2, 1), past(1, 2)]
    (found,) = before(runs, NOW, tiers={2: {"http": 80, "browser": 20}, 1: {"http": 95, "browser": 5}})
    assert found.text == "20% of the pages came by browser, before 5%"
    assert before(runs, NOW, tiers={2: {"http": 91, "browser": 9}, 1: {"http": 100}}) == []
    assert before(runs, NOW, tiers={2: {"browser": 9}}) == []


def test_the_first_run_that_failed_is_told_once() -> None:
    failed = RunStatus.FAILED
    runs = [past(3, 1, status=failed), past(2, 2, status=failed), past(1, 3)]
    assert [(one.run_id, one.text) for one in before(runs, NOW)] == [(2, "the first run that was failed")]
