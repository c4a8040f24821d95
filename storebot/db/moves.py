"""Pages that go by another URL key from now on, by a redirect or a canonical link: the price series goes with them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, delete, func, select, update

from storebot.db.dialects import insert_missing
from storebot.db.listings import by_page
from storebot.db.schema import aliases, listings, offers, pages
from storebot.db.types import AnyRow
from storebot.items import ListingStatus, PageStatus

REDIRECT, CANONICAL, AMP = "redirect", "canonical", "amp"  # reasons of an alias
BY_CLAIM = (CANONICAL, AMP)

_HOLDER = (
    pages.c.id,
    pages.c.url_key,
    pages.c.url,
    pages.c.status,
    pages.c.content_hash,
    pages.c.canonical_key,
)


def holder_of(conn: Connection, store: str, url_key: str) -> AnyRow | None:
    """Return the page that a key leads to: its own, or if that was retired, or never was, its alias's; None if none."""
    own = conn.execute(select(*_HOLDER).where(_named(store, url_key))).one_or_none()
    if own is not None and own.status != PageStatus.GONE:
        return own
    led = select(*_HOLDER).join(aliases, aliases.c.page_id == pages.c.id)
    return conn.execute(led.where(aliases.c.store == store, aliases.c.old_key == url_key)).one_or_none() or own


def take(
    conn: Connection, store: str, page_id: int, old_key: str, new_key: str, url: str, at: int, reason: str = REDIRECT
) -> None:
    """Give a page another key, and have the old one lead to it.

    A row that has that key, without a record or retired, is left with the old one, as retired: the two change places.
    """
    row = conn.execute(select(*_HOLDER).where(_named(store, new_key), pages.c.id != page_id)).one_or_none()
    old_url = conn.execute(select(pages.c.url).where(pages.c.id == page_id)).scalar_one()
    if row is not None:
        conn.execute(update(pages).where(pages.c.id == row.id).values(url_key=f"~{row.id}"))
    unknown = {} if url == old_url else {"etag": None, "last_modified": None, "source_hash": None}
    conn.execute(update(pages).where(pages.c.id == page_id).values(url_key=new_key, url=url, **unknown))
    if row is not None:
        conn.execute(update(pages).where(pages.c.id == row.id).values(url_key=old_key, url=old_url))
        _let_go(conn, row.id, page_id, "its key is another page's by now")
    conn.execute(delete(aliases).where(aliases.c.store == store, aliases.c.old_key == new_key))
    alias(conn, store, old_key, page_id, at, reason)


def retire(
    conn: Connection, store: str, page_id: int, old_key: str, into: AnyRow, at: int, reason: str = REDIRECT
) -> None:
    """Retire a page that leads to another page: its keys lead there, its listings are missing.

    If that page was itself retired it comes back to be visited at once: a store may turn a redirect around.
    """
    if into.status == PageStatus.GONE:
        conn.execute(delete(aliases).where(aliases.c.store == store, aliases.c.old_key == into.url_key))
        status = PageStatus.PARSED if into.content_hash else PageStatus.PENDING
        conn.execute(update(pages).where(pages.c.id == into.id).values(status=status.value, next_due_at=0))
    alias(conn, store, old_key, into.id, at, reason)
    _let_go(conn, page_id, into.id, "leads to a page that is known by its own key")


def inherit(conn: Connection, page_id: int, into_id: int) -> None:
    """Hand the price series of a retired page to the page that it leads to, as far as it is older than that one's own.

    Only of runs before that page's first: what both saw in one run is one observation.
    """
    rows = by_page(conn, (page_id, into_id))
    first_run = conn.execute(select(func.min(offers.c.run_id)).where(offers.c.page_id == into_id)).scalar()
    for old, new in _heirs(rows.get(page_id, {}), rows.get(into_id, {})).items():
        series = (offers.c.page_id == page_id) & (offers.c.variant_id == old)
        if first_run is not None:
            series &= offers.c.run_id < first_run
        conn.execute(update(offers).where(series).values(page_id=into_id, variant_id=new))
        seen = rows[page_id][old].first_seen_at
        younger = (listings.c.page_id == into_id) & (listings.c.variant_id == new) & (listings.c.first_seen_at > seen)
        conn.execute(update(listings).where(younger).values(first_seen_at=seen))
    seen = conn.execute(select(pages.c.first_seen_at).where(pages.c.id == page_id)).scalar_one()
    page = (pages.c.id == into_id) & (pages.c.first_seen_at > seen)
    conn.execute(update(pages).where(page).values(first_seen_at=seen))


def alias_copy(conn: Connection, store: str, key: str, page_id: int, at: int) -> None:
    """Have the key of a page's AMP copy lead to it, where that is no page yet and leads nowhere else."""
    if holder_of(conn, store, key) is None:
        alias(conn, store, key, page_id, at, AMP)


def alias(conn: Connection, store: str, old_key: str, page_id: int, at: int, reason: str) -> None:
    """Have a key lead to a page, wherever it led before."""
    row = {"store": store, "old_key": old_key, "page_id": page_id, "reason": reason, "created_at": at}
    insert_missing(conn, aliases, [row])
    this = (aliases.c.store == store) & (aliases.c.old_key == old_key)
    conn.execute(update(aliases).where(this).values(page_id=page_id, reason=reason))


def _heirs(old: Mapping[str, AnyRow], new: Mapping[str, AnyRow]) -> dict[str, str]:
    """Return the variant of the new page that goes on with each of the old one: by its id, its SKU, or the only one."""
    by_sku = {row.sku: variant for variant, row in new.items() if row.sku}
    only = next(iter(new)) if len(old) == len(new) == 1 else None
    heirs = {variant: variant if variant in new else by_sku.get(row.sku, only) for variant, row in old.items()}
    return {variant: heir for variant, heir in heirs.items() if heir is not None}


def _let_go(conn: Connection, page_id: int, into_id: int, why: str) -> None:
    conn.execute(update(aliases).where(aliases.c.page_id == page_id).values(page_id=into_id))
    gone: dict[str, Any] = {
        "status": PageStatus.GONE.value,
        "claim_token": "",
        "claim_expires_at": 0,
        "tries": 0,
        "misses": pages.c.misses + 1,
        "last_error": why,
    }
    active = (listings.c.page_id == page_id) & (listings.c.status == ListingStatus.ACTIVE.value)
    seen = select(pages.c.checked_at).where(pages.c.id == page_id).scalar_subquery()
    missing = {"status": ListingStatus.MISSING.value, "missing_why": "page", "last_seen_at": seen}
    conn.execute(update(listings).where(active).values(missing))
    conn.execute(update(pages).where(pages.c.id == page_id).values(gone))


def _named(store: str, url_key: str) -> Any:
    return (pages.c.store == store) & (pages.c.url_key == url_key)
