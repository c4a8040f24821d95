"""What a healthy run of a store looks like, and what a run missed of it: as the store file says, and as runs were."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from statistics import median
from typing import Any

from storebot.core.pacing import as_duration
from storebot.items import RunStatus

MEASURED = (RunStatus.COMPLETE, RunStatus.PARTIAL, RunStatus.HELD)
"""Runs that ended by themselves: of the others neither time nor counts say anything."""
RUNS_ENOUGH = 5  # with fewer nothing is learned
RUNS_MOST = 20  # that are looked back at

_DEVIATIONS = 3 * 1.4826  # of the median absolute deviation: three sigma, where the values were normal
_LEAST_SHARE = 0.1  # of the median number of listings: what comes and goes anyway
_LEAST_LISTINGS = 5
_LEAST_FILL = 0.1
_KNOWN_FILL = 0.05  # a field that nearly no listing ever had isn't missed
_LEAST_TIMES, _LEAST_S = 3.0, 600.0  # what a run's time may take more than the median: the greater of the two


@dataclass(frozen=True, slots=True, kw_only=True)
class Measures:
    """What was measured when a run ended, of the store's whole copy."""

    listings: int = 0  # active ones
    elapsed_s: float = 0.0
    fill: Mapping[str, float] = field(default_factory=dict)  # share of the active listings that have a field
    old: int = 0  # pages whose last look is older than `Expected.max_age_ms`

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        return {**asdict(self), "fill": {name: round(share, 4) for name, share in self.fill.items()}}


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """What a store's file says of a healthy run; None and 0 say nothing."""

    min_listings: int | None = None
    fill: Mapping[str, float] = field(default_factory=dict)
    max_age_ms: int = 0
    max_run_time_s: float = 0.0
    learned: bool = True


def missed(expected: Expected, now: Measures, past: Sequence[Measures] = ()) -> tuple[str, ...]:
    """Return what a run missed, a sentence each; none where all is as expected.

    ``past`` are the runs of the same kind before it. What the file says of a thing counts alone; what is learned is
    for the rest.
    """
    found = [*_declared(expected, now)]
    if expected.learned and len(past) >= RUNS_ENOUGH:
        found += _learned(expected, now, past)
    return tuple(found)


def _declared(expected: Expected, now: Measures) -> Iterable[str]:
    if expected.min_listings is not None and now.listings < expected.min_listings:
        yield f"{now.listings:,} listings are on sale, and [expect] min_listings is {expected.min_listings:,}"
    for name, least in expected.fill.items():
        share = now.fill.get(name, 0.0)  # no listing at all fills nothing
        if share < least:
            yield f"{_percent(share)} of the listings have a {name}, and [expect.fill] asks for {_percent(least)}"
    if expected.max_age_ms and now.old:
        pages = "1 page was" if now.old == 1 else f"{now.old:,} pages were"
        yield f"{pages} looked at longer ago than [expect] max_age, {as_duration(expected.max_age_ms / 1000)}"
    if expected.max_run_time_s and now.elapsed_s > expected.max_run_time_s:
        most = as_duration(expected.max_run_time_s)
        yield f"it took {as_duration(now.elapsed_s)}, and [expect] max_run_time is {most}"


def _learned(expected: Expected, now: Measures, past: Sequence[Measures]) -> Iterable[str]:
    count = len(past)
    if expected.min_listings is None:
        usual, stray = _usual([one.listings for one in past])
        if now.listings < usual - max(stray, _LEAST_SHARE * usual, _LEAST_LISTINGS):
            yield f"{now.listings:,} listings are on sale, and there were {usual:,.0f} in the last {count} runs"
    for name in sorted(set().union(*(one.fill for one in past)) - set(expected.fill)):
        usual, stray = _usual([one.fill.get(name, 0.0) for one in past])
        share = now.fill.get(name, 0.0)
        if usual >= _KNOWN_FILL and (share < usual - max(stray, _LEAST_FILL) or share < usual / 2):
            had = f"{_percent(usual)} had one in the last {count} runs"
            yield f"{_percent(share)} of the listings have a {name}, and {had}"
    if not expected.max_run_time_s:
        usual, stray = _usual([one.elapsed_s for one in past])
        if now.elapsed_s > max(usual + stray, usual * _LEAST_TIMES, usual + _LEAST_S):
            yield f"it took {as_duration(now.elapsed_s)}, and {as_duration(usual)} in the last {count} runs"


def _usual(values: Sequence[float]) -> tuple[float, float]:
    """Return the median, and how far a value strays from it that is nothing special."""
    middle = median(values)
    return middle, _DEVIATIONS * median(abs(value - middle) for value in values)


def _percent(share: float) -> str:
    return f"{share:.0%}" if share in (0, 1) or 0.01 <= share <= 0.99 else f"{share:.2%}"
