"""What fetching a page has taken, all its tries together, as the fields of its visit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from storebot.items import Spent, Tier


def taken(meta: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a `Visit` that a request's ``meta`` fills: nought where nothing was sent."""
    spent = meta.get("spent") or Spent()
    return {
        "tier": Tier(meta.get("tier", Tier.HTTP)).value,
        "requests": spent.requests,
        "size_bytes": spent.size_bytes,
        "elapsed_ms": spent.elapsed_ms,
        "browser_ms": spent.browser_ms,
        "billed": spent.billed,
        "cost_micro": spent.cost_micro,
        "by_tier": spent.by_tier,
        "steps": tuple(spent.steps),
    }
