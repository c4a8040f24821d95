"""One process: ``python -m bench.planning.steps WHAT DATABASE NUMBER``; its last line is a JSON object.

The number is the budget of a plan; of ``make`` the pages of the store.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from heapq import nlargest
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, event, select

from bench.planning import store
from bench.planning.store import NOW, PARSER, STORE
from storebot.core.planner.hazard import Flag, index
from storebot.core.planner.lanes import Lane
from storebot.db import claims, knowledge, leases, page_columns, runs, visits
from storebot.db.context import RunContext
from storebot.db.database import Database
from storebot.db.holders import this_process
from storebot.db.knowledge import HOUR_MS
from storebot.db.learning import Learner
from storebot.db.schema import pages
from storebot.items import Outcome, PageStatus, Target, Visit

BATCH, BATCHES = 200, 20  # as STOREBOT_CLAIM_BATCH and STOREBOT_COMMIT_ROWS have them; so many are measured
_VERSIONS: dict[str, Any] = {"parser_version": PARSER, "hash_version": 1}
_OF_NAIVE = ("id", "checked_at", "change_credit", "exposure_h", "listed_at", "signal", "category_id", "value", "misses")


def make(path: Path, count: int) -> dict[str, float]:
    """Write the store: in a process of its own, so that none that is measured begins with its memory."""
    store.make(path, count)
    return {"pages": count}


def plan(database: Database, budget: int) -> dict[str, float]:
    """Make a plan as a refresh does, and its three parts one by one."""
    import numpy as np

    from storebot.core.planner.scoring import choose, expected
    from storebot.core.planner.scoring import index as index_of
    from storebot.db.planning import make_plan

    found: dict[str, float] = {}
    with database.read() as conn:
        with _timed(found, "load"):
            live = page_columns.load(conn, STORE, NOW)
        known, now_h = knowledge.load(conn, STORE, NOW).knowledge, NOW / HOUR_MS
        with _timed(found, "score"):
            index_of(expected(live.columns, known, now_h), now_h - live.columns.looked)
        with _timed(found, "choose"):
            choose(live.columns, known, now_h, budget, np.random.default_rng(1))
        del live
        with _timed(found, "whole"):
            made = make_plan(conn, STORE, budget, now_ms=NOW, seed=1)
    return {**found, "chosen": made.requests}


def naive(database: Database, budget: int) -> dict[str, float]:
    """Weigh the same pages one by one, by the same formulas, as somebody would who knows no numpy."""
    found: dict[str, float] = {}
    query = select(*(pages.c[name] for name in _OF_NAIVE)).where(
        pages.c.store == STORE, pages.c.status == PageStatus.PARSED.value
    )
    with database.read() as conn:
        known, now_h = knowledge.load(conn, STORE, NOW).knowledge, NOW / HOUR_MS
        with _timed(found, "whole"):
            weighed = []
            for row in conn.execute(query):
                if row.misses:
                    continue
                listed = now_h - row.listed_at / HOUR_MS <= 48
                hazard = known.hazard(
                    row.change_credit,
                    row.exposure_h,
                    row.category_id,
                    now_h,
                    flag=Flag(row.signal),
                    listed=listed,
                    value=row.value,
                )
                weighed.append((index(hazard, now_h - row.checked_at / HOUR_MS), row.id))
            chosen = nlargest(budget, weighed)
    return {**found, "chosen": len(chosen)}


def ordered(database: Database, budget: int) -> dict[str, float]:
    """Take what is due next: the queue of whoever weighs nothing."""
    found: dict[str, float] = {}
    query = select(pages.c.id).where(pages.c.store == STORE, pages.c.status == PageStatus.PARSED.value)
    with database.read() as conn, _timed(found, "whole"):
        chosen = conn.execute(query.order_by(pages.c.next_due_at, pages.c.id).limit(budget)).scalars().all()
    return {**found, "chosen": len(chosen)}


def visit(database: Database, budget: int) -> dict[str, float]:
    """Claim pages of a plan, batch by batch, and save a 304 of each: the database's time a page, and statements."""
    from storebot.db.planning import make_plan

    with database.read() as conn:
        made = make_plan(conn, STORE, budget, now_ms=NOW, seed=1)
        memory = knowledge.load(conn, STORE, NOW)
    with database.write() as conn:
        leases.take(conn, STORE, "lease", this_process(), 3_600, lambda holder: False)
        run_id = runs.start(conn, STORE, "refresh", token="lease", **_VERSIONS)
    learner = Learner(STORE, memory, planned=True)
    context = RunContext(
        run_id=run_id,
        store=STORE,
        lease_token="lease",
        kind="refresh",
        announce_new=True,
        revisit_after_ms=24 * HOUR_MS,
        error_backoff_ms=HOUR_MS,
        learner=learner,
        **_VERSIONS,
    )
    order = dict(made.in_order())
    found: dict[str, float] = {"claim": 0.0, "save": 0.0}
    ids, done = iter(order), 0
    statements = _Statements()
    for _ in range(BATCHES):
        wanted: dict[int, Lane] = {page_id: order[page_id] for _, page_id in zip(range(BATCH), ids, strict=False)}
        with statements.counting(), database.write() as conn:
            targets = claims.claim_these(conn, STORE, "lease", wanted, 3_600, seen_before=NOW, **_VERSIONS)
        found["claim"] += statements.taken_s
        with statements.counting(), database.write() as conn:
            saved = visits.save(conn, context, [_same(target) for target in targets])
        learner.committed()
        assert all(one.outcome is Outcome.NOT_MODIFIED for one in saved), "a look was refused"
        found["save"] += statements.taken_s
        done += len(targets)
    statements.close()
    return {"claim": found["claim"] / done, "save": found["save"] / done, "updates": statements.updates / done}


def _same(target: Target) -> Visit:
    return Visit(target=target, at_ms=NOW, outcome=Outcome.NOT_MODIFIED, status=304, requests=1)


class _Statements:
    """Listens to what the database is told."""

    def __init__(self) -> None:
        self.taken_s, self.updates = 0.0, 0
        self._counts, self._since = False, 0.0
        event.listen(Engine, "before_cursor_execute", self._before)
        event.listen(Engine, "after_cursor_execute", self._after)

    def close(self) -> None:
        """Listen no more."""
        event.remove(Engine, "before_cursor_execute", self._before)
        event.remove(Engine, "after_cursor_execute", self._after)

    @contextmanager
    def counting(self) -> Iterator[None]:
        """Time what is told within; ``updates`` are those of rows of pages that say what a look found."""
        self.taken_s, self._counts = 0.0, True
        try:
            yield
        finally:
            self._counts = False

    def _before(self, *told: Any) -> None:
        self._since = time.perf_counter()

    def _after(self, conn: Any, cursor: Any, statement: str, parameters: Any, context: Any, many: bool) -> None:
        if self._counts:
            self.taken_s += time.perf_counter() - self._since
            if statement.startswith("UPDATE pages SET") and "checked_at=" in statement:
                self.updates += len(parameters) if many else 1


@contextmanager
def _timed(found: dict[str, float], name: str) -> Iterator[None]:
    began = time.process_time()
    yield
    found[name] = time.process_time() - began


WHAT = {"plan": plan, "naive": naive, "ordered": ordered, "visit": visit}


def main() -> None:
    """Measure one thing."""
    what, path, budget = sys.argv[1:]
    if what == "make":
        print(json.dumps(make(Path(path), int(budget))))
        return
    database = Database.open(f"sqlite:///{Path(path)}", create=False)
    print(json.dumps(WHAT[what](database, int(budget))))
    database.dispose()


if __name__ == "__main__":
    main()
