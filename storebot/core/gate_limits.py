"""How much a run may change before the write gate holds it: as declared, by the store's own history, or by default."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Literal, NamedTuple

USUAL_TIMES = 3.0  # so often what is usual in this store may a run change
_RUNS = 3  # good runs that make a history
_PAGES = 20  # a run that compared fewer says nothing of what is usual
_CHANGED = (0.3, 0.9)  # the limit of the share changed, however quiet or lively the store
_MISSING = (0.1, 0.5)


class Planned(NamedTuple):
    """A window in which prices, or all things, are expected to change. Times are milliseconds; the end isn't in it."""

    from_ms: int
    to_ms: int
    what: Literal["prices", "all"]
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Declared:
    """What a store file says of its gate; None where it says nothing."""

    sample: int = 50
    changed: float | None = None
    identity: float | None = None
    lost: float | None = None
    price_ratio: float | None = None
    currency: float | None = None
    identical: float | None = None
    missing: float | None = None
    blocked: float | None = None
    planned: tuple[Planned, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a run is judged by: shares of the pages compared, but for ``price_ratio``. What is at a limit is allowed."""

    sample: int = 50  # a run is young until so many known pages are compared
    pages: int = 0  # pages of the store that have a record: what "all of them" means
    changed: float = 0.5
    identity: float = 0.1
    lost: float = 0.1
    price_ratio: float = 3.0  # of the median price move, up or down
    currency: float = 0.05
    identical: float = 0.1
    missing: float = 0.2
    blocked: float = 0.3
    planned: Literal["", "prices", "all"] = ""


class Past(NamedTuple):
    """A good run of the store: how many known pages it compared, and what became of them."""

    seen: int
    changed: int
    missing: int


DECLARABLE = ("changed", "identity", "lost", "price_ratio", "currency", "identical", "missing", "blocked")


def limits_from(history: Sequence[Past], declared: Declared, *, pages: int = 0, at_ms: int = 0) -> Limits:
    """Return the limits of a run that begins at ``at_ms`` in a store of so many pages with a record.

    What is declared wins. Else the share that may change, or be missing, is three times what is usual in the store,
    within bounds, if three good runs say what that is.
    """
    limits = Limits(sample=declared.sample, pages=pages, planned=_planned(declared.planned, at_ms))
    told = [past for past in history if past.seen >= _PAGES]
    if len(told) >= _RUNS:
        changed = _usual([past.changed / past.seen for past in told], *_CHANGED)
        missing = _usual([past.missing / past.seen for past in told], *_MISSING)
        limits = replace(limits, changed=changed, missing=missing)
    said = {name: value for name in DECLARABLE if (value := getattr(declared, name)) is not None}
    return replace(limits, **said)


def _usual(shares: Sequence[float], floor: float, ceiling: float) -> float:
    return min(max(USUAL_TIMES * median(shares), floor), ceiling)


def _planned(windows: Sequence[Planned], at_ms: int) -> Literal["", "prices", "all"]:
    """Return what is expected to change now; of several windows the widest."""
    now = {window.what for window in windows if window.from_ms <= at_ms < window.to_ms}
    return "all" if "all" in now else "prices" if now else ""
