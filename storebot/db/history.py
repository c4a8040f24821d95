"""The history of one page's listings, from the ledger of visits and the price series."""

from __future__ import annotations

from sqlalchemy import Connection, or_, select

from storebot.core.history import Look, Offer, Span, spans
from storebot.db.moves import holder_of
from storebot.db.schema import aliases, listings, offers, pages, visits
from storebot.items import Outcome


def history(conn: Connection, store: str, url_key: str) -> dict[str, list[Span]]:
    """Return the history of each listing of a page, by variant; empty for a page that isn't known, or has no record.

    The page is found by any key that leads to it, and what was seen at those others counts. Looks go back as far as
    the ledger is kept.
    """
    page = holder_of(conn, store, url_key)
    if page is None:
        return {}
    former = select(aliases.c.old_key).where(aliases.c.store == store, aliases.c.page_id == page.id)
    known = select(pages.c.id).where(pages.c.store == store, or_(pages.c.id == page.id, pages.c.url_key.in_(former)))
    seen = select(visits.c.at, visits.c.outcome).where(visits.c.page_id.in_(known), visits.c.store == store)
    looks = [Look(at, Outcome(outcome)) for at, outcome in conn.execute(seen.order_by(visits.c.at, visits.c.id))]
    series = select(offers).where(offers.c.page_id == page.id).order_by(offers.c.at, offers.c.id)
    by_variant: dict[str, list[Offer]] = {
        variant: []
        for variant in conn.execute(
            select(listings.c.variant_id).where(listings.c.page_id == page.id).order_by(listings.c.id)
        ).scalars()
    }
    for row in conn.execute(series):
        offer = Offer(row.at, row.price_minor, row.currency, row.availability, row.cause)
        by_variant.setdefault(row.variant_id, []).append(offer)
    return {variant: spans(looks, found) for variant, found in by_variant.items()}
