"""The pages that a batch of visits is about: their rows, locked until it commits, and which visits differ from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlalchemy import Connection, bindparam, select

from storebot.db.compare import Known, confirms_card
from storebot.db.context import RunContext
from storebot.db.schema import pages
from storebot.db.types import AnyRow
from storebot.items import Visit

_CLAIMED = (
    select(
        pages.c.id,
        pages.c.url_key,
        pages.c.claim_token,
        pages.c.content_hash,
        pages.c.details_hash,
        pages.c.hash_version,
        pages.c.parser_version,
        pages.c.misses,
        pages.c.checked_at,
        pages.c.delisted_at,
        pages.c.unnamed_since,
        pages.c.etag,
        pages.c.last_modified,
        pages.c.change_credit,
        pages.c.exposure_h,
        pages.c.listed_at,
        pages.c.signal,
        pages.c.value,
        pages.c.category_id,
        pages.c.card_price_minor,
        pages.c.carded_at,
    )
    .where(pages.c.store == bindparam("of_store"), pages.c.id.in_(bindparam("ids", expanding=True)))
    .order_by(pages.c.id)
    .with_for_update()
)


def lock_visited(conn: Connection, store: str, visits: Sequence[Visit]) -> dict[int, Known]:
    """Lock the pages of visits, and return what is known of them; a page of the catalogue has no row."""
    ids = sorted({visit.target.page_id for visit in visits} - {0})
    if not ids:
        return {}
    return lock(conn, store, ids)


def lock(conn: Connection, store: str, ids: Sequence[int]) -> dict[int, Known]:
    """Lock pages of a store, and return what is known of them."""
    return {row.id: _known(row) for row in conn.execute(_CLAIMED, {"of_store": store, "ids": ids})}


def _known(row: AnyRow) -> Known:
    return Known(*row)


def take_over(run: RunContext, known: Mapping[int, Known], visits: Sequence[Visit]) -> None:
    """Claim the pages of carried visits, unless somebody has: they're locked, and let go when the batch is written."""
    for visit in visits:
        page = known.get(visit.target.page_id)
        if page is not None and not page.claim_token:
            page.claim_token = run.lease_token


def to_compare(run: RunContext, known: Mapping[int, Known], visits: Sequence[Visit]) -> set[int]:
    """Return the pages whose listing rows have to be read: parsed, known, and not the same as before; or delisted."""
    looked = [(visit, known.get(visit.target.page_id)) for visit in visits]
    return {
        page.id
        for visit, page in looked
        if page
        and page.content_hash
        and (page.delisted_at or (visit.outcome is None and not is_unchanged(run, page, visit)))
    }


def is_unchanged(run: RunContext, page: Known, visit: Visit) -> bool:
    """Whether a page shows what its record says, and the record is this parser's."""
    return (
        page.content_hash == visit.content_hash
        and (page.details_hash or "") == visit.details_hash
        and not is_rebased(run, page, visit)
        and not confirms_card(page, visit)
    )


def is_rebased(run: RunContext, page: Known, visit: Visit) -> bool:
    """Whether another parser, or another hash, made the page's record: what differs may be no change of the market."""
    return page.parser_version != run.version_of(visit) or page.hash_version != run.hash_version
