"""What the cards of a catalogue page do to the pages that they show: a look at each, a hint, or the new price itself.

Why, and when a card is believed: docs/decisions/0033-cards.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from sqlalchemy import Connection, bindparam, select

from storebot.core.fingerprint import page_hash, record_hash
from storebot.core.planner.cards import News, Record, Shown, Stock, news
from storebot.core.planner.hazard import Flag
from storebot.core.planner.knowledge import Past, observe_card
from storebot.core.planner.lanes import Lane
from storebot.core.validate import NOT_BUYABLE
from storebot.db import listings, views
from storebot.db.batch import Batch, renamed
from storebot.db.carried import CarriedVisits, holders
from storebot.db.compare import Known
from storebot.db.context import RunContext
from storebot.db.discovery import discover
from storebot.db.knowledge import HOUR_MS
from storebot.db.learning import Learner
from storebot.db.listings import listing_of
from storebot.db.schema import listings as listing_rows
from storebot.db.schema import pages
from storebot.db.types import AnyRow
from storebot.db.views import View
from storebot.items import CARD, Card, CatalogPage, ListingStatus, PageStatus, Target, Visit

PAIR_MS = HOUR_MS  # within which a card and its page show the same price, if the card's is the page's
_CHUNK = 500  # keys a statement

_PAGES = select(
    *(
        pages.c[name]
        for name in (
            "id",
            "url",
            "url_key",
            "status",
            "claim_token",
            "content_hash",
            "details_hash",
            "hash_version",
            "parser_version",
            "misses",
            "checked_at",
            "next_due_at",
            "delisted_at",
            "unnamed_since",
            "change_credit",
            "exposure_h",
            "listed_at",
            "signal",
            "category_id",
            "view_id",
            "card_price_minor",
            "card_stock",
        )
    )
).where(pages.c.id.in_(bindparam("ids", expanding=True)))
_PUBLISHED = select(
    *(
        listing_rows.c[name]
        for name in (
            "page_id",
            "price_minor",
            "price_min_minor",
            "currency",
            "availability",
            "last_changed_at",
        )
    )
).where(
    listing_rows.c.page_id.in_(bindparam("ids", expanding=True)),
    listing_rows.c.status == ListingStatus.ACTIVE.value,
)
_CURRENCY = (
    select(listing_rows.c.currency)
    .where(listing_rows.c.store == bindparam("store"), listing_rows.c.currency.is_not(None))
    .limit(1)
)
_NOTHING = Record(None, None, None, 0)


@dataclass(slots=True)
class _Looks:
    """What the cards of one page of the catalogue are judged by, and what they give."""

    run: RunContext
    learner: Learner
    at_ms: int
    view: View
    records: Mapping[int, Record]
    rows: Batch
    believed: dict[int, Card] = field(default_factory=dict)
    same: int = 0


class _Prices(NamedTuple):
    """The active listings of a page."""

    rows: list[AnyRow]

    @property
    def record(self) -> Record:
        sole = self.rows[0] if len(self.rows) == 1 and self.rows[0].price_min_minor is None else None
        said = [row.availability not in NOT_BUYABLE for row in self.rows if row.availability]
        return Record(
            sole.price_minor if sole else None,
            sole.currency if sole else None,
            any(said) if said else None,
            max(row.last_changed_at for row in self.rows),
        )


def currency_of(conn: Connection, store: str) -> str:
    """Return the currency of a listing of the store: that of cards which name none; "" before there is any."""
    return conn.execute(_CURRENCY, {"store": store}).scalar() or ""


def looked(
    conn: Connection, run: RunContext, learner: Learner, page: CatalogPage, taken: set[int], rows: Batch
) -> CarriedVisits:
    """Save the pages that a page of the catalogue names, and look at its cards.

    Returned are the visits of pages whose card brings a price that is believed, with the run's claim on them, but for
    those in ``taken``, which they are added to. ``rows`` get what all cards say of their pages. A page that a run is
    reading is only noted to be shown: it speaks for itself.
    """
    new = discover(conn, page.store, page.found, page.at_ms, named=page.round, learner=learner)
    shown = [card for card in page.cards if card.price_minor is not None or card.availability is not None]
    by_id = _by_id(conn, page.store, shown)
    known = {row.id: row for chunk in _chunks(list(by_id)) for row in conn.execute(_PAGES, {"ids": chunk})}
    read = [row.id for row in known.values() if _is_comparable(row)]
    view = views.look(conn, page, [one for one in by_id if one in known])
    if view is None:
        return CarriedVisits([], new)
    looks = _Looks(run, learner, page.at_ms, view, _records(conn, read), rows)
    for page_id, card in by_id.items():
        if page_id in known:
            _look(looks, known[page_id], card, taken)
    learner.flagged += views.leave(conn, view, page.at_ms, rows)
    return CarriedVisits(_visits(conn, looks, known), new, looks.same)


def _by_id(conn: Connection, store: str, shown: Sequence[Card]) -> dict[int, Card]:
    """Return the cards by the page that each is of, in their order; of two the first."""
    ids = holders(conn, store, sorted({card.url_key for card in shown}))
    found: dict[int, Card] = {}
    for card in shown:
        if card.url_key in ids:
            found.setdefault(ids[card.url_key], card)
    return found


def _is_comparable(page: AnyRow) -> bool:
    """Whether a page's record may be compared with its card: no feed gives it, and nobody is reading it right now."""
    carried = "+" in page.parser_version
    return page.content_hash is not None and not carried and not page.claim_token and _is_there(page)


