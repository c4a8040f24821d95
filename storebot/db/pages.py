"""The pages of a store: what is known of each between visits, and the claims on them."""

from __future__ import annotations

from sqlalchemy import Connection, and_, func, or_, select

from storebot.db.claims import (
    SUSPECT_TRIES,
    claim_due,
    claim_next,
    claim_pending,
    claim_these,
    extend_claims,
    release,
)
from storebot.db.discovery import discover
from storebot.db.schema import pages
from storebot.items import Outcome, PageStatus

__all__ = [
    "claim_due",
    "claim_next",
    "claim_pending",
    "claim_these",
    "counts",
    "discover",
    "due_count",
    "extend_claims",
    "first_blocked",
    "last_read",
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


def last_read(conn: Connection, store: str) -> str | None:
    """Return the address of the page whose record is the newest: a page that the store answers with a product."""
    read = (pages.c.store == store) & (pages.c.status == PageStatus.PARSED.value) & pages.c.content_hash.is_not(None)
    query = select(pages.c.url).where(read).order_by(pages.c.checked_at.desc(), pages.c.id.desc()).limit(1)
    return conn.execute(query).scalar()


def first_blocked(conn: Connection, store: str) -> str | None:
    """Return the address of the eldest page whose last visit was blocked."""
    blocked = (pages.c.store == store) & (pages.c.last_failure == Outcome.BLOCKED.value)
    return conn.execute(select(pages.c.url).where(blocked).order_by(pages.c.id).limit(1)).scalar()


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


def left(conn: Connection, store: str, kind: str, due_before: int, again_before: int | None = None) -> int:
    """Count what a run of this kind (``backfill``, ``refresh``) hasn't visited: what a claim would still give, or has.

    Pages that were read count if they are due before ``again_before`` (None: ``due_before``). A refresh by a plan
    (``planned``) leaves only those that it claimed and didn't visit: what it has no budget for is the next one's.
    A page whose visit failed isn't left: it has an outcome, and its next time is later. One that was set aside is: it
    has none, and nobody will look at it for a week.
    """
    never_parsed = pages.c.content_hash.is_(None)
    waiting = pages.c.status.in_([PageStatus.PENDING.value, PageStatus.ERROR.value])
    open_pages = [
        pages.c.status == PageStatus.IN_PROGRESS.value,
        and_(pages.c.status == PageStatus.ERROR.value, pages.c.tries >= SUSPECT_TRIES),
    ]
    if kind != "planned":
        open_pages.append(and_(waiting, never_parsed, pages.c.next_due_at <= due_before))
    if kind == "refresh":
        again = due_before if again_before is None else again_before
        open_pages.append(and_(pages.c.status == PageStatus.PARSED.value, pages.c.next_due_at <= again))
    query = select(func.count()).select_from(pages).where(pages.c.store == store, or_(*open_pages))
    return int(conn.execute(query).scalar_one())
