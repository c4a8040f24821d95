"""What the model expects to have changed by now, unseen: what a plan is measured by before it runs."""

from __future__ import annotations

import numpy as np

from storebot.core.planner.hazard import Flag
from storebot.core.planner.knowledge import Knowledge
from storebot.core.planner.scoring import Columns, Floats, Plan, expected


def unseen(columns: Columns, knowledge: Knowledge, now_h: float) -> Floats:
    """Return how probable it is that each page differs from its record; 0 for one that was never read.

    By its signal; where it has none, by the changes of late that no sitemap would have told of: since the last look at
    the page, and of what cards show since the last look at its card.
    """
    of = expected(columns, knowledge, now_h)
    since = np.maximum(now_h - columns.looked, 0.0)
    since_card = np.maximum(now_h - np.maximum(columns.looked, columns.listed), 0.0)
    hours = (1 - knowledge.visible) * since + knowledge.visible * since_card
    found: Floats = 1 - (1 - of.changed) * np.exp(-of.now * (1 - knowledge.recall) * hours)
    found[columns.flag == Flag.NEW] = 0.0
    return found


def seen_by(columns: Columns, knowledge: Knowledge, plan: Plan, odds: Floats) -> float:
    """Return how many of these changes a plan is expected to see: at the pages themselves, or by their cards."""
    chosen = np.zeros(len(columns), bool)
    for places in plan.lanes.values():
        chosen[places] = True
    carded = np.isin(columns.listing, plan.listings) & ~chosen
    return float(odds[chosen].sum() + knowledge.visible * odds[carded].sum())
