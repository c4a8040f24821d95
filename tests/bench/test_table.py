"""Ratios are paired by round, a broken promise is named, and rows that have no samples say why."""

from __future__ import annotations

from bench.roster import CONTENDERS, TARGETS, Contender, Target
from bench.rounds import Sample, order
from bench.table import ratio, results, targets

A = Contender(name="a", what="crawler a", module="a")
BARE = Contender(name="bare", what="bare", module="bare")


def sample(name: str, number: int, cpu_s: float, peak_mb: int = 90) -> Sample:
    return Sample(contender=name, round=number, pages=1000, cpu_s=cpu_s, wall_s=2.0, peak_rss_bytes=peak_mb << 20)


def test_ratio_is_the_median_of_the_rounds_own_ratios() -> None:
    # the second round ran on a machine that was three times as slow: a ratio of medians would say 1.33
    samples = [sample("a", 0, 1.0), sample("bare", 0, 2.0), sample("a", 1, 6.0), sample("bare", 1, 12.0)]
    samples += [sample("a", 2, 4.0), sample("bare", 2, 3.0)]
    found = ratio(samples, "a", "bare")
    assert found is not None
    assert (found.median, found.rounds) == (0.5, 3)


def test_rounds_in_which_one_side_failed_are_not_compared() -> None:
    found = ratio([sample("a", 0, 1.0), sample("bare", 0, 2.0), sample("a", 1, 9.0)], "a", "bare")
    assert found is not None
    assert (found.median, found.rounds) == (0.5, 1)
    assert ratio([sample("a", 0, 1.0)], "a", "bare") is None


def test_a_missed_promise_and_a_peak_above_the_limit_are_named() -> None:
    samples = [sample("a", 0, 3.0, peak_mb=151), sample("bare", 0, 2.0)]
    text, kept = targets(samples, [Target(who="a", over="bare", limit=1.0), Target(who="b", over="bare", limit=1.0)])
    assert not kept
    assert text.count("MISSED") == 2
    assert "not measured" in text


def test_a_kept_promise_is_ok() -> None:
    text, kept = targets([sample("a", 0, 1.0), sample("bare", 0, 2.0)], [Target(who="a", over="bare", limit=0.5)])
    assert kept
    assert "MISSED" not in text


def test_a_crawler_that_was_not_measured_says_why() -> None:
    samples = [sample("bare", 0, 2.0)]
    text = results(samples, [sample("bare", 0, 1.0)], [A, BARE], {"a": "a isn't installed"})
    assert "not measured: a isn't installed" in text
    assert "| 1.00 " in text  # ms after start: (2 − 1) s over 1,000 pages


def test_every_round_runs_everybody_and_nobody_always_goes_first() -> None:
    rounds = [order(CONTENDERS, number) for number in range(7)]
    assert all(sorted(each.name for each in turn) == sorted(each.name for each in CONTENDERS) for turn in rounds)
    assert len({turn[0].name for turn in rounds}) > 3


def test_promises_speak_of_contenders_that_exist() -> None:
    names = {each.name for each in CONTENDERS}
    assert {name for target in TARGETS for name in (target.who, target.over)} <= names
