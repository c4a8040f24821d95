"""What stages read of listings, and what they said of them: `storebot.stages` is the pass between the two."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable
from typing import Any, NamedTuple

from sqlalchemy import Connection, bindparam, case, delete, func, select

from storebot.core.stage import PastOffer, Subject
from storebot.db.dialects import now_ms, upsert
from storebot.db.listings import listing_of
from storebot.db.schema import derived, listings, offers, pages, visits
from storebot.db.types import AnyRow
from storebot.items import ListingStatus, Outcome

_ACTIVE = listings.c.status == ListingStatus.ACTIVE.value
_SUBJECTS = (
    select(
        *(column for column in listings.c if column.name not in ("last_seen_at", "last_checked_at")),
        pages.c.url_key,
        case((_ACTIVE, pages.c.checked_at), else_=listings.c.last_seen_at).label("last_seen_at"),
        pages.c.checked_at.label("last_checked_at"),
    )
    .join(pages, pages.c.id == listings.c.page_id)
    .where(listings.c.id > bindparam("after_id"))
    .order_by(listings.c.id)
    .limit(bindparam("first"))
)
_OFFERS = (
    select(offers).where(offers.c.page_id.in_(bindparam("page_ids", expanding=True))).order_by(offers.c.at, offers.c.id)
)
_SEEN = (
    select(visits.c.id, visits.c.page_id, visits.c.at)
    .where(
        visits.c.id > bindparam("after_id"),
        visits.c.store == bindparam("of_store"),
        visits.c.page_id > 0,
        visits.c.outcome.in_([outcome.value for outcome in Outcome if outcome.seen]),
    )
    .order_by(visits.c.id)
    .limit(bindparam("first"))
)
_SAID = select(derived).where(
    derived.c.stage == bindparam("of_stage"), derived.c.listing_id.in_(bindparam("listing_ids", expanding=True))
)


class Said(NamedTuple):
    """What a stage said of a listing, and what it had read; ``at`` is when the answer changed last."""

    listing_id: int
    version: str
    inputs: str
    facts: str  # JSON
    number: int | None
    group_key: str | None
    flagged: int
    at: int = 0

    @property
    def answer(self) -> tuple[object, ...]:
        """All that it says, without what it was made of."""
        return (self.facts, self.number, self.group_key, self.flagged)


def subjects(conn: Connection, store: str | None, *, after_id: int = 0, limit: int = 1000) -> list[Subject]:
    """Return listings of one store or of all in the order of their ids, ``limit`` at a time, without their history."""
    query = _SUBJECTS if store is None else _SUBJECTS.where(listings.c.store == store)
    return [_subject(row) for row in conn.execute(query, {"after_id": after_id, "first": limit})]


def count(conn: Connection, store: str | None) -> int:
    """Count the listings of one store or of all."""
    query = select(func.count()).select_from(listings)
    return int(conn.execute(query if store is None else query.where(listings.c.store == store)).scalar_one())


def stores_with_listings(conn: Connection) -> list[str]:
    """Return the stores that a pass can be asked for, sorted."""
    return sorted(conn.execute(select(listings.c.store).distinct()).scalars())


def history(conn: Connection, page_ids: Collection[int]) -> dict[tuple[int, str], tuple[PastOffer, ...]]:
    """Return the offers of these pages' listings, oldest first, by page and variant."""
    found: defaultdict[tuple[int, str], list[PastOffer]] = defaultdict(list)
    for row in conn.execute(_OFFERS, {"page_ids": sorted(page_ids)}) if page_ids else ():
        offer = PastOffer(
            row.at, row.price_minor, row.regular_price_minor, row.currency, row.availability, row.cause or "seen"
        )
        found[row.page_id, row.variant_id].append(offer)
    return {listing: tuple(series) for listing, series in found.items()}


def seen(conn: Connection, store: str, *, after_id: int, limit: int) -> list[tuple[int, int, int]]:
    """Return visits that saw their page: their id, the page's and the time, ``limit`` at a time in their order.

    Read in the order of the table: an index by page would cost each visit of each crawl something.
    """
    wanted = {"of_store": store, "after_id": after_id, "first": limit}
    return [(row.id, row.page_id, row.at) for row in conn.execute(_SEEN, wanted)]


def said(conn: Connection, stage: str, listing_ids: Collection[int]) -> dict[int, Said]:
    """Return what a stage said of these listings."""
    if not listing_ids:
        return {}
    rows = conn.execute(_SAID, {"of_stage": stage, "listing_ids": sorted(listing_ids)})
    return {row.listing_id: Said(*(getattr(row, name) for name in Said._fields)) for row in rows}


def save(conn: Connection, stage: str, changed: Iterable[Said], restamped: Iterable[Said]) -> None:
    """Write answers that are new or differ, as of now, and those that are as they were, with what they were made of."""
    now = now_ms(conn)
    rows = [*(one._replace(at=now) for one in changed), *restamped]
    upsert(conn, derived, [{"stage": stage, **one._asdict()} for one in rows])


def remove(conn: Connection, stage: str, listing_ids: Collection[int]) -> None:
    """Take back what a stage said of these listings."""
    gone = (derived.c.stage == stage) & derived.c.listing_id.in_(sorted(listing_ids))
    conn.execute(delete(derived).where(gone))


def spoken_of(conn: Connection, stage: str, *, after_id: int, limit: int) -> list[int]:
    """Return the ids of listings that a stage said something of, ``limit`` at a time."""
    rows = (derived.c.stage == stage) & (derived.c.listing_id > after_id)
    query = select(derived.c.listing_id).where(rows).order_by(derived.c.listing_id).limit(limit)
    return list(conn.execute(query).scalars())


def _subject(row: AnyRow) -> Subject:
    values: dict[str, Any] = {
        name: getattr(row, name) or 0 for name in ("first_seen_at", "last_seen_at", "last_checked_at")
    }
    return Subject(id=row.id, page_id=row.page_id, listing=listing_of(row), status=ListingStatus(row.status), **values)
