"""What one page's past says of its next change, and when it is due: the formulas, for one page.

Changes are taken for a Poisson process whose rate has a Gamma prior. The index is that of a threshold policy in the
style of Olston and Pandey (WWW 2008): a page is worth a request as soon as its index exceeds the store's threshold.
"""

from __future__ import annotations

from enum import IntEnum
from math import exp, expm1
from typing import NamedTuple

PRIOR_WEIGHT = 0.5  # changes that the category's mean weighs as much as
DEADLINE_H = 24.0  # a change that is seen after this long is worth 1/e of one that is seen at once
STALENESS_PER_H = 1 / 240  # ten days of a stale copy weigh as much as one change that is seen in time
MEMORY_H = 45 * 24.0  # half-life of what was observed of a page
LISTED_FOR_H = 48.0  # how long a catalogue page that showed a product is counted on to show it again
LONGEST_H = 120 * 24.0  # no page is due later than this after its last look
SURE = 0.99  # probability of a change where a signal proves one

_STEPS = 14  # of a bisection over LONGEST_H: to within a quarter of an hour


class Flag(IntEnum):
    """What says that a page has changed since its last look."""

    NONE = 0
    CHECKED = 1  # its sitemap entry moved, and a card was looked at since
    LASTMOD = 2  # its sitemap entry moved
    DIFFERS = 3  # its card differs from the record, or it vanished from its card
    NEW = 4  # it was never read


class Hazard(NamedTuple):
    """What is expected of one page. Rates are changes an hour."""

    rate: float  # of all changes, by the page's own past
    unreported: float  # now, of those that no signal would tell of
    changed: float = 0.0  # probability, by a signal, that it has changed already
    value: float = 1.0  # what a change of it is worth, beside others


def change_rate(credit: float, exposure_h: float, prior: float) -> float:
    """Return the mean of a page's rate, given ``credit`` changes in ``exposure_h`` hours and its category's mean."""
    return (PRIOR_WEIGHT + credit) / (PRIOR_WEIGHT / prior + exposure_h)


def at_least_one(expected: float) -> float:
    """Return the probability that a Poisson variable of this mean isn't zero."""
    return -expm1(-expected)


def changes_behind_one(expected: float) -> float:
    """Return how many changes stand behind an observed difference, E[N | N >= 1]: one step of EM for the rate.

    Bounded by one more than what was expected: a rate that is far too low must not learn too slowly.
    """
    if expected < 1e-9:
        return 1.0
    return min(expected / at_least_one(expected), 1.0 + expected)


def decay(gap_h: float, half_life_h: float = MEMORY_H) -> float:
    """Return the weight that is left of what was observed after so long."""
    return float(0.5 ** (gap_h / half_life_h))


def index(hazard: Hazard, since_h: float) -> float:
    """Return what a look at a page is worth, ``since_h`` after the last: it never falls with time."""
    rate, soon = hazard.unreported, hazard.unreported + 1 / DEADLINE_H
    unseen = 1 - hazard.changed
    x, y = rate * since_h, soon * since_h
    in_time = hazard.changed + unseen * (rate / soon) * (1 - (1 + y) * exp(-y))
    stale = (1 - (1 + x) * unseen * exp(-x)) / hazard.rate
    return hazard.value * (in_time + STALENESS_PER_H * stale)


def hours_to_due(hazard: Hazard, threshold: float) -> float:
    """Return how long after its last look a page's index reaches the threshold, at most `LONGEST_H`."""
    if index(hazard, 0.0) >= threshold:
        return 0.0
    low, high = 0.0, LONGEST_H
    if index(hazard, high) < threshold:
        return high
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if index(hazard, middle) >= threshold else (middle, high)
    return high
