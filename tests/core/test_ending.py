"""How a run ended, by its facts alone."""

from __future__ import annotations

from storebot.core.ending import Ending, judge
from storebot.exceptions import ExitCode
from storebot.items import Outcome, RunStatus


def test_run_that_saw_every_page_is_complete_though_some_are_missing() -> None:
    end = Ending(finish_reason="finished", outcomes={Outcome.NEW: 9, Outcome.MISSING: 1}, pages_known=10)
    assert judge(end) == (RunStatus.COMPLETE, "", ExitCode.COMPLETE)


def test_run_that_finds_one_of_many_known_pages_due_and_missing_is_complete() -> None:
    end = Ending(finish_reason="finished", outcomes={Outcome.MISSING: 1}, pages_known=10)
    assert judge(end) == (RunStatus.COMPLETE, "", ExitCode.COMPLETE)


def test_run_that_finds_every_known_page_missing_is_no_success() -> None:
    status, reason, code = judge(Ending(finish_reason="finished", outcomes={Outcome.MISSING: 980}, pages_known=980))
    assert (status, code) == (RunStatus.PARTIAL, ExitCode.PARTIAL)
    assert reason == "all 980 known product pages are missing: has the shop moved?"
