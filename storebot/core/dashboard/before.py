"""What changed just before a store stopped being well: what we changed, beside what the runs met."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from storebot.core.dashboard.blame import Past
from storebot.items import RunStatus

LATELY_MS = 7 * 86_400_000
_MOST = 4
_OTHER_TIER = 0.1  # share of the visits, by which another tier has to be used more than before


class Before(NamedTuple):
    """One thing that changed. ``run_id`` is the run that met it first; 0: none."""

    at_ms: int
    text: str
    run_id: int = 0


def before(
    runs: Sequence[Past],
    now_ms: int,
    *,
    file_at_ms: int = 0,
    tiers: Mapping[int, Mapping[str, int]] | None = None,
    held_since: int = 0,
    breaker_opened_at: int = 0,
) -> list[Before]:
    """Return what changed of late, the newest first. ``tiers`` are visits by tier of some of the runs, by run."""
    found = [*_of_runs(runs), *_of_tiers(runs, tiers or {})]
    if file_at_ms:
        found.append(Before(file_at_ms, "the store file was edited"))
    if held_since:
        found.append(Before(held_since, "the write gate began to hold changes"))
    if breaker_opened_at:
        found.append(Before(breaker_opened_at, "its circuit breaker opened"))
    lately = [one for one in found if now_ms - one.at_ms <= LATELY_MS]
    return sorted(lately, key=lambda one: -one.at_ms)[:_MOST]


def _of_runs(runs: Sequence[Past]) -> list[Before]:
    found = []
    for later, earlier in pairwise(runs):
        if later.parser_version and earlier.parser_version and later.parser_version != earlier.parser_version:
            text = f"the parser moved from {earlier.parser_version} to {later.parser_version}"
            if later.parser_version.partition("-")[0] != earlier.parser_version.partition("-")[0]:
                text += ": storebot itself is another release"
            found.append(Before(later.started_at, text, later.id))
    for later, earlier in pairwise(runs):
        if later.status in (RunStatus.FAILED, RunStatus.BLOCKED) and earlier.status is RunStatus.COMPLETE:
            found.append(Before(later.started_at, f"the first run that was {later.status.value}", later.id))
            break
    return found


def _of_tiers(runs: Sequence[Past], tiers: Mapping[int, Mapping[str, int]]) -> list[Before]:
    """Say which tier the newest run used that the one before it used less."""
    known = [run for run in runs if sum(tiers.get(run.id, {}).values())]
    if len(known) < 2:
        return []
    now, was = _shares(tiers[known[0].id]), _shares(tiers[known[1].id])
    risen = {tier: share for tier, share in now.items() if share - was.get(tier, 0.0) >= _OTHER_TIER}
    return [
        Before(
            known[0].started_at,
            f"{share:.0%} of the pages came by {tier}, before {was.get(tier, 0.0):.0%}",
            known[0].id,
        )
        for tier, share in risen.items()
    ]


def _shares(visits: Mapping[str, int]) -> dict[str, float]:
    total = sum(visits.values())
    return {tier: count / total for tier, count in visits.items()}
