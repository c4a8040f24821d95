"""Pages that the last visit didn't observe are due now: what failed, or was blocked, is tried again by the next run."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import Connection, and_, or_, select, update

from storebot.db.database import Database
from storebot.db.dialects import now_ms
from storebot.db.retry import retrying
from storebot.db.schema import pages
from storebot.db.types import AnyRow
from storebot.items import NOT_OBSERVED, Outcome, PageStatus

_CHUNK = 1000  # pages a transaction
_STATUSES = (PageStatus.PARSED, PageStatus.PENDING, PageStatus.ERROR)  # one that is in progress is being tried
FAILURES = {outcome.value: outcome for outcome in NOT_OBSERVED}
"""What may be tried again, by name."""


def requeue(database: Database, store: str, failures: Collection[Outcome], *, dry_run: bool = False) -> int:
    """Have pages be due whose last visit failed in one of these ways; return how many that weren't before.

    A page that a run has claimed is left alone, and so is one that is set aside as gone. Each transaction is bounded;
    done twice it does nothing more. Whether the shop may be asked at all (its circuit breaker) isn't changed.
    """
    count = 0
    for status in _STATUSES:
        after: AnyRow | None = None
        while True:
            with database.explaining(), database.read() as conn:
                rows = _waiting(conn, store, status, failures, after)
            if not rows:
                break
            count += len(rows) if dry_run else _due(database, rows)
            after = rows[-1]
    return count


def _waiting(
    conn: Connection, store: str, status: PageStatus, failures: Collection[Outcome], after: AnyRow | None
) -> list[AnyRow]:
    """Return pages that aren't due yet, in the order of the index by which pages are claimed."""
    at, number = (after.next_due_at, after.id) if after else (now_ms(conn), 2**62)
    behind = and_(pages.c.next_due_at >= at, or_(pages.c.next_due_at > at, pages.c.id > number))
    query = (
        select(pages.c.id, pages.c.next_due_at)
        .where(pages.c.store == store, pages.c.status == status.value, behind)
        .where(pages.c.last_failure.in_([one.value for one in failures]), pages.c.claim_token == "")
        .order_by(pages.c.next_due_at, pages.c.id)
        .limit(_CHUNK)
    )
    return list(conn.execute(query))


def _due(database: Database, rows: list[AnyRow]) -> int:
    free = and_(pages.c.id.in_([row.id for row in rows]), pages.c.claim_token == "")
    return int(retrying(database, lambda conn: conn.execute(update(pages).where(free).values(next_due_at=0)).rowcount))
