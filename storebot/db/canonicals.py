"""What pages say of their true address, judged when all of a run is saved: claims that the records bear out.

Why then, and how: docs/decisions/0018-canonical-links.md.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any

from sqlalchemy import Connection, bindparam, delete, func, select, update

from storebot.core.canonical import MOST_NAMES, is_amp
from storebot.core.likeness import likeness
from storebot.db import moves
from storebot.db.listings import by_page
from storebot.db.schema import aliases, pages
from storebot.db.types import AnyRow
from storebot.items import ListingStatus, PageStatus

logger = logging.getLogger(__name__)

_CHUNK = 200  # canonical keys at once

_OPEN = (
    (pages.c.store == bindparam("of_store"))
    & pages.c.canonical_key.is_not(None)
    & (pages.c.canonical_key != pages.c.url_key)
    & (pages.c.status != PageStatus.GONE.value)
    & pages.c.content_hash.is_not(None)
)
_CLAIMED = select(pages.c.canonical_key, func.count()).where(_OPEN).group_by(pages.c.canonical_key)
_CLAIMANTS = (
    select(pages.c.id, pages.c.url_key, pages.c.url, pages.c.canonical_key)
    .where(_OPEN, pages.c.canonical_key.in_(bindparam("keys", expanding=True)))
    .order_by(pages.c.canonical_key, pages.c.id)
)
_FOLDED = (
    select(aliases.c.old_key, aliases.c.reason, pages.c.url)
    .join(pages, (pages.c.store == aliases.c.store) & (pages.c.url_key == aliases.c.old_key))
    .where(
        aliases.c.page_id == bindparam("of_page"),
        aliases.c.reason.in_(moves.BY_CLAIM),
        pages.c.status == PageStatus.GONE.value,
    )
    .order_by(aliases.c.created_at.desc(), aliases.c.old_key)
    .limit(1)
)
_UNSEEN = "unseen"  # reason of an alias whose page was not there any more: it's no way back

Rows = Mapping[int, Mapping[str, AnyRow]]


def settle(conn: Connection, store: str, at: int) -> int:
    """Fold pages into the page that they call their true one, and return how many; call it under the store's lease.

    A page is folded where that page is known, calls no third one its own, and their records show one product. Where it
    isn't known, the eldest of those that name it takes its key, and goes on being fetched where it was found. What
    can't be told yet stays a claim, for the next run.
    """
    counted = [(key, count) for key, count in conn.execute(_CLAIMED, {"of_store": store})]
    for key, count in counted:
        if count > MOST_NAMES:
            logger.warning("%s: %d pages call %s their canonical address: not believed of any", store, count, key)
    keys = sorted(key for key, count in counted if count <= MOST_NAMES)
    chunks = (keys[start : start + _CHUNK] for start in range(0, len(keys), _CHUNK))
    folded = sum(_settle_chunk(conn, store, chunk, at) for chunk in chunks)
    if folded:
        logger.info("%s: %d pages are another page by their canonical link: their keys lead there", store, folded)
    return folded


def _settle_chunk(conn: Connection, store: str, keys: Sequence[str], at: int) -> int:
    rows = conn.execute(_CLAIMANTS, {"of_store": store, "keys": list(keys)}).all()
    claims = [(key, list(group)) for key, group in groupby(rows, key=lambda row: row.canonical_key)]
    holders = {key: moves.holder_of(conn, store, key) for key, _ in claims}
    known = by_page(conn, {row.id for row in rows} | {row.id for row in holders.values() if row is not None})
    folded = 0
    for key, claimants in claims:
        holder = holders[key]
        if holder is None:
            folded += _take(conn, store, key, claimants, known, at)
        elif _is_canonical(holder):
            others = [row for row in claimants if row.id != holder.id]
            folded += _fold(conn, store, holder, _believed(others, holder, known), at)
    return folded


def _is_canonical(holder: AnyRow) -> bool:
    """Whether a page that others name was read, and names no third one itself: neither chain nor loop."""
    settled = holder.canonical_key in (None, holder.url_key)
    return settled and holder.content_hash is not None and holder.status != PageStatus.GONE


def _believed(claimants: Iterable[AnyRow], holder: AnyRow, known: Rows) -> list[AnyRow]:
    """Return the pages that are the holder by their records; one that differs voids the bare likeness of others."""
    alike = [(row, likeness(_on_sale(known, row.id), _on_sale(known, holder.id))) for row in claimants]
    unanimous = all(found.is_one_product or found.may_be_one_product for _, found in alike)
    return [row for row, found in alike if found.is_one_product or (unanimous and found.may_be_one_product)]


def _on_sale(known: Rows, page_id: int) -> list[Any]:
    return [row for row in known.get(page_id, {}).values() if row.status == ListingStatus.ACTIVE]


def _take(conn: Connection, store: str, key: str, claimants: Sequence[AnyRow], known: Rows, at: int) -> int:
    """Give the eldest page a key that no page has; not where those that name it are several products."""
    eldest, *others = claimants
    if len(_believed(others, eldest, known)) < len(others):
        return 0
    moves.take(conn, store, eldest.id, eldest.url_key, key, eldest.url, at, _reason(eldest.url_key))
    holder = moves.holder_of(conn, store, key)
    assert holder is not None
    return 1 + _fold(conn, store, holder, others, at)


def _fold(conn: Connection, store: str, holder: AnyRow, claimants: Sequence[AnyRow], at: int) -> int:
    for row in claimants:
        moves.retire(conn, store, row.id, row.url_key, holder, at, _reason(row.url_key))
        moves.inherit(conn, row.id, holder.id)
    return len(claimants)


def _reason(key: str) -> str:
    return moves.AMP if is_amp(key) else moves.CANONICAL


def fall_back(conn: Connection, store: str, page_id: int, url_key: str, at: int) -> str:
    """Send a page that isn't there any more back to the last address that was folded into it; return that, or "".

    A canonical link is a claim: when the address that it named is gone, the one that named it may still sell.
    """
    row = conn.execute(_FOLDED, {"of_page": page_id}).one_or_none()
    if row is None:
        return ""
    moves.take(conn, store, page_id, url_key, row.old_key, row.url, at, _UNSEEN)
    return str(row.url)


def give_back(conn: Connection, store: str, url_keys: Sequence[str]) -> int:
    """Take keys that pages have by their canonical link alone away from them: their own pages were found.

    Return how many are free by now. The claim stays, and is judged when the page that was found has been read.
    """
    held = (pages.c.store == store) & pages.c.url_key.in_(url_keys) & (pages.c.canonical_key == pages.c.url_key)
    rows = conn.execute(select(pages.c.id).where(held, pages.c.status != PageStatus.GONE.value)).all()
    return sum(_back(conn, store, row.id) for row in rows)


def _back(conn: Connection, store: str, page_id: int) -> bool:
    other = pages.alias()
    rowless = ~select(other.c.id).where(other.c.store == store, other.c.url_key == aliases.c.old_key).exists()
    query = select(aliases.c.old_key).where(aliases.c.page_id == page_id, aliases.c.reason.in_(moves.BY_CLAIM), rowless)
    old = conn.execute(query.order_by(aliases.c.created_at.desc(), aliases.c.old_key).limit(1)).scalar()
    if old is None:
        return False
    conn.execute(delete(aliases).where(aliases.c.store == store, aliases.c.old_key == old))
    conn.execute(update(pages).where(pages.c.id == page_id).values(url_key=old))
    return True