def _is_there(page: AnyRow) -> bool:
    return bool(page.status == PageStatus.PARSED.value and not page.misses and page.delisted_at is None)


def _records(conn: Connection, page_ids: Sequence[int]) -> dict[int, Record]:
    found: dict[int, list[AnyRow]] = {}
    for chunk in _chunks(page_ids):
        for row in conn.execute(_PUBLISHED, {"ids": chunk}):
            found.setdefault(row.page_id, []).append(row)
    return {page_id: _Prices(rows).record for page_id, rows in found.items()}


def _look(looks: _Looks, page: AnyRow, card: Card, taken: set[int]) -> None:
    """Judge one card. What it shows is noted in any case; what it means, where nothing said before that it differs."""
    stock = _stock(card)
    price = page.card_price_minor if card.price_minor is None else card.price_minor
    values = {"listed_at": looks.at_ms, "view_id": looks.view.id, "card_price_minor": price, "card_stock": stock.value}
    looks.rows.add("page_shown", {"of_page": page.id, **renamed(values)})
    if not _is_comparable(page) or page.signal >= Flag.DIFFERS or page.id in taken or _is_due(looks, page):
        return
    found = news(
        Shown(card.price_minor, card.currency, stock),
        Shown(page.card_price_minor, None, Stock(page.card_stock)),
        looks.records.get(page.id, _NOTHING),
        listed_at=looks.view.before_ms if page.view_id == looks.view.id else page.listed_at,
        proven=looks.learner.memory.knowledge.cards_are_prices,
    )
    if found is News.PRICE and _is_of_today(looks.run, page) and not _waits(looks.run, page):
        taken.add(page.id)
        looks.believed[page.id] = card
    elif found is News.NONE:
        _seen(looks, page, card)
    else:
        values = {"signal": Flag.DIFFERS.value, "next_due_at": 0}
        looks.rows.add("page_hinted", {"of_page": page.id, **renamed(values)})
        looks.learner.flagged.append(page.id)


def _is_due(looks: _Looks, page: AnyRow) -> bool:
    """Whether a refresh without a plan looks at the page itself anyway: one look is enough."""
    return bool(not looks.learner.planned and page.next_due_at <= looks.at_ms)


def _stock(card: Card) -> Stock:
    if card.availability is None:
        return Stock.UNSAID
    return Stock.NO if card.availability in NOT_BUYABLE else Stock.YES


