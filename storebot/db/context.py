"""The run that a batch of visits is saved for."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import Connection

from storebot.items import CARD, Visit

if TYPE_CHECKING:
    from storebot.db.gating import Gate
    from storebot.db.learning import Learner


@dataclass(frozen=True, slots=True, kw_only=True)
class RunContext:
    """What every visit of a run shares. Times are milliseconds."""

    run_id: int
    store: str
    lease_token: str
    kind: str  # backfill | refresh
    announce_new: bool  # whether a new page's listings are change events: a refresh's are, a first backfill's aren't
    revisit_after_ms: int  # from a visit that saw the page to the next
    error_backoff_ms: int  # from one that didn't
    parser_version: str
    hash_version: int
    parser: str = ""  # "" is the store's own
    gate: Gate | None = None  # None: all is published at once
    learner: Learner | None = None  # None: nothing is learned of how often pages change

    def learning(self, conn: Connection) -> AbstractContextManager[None]:
        """Learn within a transaction: see `Learner.attempt`."""
        return self.learner.attempt(conn) if self.learner is not None else nullcontext()

    def version_of(self, visit: Visit) -> str:
        """Return the parser version that a record of this visit stands for.

        A feed and the page itself tell a product in different words: where the source moves, not the market has moved.
        A card changes one value of the record that the page gave.
        """
        return carried_version(self.parser_version, "" if visit.source == CARD else visit.source)


def carried_version(parser_version: str, source: str) -> str:
    """Return the parser version of records that a feed carried; ``source`` "" is the page itself."""
    return f"{parser_version}+{source}" if source else parser_version
