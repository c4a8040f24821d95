"""What a session has its saver do with a batch of records, and how it weighs one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from sqlalchemy import Connection

from storebot.db import spending, visits
from storebot.db.context import RunContext
from storebot.db.saved import Saved
from storebot.items import CatalogPage, Outlay, Record, Tier

_NAMES = 20  # pages that are named, with their addresses, take the memory of one that was read


def save(
    context: RunContext,
    currencies: Mapping[Tier, str],
    keep: Callable[[Sequence[Saved]], None] | None,
    conn: Connection,
    records: Sequence[Record | Outlay],
) -> Sequence[Saved]:
    """Save a batch, the books of what it took, and what ``keep`` makes of it, in one transaction."""
    saved = visits.save(conn, context, [record for record in records if not isinstance(record, Outlay)])
    spending.add(conn, context.store, currencies, records)
    if keep is not None:  # before the commit: no record may stand without the page that it was read from
        keep(saved)
    return saved


def refused(record: Record | Outlay, error: Exception) -> Record | None:
    """Return what takes the place of a record that the database refuses; None where nothing can."""
    return None if isinstance(record, Outlay) else visits.refused(record, error)


def weight(record: Record | Outlay) -> int:
    """Return for how many records one counts while it waits: what a sitemap names is in memory as long as it does."""
    return 1 + len(record.found) // _NAMES + len(record.visits) if isinstance(record, CatalogPage) else 1
