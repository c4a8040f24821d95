"""What a pass over the rows shares: its database, what it was asked for, and what it counts."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from typing import Any, Concatenate, ParamSpec, TypeVar

from storebot.core.stage import Subject
from storebot.db import derived
from storebot.db.database import Database
from storebot.db.derived import Said
from storebot.db.retry import retrying
from storebot.stages.answers import Sorted

BATCH = 1_000  # rows a transaction: short enough for a crawl that saves beside it

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(slots=True)
class Tally:
    """What a pass did. ``rows`` were looked at; of ``written`` something else is said now, and ``failed`` raised."""

    stage: str
    version: str
    rows: int = 0
    written: int = 0
    flagged: int = 0  # of all rows, unchanged ones too
    failed: int = 0
    failure: str = ""  # the first one

    @property
    def unchanged(self) -> int:
        """Rows that say what they said before, or still have nothing to say."""
        return self.rows - self.written - self.failed

    def fail(self, why: str) -> None:
        """Count a listing that the stage couldn't judge."""
        self.failed += 1
        self.failure = self.failure or why


@dataclass(frozen=True, slots=True)
class Pass:
    """One stage, over the listings of one store or of all."""

    database: Database
    name: str
    tally: Tally
    store: str | None
    redo: bool
    dry_run: bool
    progress: Callable[[int], None]

    def read(self, verb: Callable[Concatenate[Any, P], T], *args: P.args, **named: P.kwargs) -> T:
        """Read in a short transaction of its own, again after an error that passes."""
        return retrying(self.database, lambda conn: verb(conn, *args, **named), writes=False)

    def write(self, verb: Callable[Concatenate[Any, P], None], *args: P.args, **named: P.kwargs) -> None:
        """Write in a transaction of its own, but for a dry run."""
        if not self.dry_run:
            retrying(self.database, lambda conn: verb(conn, *args, **named))

    def batches(self, store: str | None) -> Iterator[list[Subject]]:
        """Yield the listings of one store, or of all, in the order of their ids."""
        after = 0
        while batch := self.read(derived.subjects, store, after_id=after, limit=BATCH):
            yield batch
            after = batch[-1].id

    def said(self, listing_ids: Collection[int]) -> dict[int, Said]:
        """Return what the stage said of these listings before."""
        return self.read(derived.said, self.name, listing_ids)

    def save(self, answers: Sorted) -> None:
        """Save answers, and count those that are new or differ."""
        self.tally.written += len(answers.changed)
        if answers.changed or answers.restamped:
            self.write(derived.save, self.name, answers.changed, answers.restamped)
