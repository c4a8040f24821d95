"""Pages that a redirect moved to another URL key: the price series goes with them."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, delete, select, update

from storebot.db.dialects import insert_missing
from storebot.db.schema import aliases, listings, pages
from storebot.db.types import AnyRow
from storebot.items import ListingStatus, PageStatus


def holder_of(conn: Connection, store: str, url_key: str) -> AnyRow | None:
    """Return id, status, content_hash of the page that a key leads to, by its own name or as an alias; None if none."""
    columns = (pages.c.id, pages.c.status, pages.c.content_hash)
    own = select(*columns).where(pages.c.store == store, pages.c.url_key == url_key)
    alias = select(*columns).join(aliases, aliases.c.page_id == pages.c.id)
    alias = alias.where(aliases.c.store == store, aliases.c.old_key == url_key)
    return conn.execute(own).one_or_none() or conn.execute(alias).one_or_none()


def rename(conn: Connection, store: str, page_id: int, old_key: str, new_key: str, url: str, at: int) -> None:
    """Give a page the key that its redirect leads to, and have the old key lead to it."""
    conn.execute(update(pages).where(pages.c.id == page_id).values(url_key=new_key, url=url))
    conn.execute(delete(aliases).where(aliases.c.store == store, aliases.c.old_key == new_key))
    _alias(conn, store, old_key, page_id, at)


def merge(conn: Connection, store: str, page_id: int, old_key: str, into: AnyRow, at: int) -> None:
    """Retire a page whose redirect leads to another page: its keys lead there, its listings are missing.

    If that page was itself retired it comes back to be visited at once: a store may turn a redirect around.
    """
    conn.execute(update(aliases).where(aliases.c.page_id == page_id).values(page_id=into.id))
    if into.status == PageStatus.GONE:
        key_of = select(pages.c.url_key).where(pages.c.id == into.id)
        key = conn.execute(key_of).scalar_one()
        conn.execute(delete(aliases).where(aliases.c.store == store, aliases.c.old_key == key))
        status = PageStatus.PARSED if into.content_hash else PageStatus.PENDING
        conn.execute(update(pages).where(pages.c.id == into.id).values(status=status.value, next_due_at=0))
    _alias(conn, store, old_key, into.id, at)
    gone: dict[str, Any] = {
        "status": PageStatus.GONE.value,
        "claim_token": "",
        "claim_expires_at": 0,
        "tries": 0,
        "misses": pages.c.misses + 1,
        "last_error": "redirects to a page that is known by its own key",
    }
    conn.execute(update(pages).where(pages.c.id == page_id).values(gone))
    active = (listings.c.page_id == page_id) & (listings.c.status == ListingStatus.ACTIVE.value)
    seen = select(pages.c.checked_at).where(pages.c.id == page_id).scalar_subquery()
    missing = {"status": ListingStatus.MISSING.value, "missing_why": "page", "last_seen_at": seen}
    conn.execute(update(listings).where(active).values(missing))


def _alias(conn: Connection, store: str, old_key: str, page_id: int, at: int) -> None:
    row = {"store": store, "old_key": old_key, "page_id": page_id, "reason": "redirect", "created_at": at}
    insert_missing(conn, aliases, [row])
    this = (aliases.c.store == store) & (aliases.c.old_key == old_key)
    conn.execute(update(aliases).where(this).values(page_id=page_id))
