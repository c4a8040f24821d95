"""The pages of a store: what is known of each between visits, and the claims on them."""

from __future__ import annotations

from sqlalchemy import Connection, and_, func, or_, select

from storebot.db.claims import SUSPECT_TRIES, claim_due, claim_pending, extend_claims, release
from storebot.db.discovery import discover
from storebot.db.schema import pages
from storebot.items import PageStatus

__all__ = [
    "claim_due",
    "claim_pending",
    "counts",
    "discover",
    "due_count",
    "extend_claims",
    "left",
    "read_count",
    "release",
    "strays",
    "waiting",
]


def counts(conn: Connection, store: str) -> dict[PageStatus, int]:
    """Count the store's pages by status; a status without pages is left out."""
    rows = conn.execute(select(pages.c.status, func.count()).where(pages.c.store == store).group_by(pages.c.status))
    return {PageStatus(status): count for status, count in rows}


def read_count(conn: Connection, store: str) -> int:
    """Count the pages that have a record."""
    read = (pages.c.store == store) & pages.c.content_hash.is_not(None)
    return int(conn.execute(select(func.count()).select_from(pages).where(read)).scalar_one())


def strays(conn: Connection, store: str) -> dict[str, int]:
    """Count the pages that were last answered with a page without a product, by what that page said it is."""
    stray = (pages.c.store == store) & pages.c.stray_hash.is_not(None) & (pages.c.stray_hash != "")
    query = select(pages.c.stray_hash, func.count()).where(stray).group_by(pages.c.stray_hash)
    return {str(hash_): count for hash_, count in conn.execute(query)}


def waiting(conn: Connection, store: str, started_at: int, backoff_ms: int) -> int:
    """Count the pages that an earlier run than that of ``started_at`` couldn't observe, and that aren't due again yet.

    A failure of the run itself is due later than its start and the back-off together.
    """
    failed = (pages.c.store == store) & (pages.c.last_failure != "") & (pages.c.status != PageStatus.GONE.value)
    window = (pages.c.next_due_at > started_at) & (pages.c.next_due_at < started_at + backoff_ms)
    return int(conn.execute(select(func.count()).select_from(pages).where(failed, window)).scalar_one())


def due_count(conn: Connection, store: str, due_before: int) -> int:
    """Count the parsed pages that are due before a time."""
    due = (pages.c.store == store) & (pages.c.status == PageStatus.PARSED.value) & (pages.c.next_due_at <= due_before)
    return int(conn.execute(select(func.count()).select_from(pages).where(due)).scalar_one())


def left(conn: Connection, store: str, kind: str, due_before: int) -> int:
    """Count what a run of this kind (``backfill``, ``refresh``) hasn't visited: what a claim would still give, or has.

    A page whose visit failed isn't left: it has an outcome, and its next time is later. One that was set aside is: it
    has none, and nobody will look at it for a week.
    """
    never_parsed = pages.c.content_hash.is_(None)
    waiting = pages.c.status.in_([PageStatus.PENDING.value, PageStatus.ERROR.value])
    open_pages = [
        pages.c.status == PageStatus.IN_PROGRESS.value,
        and_(waiting, never_parsed, pages.c.next_due_at <= due_before),
        and_(pages.c.status == PageStatus.ERROR.value, pages.c.tries >= SUSPECT_TRIES),
    ]
    if kind == "refresh":
        open_pages.append(and_(pages.c.status == PageStatus.PARSED.value, pages.c.next_due_at <= due_before))
    query = select(func.count()).select_from(pages).where(pages.c.store == store, or_(*open_pages))
    return int(conn.execute(query).scalar_one())
