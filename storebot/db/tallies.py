"""Visits added up by time, tier and outcome, as they are saved: what is shown of a run needn't count its visits."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Connection, bindparam, func, select

from storebot.db.dialects import add_up
from storebot.db.schema import tallies, visits

SPAN_MS = 300_000
_KEYS = ("run_id", "at", "page_type", "tier", "outcome", "store")
_SUMS = ("requests", "bytes", "elapsed_ms")
_VISIT = select(*(visits.c[name] for name in (*_KEYS, *_SUMS))).where(visits.c.id == bindparam("of_visit"))


class Span(NamedTuple):
    """The visits of a span of time that went by one tier and ended in one way. ``at``: when the span begins."""

    at: int
    page_type: str
    tier: str
    outcome: str
    visits: int
    requests: int
    size_bytes: int
    elapsed_ms: int


def add(conn: Connection, rows: Iterable[Mapping[str, Any]]) -> None:
    """Add rows of the ledger, in the transaction that writes them."""
    counted: dict[tuple[Any, ...], list[int]] = {}
    for row in rows:
        sums = counted.setdefault(_key(row), [0, 0, 0, 0])
        sums[0] += 1
        for place, name in enumerate(_SUMS, 1):
            sums[place] += row[name]
    _add(conn, counted)


def decide(conn: Connection, visit_id: int, outcome: str) -> None:
    """Count a visit under another outcome than the ledger has; to be called before the ledger is corrected."""
    row = conn.execute(_VISIT, {"of_visit": visit_id}).mappings().one_or_none()
    if row is None or row["outcome"] == outcome:
        return
    sums = [1, *(row[name] for name in _SUMS)]
    held = dict(row)
    _add(conn, {_key(held): [-one for one in sums], _key({**held, "outcome": outcome}): sums})


def of_run(conn: Connection, run_id: int) -> list[Span]:
    """Return all spans of a run, the oldest first."""
    columns = (tallies.c[name] for name in ("at", "page_type", "tier", "outcome", "visits", *_SUMS))
    query = select(*columns).where(tallies.c.run_id == run_id, tallies.c.visits > 0).order_by(tallies.c.at)
    return [Span(*row) for row in conn.execute(query)]


def of_runs(conn: Connection, run_ids: Sequence[int]) -> dict[int, list[Span]]:
    """Return by run what its visits add up to, by type of page, tier and outcome; ``at`` is when they began."""
    grouped = (tallies.c.run_id, tallies.c.page_type, tallies.c.tier, tallies.c.outcome)
    sums = [func.sum(tallies.c[name]) for name in ("visits", *_SUMS)]
    query = (
        select(tallies.c.run_id, func.min(tallies.c.at), *grouped[1:], *sums)
        .where(tallies.c.run_id.in_(run_ids))
        .group_by(*grouped)
    )
    found: dict[int, list[Span]] = {run_id: [] for run_id in run_ids}
    for run_id, at, page_type, tier, outcome, *numbers in conn.execute(query):
        if numbers[0]:
            found[run_id].append(Span(at, page_type, tier, outcome, *map(int, numbers)))
    return found


def _key(row: Mapping[str, Any]) -> tuple[Any, ...]:
    at = row["at"] - row["at"] % SPAN_MS
    return (row["run_id"], at, row["page_type"], row["tier"], row["outcome"], row["store"])


def _add(conn: Connection, counted: Mapping[tuple[Any, ...], Sequence[int]]) -> None:
    names = (*_KEYS, "visits", *_SUMS)
    # In one order, so that two who add to the same rows don't wait for each other.
    rows = [dict(zip(names, (*key, *sums), strict=True)) for key, sums in sorted(counted.items())]
    add_up(conn, tallies, rows)
