"""Whose fault a run is: tied to the sentences that `core.ending` makes, so that none is misread when they change."""

from __future__ import annotations

from typing import Any

import pytest

from storebot.core.dashboard.blame import Fault, Past, blame
from storebot.core.ending import Ending, judge
from storebot.exceptions import DatabaseUnavailable, ExitCode
from storebot.items import Outcome


def ended(**facts: Any) -> Past:
    """Return a run as its row says how it ended."""
    outcomes = facts.pop("outcomes", {})
    known = {"finish_reason": "finished", "pages_known": 10, "pages_read": 10, "listings_known": 10}
    status, reason, _ = judge(Ending(**{**known, "outcomes": outcomes, **facts}))
    counts = {outcome.value: count for outcome, count in outcomes.items()}
    return Past(1, "refresh", status, reason, 0, 1, counts=counts)


@pytest.mark.parametrize(
    ("facts", "fault"),
    [
        ({"outcomes": {Outcome.UNCHANGED: 10}}, Fault.NOBODY),
        ({"outcomes": {Outcome.UNCHANGED: 3, Outcome.ERROR: 7}}, Fault.SHOP),
        ({"outcomes": {Outcome.UNCHANGED: 3, Outcome.INVALID: 7}}, Fault.OURS),
        ({"outcomes": {Outcome.BLOCKED: 10}}, Fault.SHOP),
        ({"outcomes": {Outcome.UNCHANGED: 10}, "held": 4, "held_why": "prices fell"}, Fault.DECISION),
        ({"outcomes": {Outcome.UNCHANGED: 9, Outcome.ERROR: 1}, "internal_errors": 2}, Fault.OURS),
        ({"outcomes": {Outcome.MOVED: 10}, "moved_off": {"parked.example": 10}}, Fault.SHOP),
        ({"outcomes": {Outcome.MISSING: 10}}, Fault.SHOP),
        ({"outcomes": {}, "forbidden": {"walk": 2}}, Fault.SHOP),
        ({"outcomes": {}, "pages_known": 0, "pages_read": 0}, Fault.OURS),
        ({"outcomes": {Outcome.UNCHANGED: 10}, "incomplete_walks": ["sitemap /s.xml: HTTP 503"]}, Fault.SHOP),
        ({"outcomes": {Outcome.UNCHANGED: 10}, "incomplete_walks": ["page 3 repeats page 2"]}, Fault.OURS),
        (
            {
                "outcomes": {Outcome.ERROR: 2},
                "failure": str(DatabaseUnavailable("the database can't be used: disk full")),
                "failure_code": ExitCode.DATABASE,
            },
            Fault.OURS,
        ),
    ],
)
def test_a_run_is_blamed_as_it_ended(facts: dict[str, Any], fault: Fault) -> None:
    run = ended(**facts)
    assert blame(run) is fault, run.reason


def test_what_a_run_saw_is_counted_with_what_is_held() -> None:
    run = ended(outcomes={Outcome.UNCHANGED: 5, Outcome.HELD: 2, Outcome.ERROR: 1, Outcome.MISSING: 1})
    assert run.saw == 7
