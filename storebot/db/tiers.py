"""What is known of a store's fetch tiers from run to run, and which of them the visits of a run needed."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, case, func, select

from storebot.core.rung import Rung
from storebot.db.dialects import upsert
from storebot.db.schema import tiers, visits
from storebot.items import PageType, Tier

_THOUSAND = 1000  # counts that fade are kept in thousandths


@dataclass(frozen=True, slots=True)
class Used:
    """How the visits of a run were fetched."""

    tiers: Mapping[str, int] = field(default_factory=dict)  # visits of products by the tier that was asked last
    escalations: int = 0  # steps to another tier, those of catalogue pages and sitemaps too


def load(conn: Connection, store: str) -> tuple[Rung, ...]:
    """Return what is saved of the store's tiers."""
    rows = conn.execute(select(tiers).where(tiers.c.store == store).order_by(tiers.c.page_type, tiers.c.tier))
    return tuple(
        Rung(
            page_type=PageType(row.page_type),
            tier=Tier(row.tier),
            tries=row.tries / _THOUSAND,
            successes=row.successes / _THOUSAND,
            failures=row.failures,
            tried_at=row.tried_at,
            worked_at=row.worked_at,
            filled_at=row.filled_at,
            retry_at=row.retry_at,
            trips=row.trips,
            reason=row.reason,
        )
        for row in rows
    )


def save(conn: Connection, store: str, rungs: Iterable[Rung]) -> None:
    """Save what is known of tiers, each as a whole; those that aren't named stay as they are."""
    upsert(conn, tiers, [_row(store, rung) for rung in rungs])


def used(conn: Connection, run_ids: Collection[int]) -> dict[int, Used]:
    """Return how the visits of runs were fetched, by run; a run without visits has no entry."""
    asked = case((visits.c.requests > 0, 1), else_=0)
    product = case((visits.c.page_type == PageType.PRODUCT.value, asked), else_=0)
    lines = func.length(visits.c.steps) - func.length(func.replace(visits.c.steps, "\n", "")) + 1
    steps = case((visits.c.steps.is_(None), 0), else_=lines)
    query = (
        select(visits.c.run_id, visits.c.tier, func.sum(product), func.sum(steps))
        .where(visits.c.run_id.in_(run_ids))
        .group_by(visits.c.run_id, visits.c.tier)
    )
    found: dict[int, dict[str, int]] = {}
    climbed: dict[int, int] = {}
    for run_id, tier, count, steps_taken in conn.execute(query):
        climbed[run_id] = climbed.get(run_id, 0) + int(steps_taken)
        counts = found.setdefault(run_id, {})
        if count:
            counts[tier] = int(count)
    return {run_id: Used(_in_order(counts), climbed[run_id]) for run_id, counts in found.items()}


def _in_order(counts: Mapping[str, int]) -> dict[str, int]:
    return {tier.value: counts[tier.value] for tier in Tier if tier.value in counts}


def _row(store: str, rung: Rung) -> dict[str, Any]:
    return {
        "store": store,
        "page_type": rung.page_type.value,
        "tier": rung.tier.value,
        "tries": round(rung.tries * _THOUSAND),
        "successes": round(rung.successes * _THOUSAND),
        "failures": rung.failures,
        "tried_at": rung.tried_at,
        "worked_at": rung.worked_at,
        "filled_at": rung.filled_at,
        "retry_at": rung.retry_at,
        "trips": rung.trips,
        "reason": rung.reason,
    }
