"""When a store that says no is left alone."""

from __future__ import annotations

from collections.abc import Mapping

from storebot.items import Outcome


def should_open(outcomes: Mapping[Outcome, int], *, share: float, minimum: int) -> bool:
    """Whether so many visits were blocked that the run should end.

    ``minimum`` blocked visits are needed before the ``share`` of all visits counts, so that two unlucky first pages
    don't end a run.
    """
    blocked = outcomes.get(Outcome.BLOCKED, 0)
    return blocked >= max(minimum, 1) and blocked >= share * sum(outcomes.values())