def _is_of_today(run: RunContext, page: AnyRow) -> bool:
    """Whether the record is by today's parser, so that one value of it may be replaced."""
    return bool(page.parser_version == run.parser_version and page.hash_version == run.hash_version)


def _waits(run: RunContext, page: AnyRow) -> bool:
    """Whether a look at the page itself isn't published yet: it said more than the card, which is then a hint."""
    return run.gate is not None and page.id in run.gate.open_pages


def _seen(looks: _Looks, page: AnyRow, card: Card) -> None:
    """Take in a card that shows nothing new: the change that a sitemap told of, if one did, isn't one of price."""
    knowledge = looks.learner.memory.knowledge
    past = Past(
        (page.checked_at or 0) / HOUR_MS,
        page.change_credit,
        page.exposure_h,
        page.listed_at / HOUR_MS,
        Flag(page.signal),
        page.category_id,
    )
    looks.learner.touch(page.category_id)
    observe_card(past, knowledge, looks.at_ms / HOUR_MS, differs=False)
    values = {"change_credit": past.credit, "exposure_h": past.exposure_h, "signal": past.flag.value}
    looks.rows.add("page_seen_on_card", {"of_page": page.id, **renamed(values)})
    looks.same += knowledge.cards_are_prices and card.price_minor is not None


def _visits(conn: Connection, looks: _Looks, known: Mapping[int, AnyRow]) -> list[Visit]:
    """Return the visits of pages whose card is believed: the record that is published, with the card's price."""
    found = []
    for page_id, rows in listings.by_page(conn, looks.believed).items():
        (row,) = (one for one in rows.values() if one.status == ListingStatus.ACTIVE.value)
        found.append(_visit(looks, known[page_id], row))
    return sorted(found, key=lambda visit: visit.target.page_id)


def _visit(looks: _Looks, page: AnyRow, row: AnyRow) -> Visit:
    price = looks.believed[page.id].price_minor
    before = listing_of(row)
    regular = before.regular_price_minor
    sources = {**before.field_source, "price": CARD}
    if regular is not None and price is not None and regular <= price:
        regular = None
        sources.pop("regular_price", None)
    changed = replace(
        before,
        price_minor=price,
        regular_price_minor=regular,
        field_source=sources,
        disagreements=tuple(one for one in before.disagreements if one.field not in ("price", "regular_price")),
    )
    changed = replace(changed, record_hash=record_hash(changed))
    store, token = looks.run.store, looks.run.lease_token
    target = Target(
        store=store, url=page.url, url_key=page.url_key, page_id=page.id, claim_token=token, lane=Lane.LISTING.value
    )
    return Visit(
        target=target,
        at_ms=looks.at_ms,
        source=CARD,
        requests=0,
        tier=row.tier,
        page_sha256=row.page_sha256,
        listings=(changed,),
        content_hash=page_hash({changed.variant_id: changed.record_hash}),
        details_hash=page.details_hash or "",
    )


# --- proof ----------------------------------------------------------------------------------------------------------


def price_before(page: Known, at_ms: int) -> int | None:
    """Return the price that the card of a page showed within the hour before a look at the page itself, the first one
    since; None where it showed none."""
    first = page.checked_at is None or page.checked_at < page.listed_at
    return page.card_price_minor if first and 0 <= at_ms - page.listed_at <= PAIR_MS else None


def learn_pairs(conn: Connection, learner: Learner, shown: Mapping[int, int]) -> None:
    """Learn from pages that were looked at whether their cards had shown their price: ``shown``, by page.

    A page with several listings proves nothing, for no card could show the prices of all.
    """
    knowledge = learner.memory.knowledge
    for page_id, record in _records(conn, sorted(shown)).items():
        if record.price_minor is not None:
            knowledge.card_pairs += 1
            knowledge.card_equal += record.price_minor == shown[page_id]


def _chunks(items: Sequence[int]) -> list[Sequence[int]]:
    return [items[start : start + _CHUNK] for start in range(0, len(items), _CHUNK)]
