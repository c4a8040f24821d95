"""What the page of one store reads: its last runs with what was measured, how they were fetched, what they took."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import orjson
from sqlalchemy import Connection, bindparam, func, select

from storebot.core.dashboard.paging import Cursor
from storebot.core.month import DAY_MS
from storebot.core.planner.truth import Trust, Validators, trust
from storebot.db import coverage, knowledge, spending, tallies
from storebot.db.coverage import Kept
from storebot.db.dialects import now_ms
from storebot.db.paging import go_on
from storebot.db.schema import runs
from storebot.db.types import AnyRow

RUNS = 30  # that the charts show
COUNTED_AT_ONCE = 10_000  # pages of a store whose coverage is counted while somebody waits
_COLUMNS = tuple(
    runs.c[name]
    for name in (
        "id", "kind", "status", "reason", "started_at", "finished_at", "parser_version", "requests", "bytes", "counts",
        "change_events", "pages_known", "listings_known", "measured",
    )
)  # fmt: skip

_KNOWN = (
    select(runs.c.pages_known).where(runs.c.store == bindparam("of")).order_by(runs.c.id.desc()).limit(20).subquery()
)


class RunRow(NamedTuple):
    """A run, with what was measured of the store's copy when it ended."""

    id: int
    kind: str
    status: str
    reason: str
    started_at: int
    finished_at: int | None
    parser_version: str
    requests: int
    size_bytes: int
    counts: Mapping[str, int]
    changes: int
    pages_known: int
    listings: int
    fill: Mapping[str, float]


class Took(NamedTuple):
    """How the pages of a run were fetched."""

    tiers: Mapping[str, int]  # visits of products that were asked for, by tier
    requests: int
    elapsed_ms: int

    @property
    def latency_ms(self) -> float | None:
        """How long one answer took."""
        return self.elapsed_ms / self.requests if self.requests else None


def last_runs(conn: Connection, store: str, limit: int = RUNS) -> list[RunRow]:
    """Return the last runs of a store, the oldest of them first."""
    query = select(*_COLUMNS).where(runs.c.store == store).order_by(runs.c.id.desc()).limit(limit)
    return [_run(row) for row in reversed(conn.execute(query).all())]


def runs_listed(
    conn: Connection, store: str, choices: Mapping[str, str], after: Cursor | None, *, descending: bool, limit: int
) -> list[RunRow]:
    """Return a store's runs by number from behind ``after``, one more than ``limit``; ``choices``: kind, status."""
    wanted = (runs.c[name] == value for name, value in choices.items())
    query = select(*_COLUMNS).where(runs.c.store == store, *wanted)
    return [_run(row) for row in conn.execute(go_on(query, [runs.c.id], after, descending=descending, limit=limit))]


def took(conn: Connection, run_ids: list[int]) -> dict[int, Took]:
    """Return how the pages of runs were fetched, by run."""
    found = {}
    for run_id, spans in (tallies.of_runs(conn, run_ids) if run_ids else {}).items():
        tiers: dict[str, int] = {}
        for span in spans:
            if span.page_type == "product" and span.requests:
                tiers[span.tier] = tiers.get(span.tier, 0) + span.visits
        found[run_id] = Took(tiers, sum(span.requests for span in spans), sum(span.elapsed_ms for span in spans))
    return found


def covered(conn: Connection, store: str) -> Kept | None:
    """Return what the store's sources cover: counted now where that is quick, else as it was counted last."""
    known = select(func.max(_KNOWN.c.pages_known)).select_from(_KNOWN)
    if int(conn.execute(known, {"of": store}).scalar() or 0) <= COUNTED_AT_ONCE:
        return Kept(now_ms(conn), coverage.coverage(conn, store).as_json())
    return coverage.kept(conn, store)


def trusted(conn: Connection, store: str, at_ms: int) -> Trust:
    """Return what is known of the store's signals: lastmod, 304, cards."""
    memory = knowledge.load(conn, store, at_ms)
    validators = Validators(memory.validators_asked, memory.validators_lies, memory.validators_lie)
    return trust(memory.knowledge, validators, memory.learned_since)


def spent_by_day(conn: Connection, store: str, at_ms: int, days: int = 31) -> list[dict[str, Any]]:
    """Return what the store took on each of the last days, by tier, the oldest first."""
    today = at_ms // DAY_MS
    found: dict[tuple[int, str, str], dict[str, Any]] = {}
    for line in spending.lines(conn, store, range(today - days + 1, today + 1)):
        key = (line.day, line.tier, line.currency)
        empty = {"day": line.day, "tier": line.tier, "currency": line.currency}
        row = found.setdefault(key, {**empty, "visits": 0, **dict.fromkeys(line.expense._fields, 0)})
        row["visits"] += line.visits
        for name, amount in line.expense._asdict().items():
            row[name] += amount
    return list(found.values())


def _run(row: AnyRow) -> RunRow:
    measured = orjson.loads(row.measured) if row.measured else {}
    return RunRow(
        id=row.id,
        kind=row.kind,
        status=row.status,
        reason=row.reason,
        started_at=row.started_at,
        finished_at=row.finished_at,
        parser_version=row.parser_version,
        requests=row.requests,
        size_bytes=row.bytes,
        counts=orjson.loads(row.counts) if row.counts else {},
        changes=row.change_events,
        pages_known=row.pages_known,
        listings=row.listings_known,
        fill=measured.get("fill", {}),
    )
