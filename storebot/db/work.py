"""One batch of visits while it is compared: what is known of its pages, and the rows that it makes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from sqlalchemy import Connection

from storebot.core.gate_facts import Facts
from storebot.db.batch import Batch
from storebot.db.compare import Compared, Known
from storebot.db.context import RunContext
from storebot.db.gating import Gated
from storebot.db.saved import Saved
from storebot.db.types import AnyRow
from storebot.items import Outcome, Visit


@dataclass(frozen=True, slots=True)
class Work:
    """One batch: the pages and listings that it's about, and the rows that it makes."""

    conn: Connection
    run: RunContext
    known: Mapping[int, Known]
    before: Mapping[int, Mapping[str, AnyRow]]
    rows: Batch
    saved: list[Saved] = field(default_factory=list)
    gated: list[Gated] = field(default_factory=list)  # what becomes of them is decided when the batch is compared
    new_records: Counter[str] = field(default_factory=Counter)


def put_apart(
    work: Work,
    apart: Work,
    page: Known,
    visit: Visit,
    found: tuple[Outcome, str, Compared],
    facts: Facts,
    active: Mapping[str, AnyRow],
) -> tuple[Outcome, str, Compared]:
    """Keep what a visit would write until the batch is compared."""
    work.gated.append(Gated(len(work.saved), visit, page, *found, apart.rows, facts, active))
    return Outcome.HELD, "", Compared()


def write(work: Work) -> None:
    """Learn from what is written, and write it."""
    if work.run.learner is not None:
        work.run.learner.learn(work.conn, work.rows.lessons)
    work.rows.lessons.clear()
    work.rows.write(work.conn)
