"""What is different about a run."""

from __future__ import annotations

from storebot.core.dashboard.run_differences import Setup, differences, mix


def test_only_what_differs_is_told_the_most_telling_first() -> None:
    before = Setup(parser_version="p1", hash_version=1, tiers={"http": 10})
    now = Setup(
        parser_version="p2",
        hash_version=1,
        overrides=["robots.txt: ann: agreed"],
        planned=1200,
        tiers={"http": 5, "browser": 5},
    )
    assert [(one.what, one.before, one.now) for one in differences(before, now)] == [
        ("parser", "p1", "p2"),
        ("overrides", "none", "robots.txt: ann: agreed"),
        ("plan", "none", "1,200 requests"),
        ("tiers", "http 100 %", "browser 50 %, http 50 %"),
    ]
    assert differences(now, now) == []


def test_shares_of_tiers_are_said_of_few_and_of_none() -> None:
    assert mix({"http": 999, "browser": 1}) == "http 100 %, browser < 1 %"
    assert mix({}) == "no visits"
