"""What many holds have in common: how far prices moved, which fields vanished, and what a hold says in one line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import pairwise
from typing import Any, NamedTuple

import orjson

from storebot.core.export.columns import money
from storebot.core.gate_facts import ratio_of

EDGES = (0.1, 0.25, 0.5, 0.75, 0.9, 1.0, 1.1, 1.33, 2.0, 4.0, 10.0)
"""Between the bins of price after by price before."""
_MONEY = "_minor"


class Moved(NamedTuple):
    """One field of one listing, before and after; money with the decimals of its currency."""

    variant_id: str
    kind: str  # new | changed | rebased | missing | moved …
    field: str
    before: str | None
    after: str | None


@dataclass(slots=True)
class Common:
    """What holds have in common."""

    holds: int = 0
    bins: list[int] = field(default_factory=lambda: [0] * (len(EDGES) + 1))  # pages by how their price moved
    lost: Counter[str] = field(default_factory=Counter)  # field -> pages that lose it
    currencies: Counter[str] = field(default_factory=Counter)  # "GBP to EUR" -> pages
    kinds: Counter[str] = field(default_factory=Counter)

    @property
    def moved(self) -> int:
        """Pages whose price moves."""
        return sum(self.bins)


def common(facts: Iterable[Mapping[str, Any]]) -> Common:
    """Add up the facts of holds, as `db.gating.facts_text` keeps them."""
    found = Common()
    for one in facts:
        found.holds += 1
        found.kinds[str(one.get("kind", ""))] += 1
        found.lost.update(_in_words(str(name)) for name in one.get("lost") or ())
        if one.get("currency"):
            found.currencies[str(one["currency"])] += 1
        if one.get("ratio") is not None:
            found.bins[bin_of(ratio_of(one["ratio"]))] += 1
    return found


def bin_of(ratio: float) -> int:
    """Return the place of a ratio's bin: below the first edge, between two of them, or from the last on."""
    return sum(ratio >= edge for edge in EDGES)


def bin_names() -> list[str]:
    """Return what the bins are called."""
    inner = [f"×{low:g}-{high:g}" for low, high in pairwise(EDGES)]
    return [f"below ×{EDGES[0]:g}", *inner, f"×{EDGES[-1]:g} or more"]


def moves(fields: Sequence[Mapping[str, Any]], currencies: Mapping[str, str | None]) -> list[Moved]:
    """Return the fields that a hold would change; ``currencies``: of what is published, by variant."""
    found = []
    for listing in fields:
        variant = str(listing.get("variant_id", ""))
        changed = {str(one.get("field", "")): one for one in listing.get("fields") or ()}
        known = currencies.get(variant)
        switch = changed.get("currency", {})
        for name, one in changed.items():
            before = _shown(name, one.get("before"), switch.get("before") or known)
            after = _shown(name, one.get("after"), switch.get("after") or known)
            found.append(Moved(variant, str(listing.get("type", "")), _in_words(name), before, after))
    return found


def _shown(name: str, value: Any, currency: str | None) -> str | None:
    if name.endswith(_MONEY) and isinstance(value, int):
        try:
            amount: Decimal | None = money(value, currency)
        except (KeyError, ValueError):
            amount = None
        return f"{amount} {currency}" if amount is not None else f"{value} (minor units)"
    return value if value is None or isinstance(value, str) else orjson.dumps(value).decode()


def _in_words(name: str) -> str:
    return name.removesuffix(_MONEY).replace("_", " ")
