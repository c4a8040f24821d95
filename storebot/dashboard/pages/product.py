"""Product: one listing, what it costs since when, where each value is from, and how far it can be believed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from storebot.core.dashboard.field_changes import change_of, label, price, stock
from storebot.core.dashboard.price_history import Priced, Stretch, Visited, since_when, stretches
from storebot.core.export.columns import LISTINGS, listing_row, money
from storebot.core.money import EXPONENTS
from storebot.dashboard import kept_versions
from storebot.dashboard.pages import changes as change_pages
from storebot.dashboard.pages import products as product_pages
from storebot.dashboard.price_picture import drawn
from storebot.dashboard.view import Ask, Facts, NotFound, Picture, View, moment
from storebot.db import holds
from storebot.db.board import changes as change_rows
from storebot.db.board import product, products
from storebot.db.listings import listing_of
from storebot.db.types import AnyRow

_MOST_STRETCHES = 100
_MOST_VISITS = 20
_PROVENANCE = ("parser_version", "run_id", "tier", "first_seen_at", "last_changed_at")


def found(ask: Ask) -> AnyRow:
    """Return the listing that an address names."""
    number = int(ask.path["listing"])
    row = product.one(ask.conn, number) if number < 2**63 else None
    if row is None:
        raise NotFound(f"there is no listing {number}")
    return row


def read(ask: Ask) -> Facts:
    """Return all that is known of a listing."""
    row = found(ask)
    keys = product.keys_of(ask.conn, row)
    seen, series = product.visits_of(ask.conn, row, keys), product.series_of(ask.conn, row)
    prices = [one for one, _ in series]
    history = stretches([Visited(one.at, one.outcome, one.reason) for one in seen], prices)
    said = product.said_of(ask.conn, row.id)
    versions, why_none = kept_versions.listed(ask.site, row.store, keys)
    return {
        "product": _about(row, prices),
        "fields": _fields(row),
        "disagreements": _disagreements(row),
        "history": [_stretch(one) for one in reversed(history[-_MOST_STRETCHES:])],
        "stretches": len(history),
        "visits_kept": len(seen),
        "visits_bounded": len(seen) == product.MOST_VISITS,
        "lows": _lows(said.get("price_lows", {})),
        "confidence": _confidence(said),
        "variants": _listed(ask, product.variants_of(ask.conn, row)),
        "same": _same(ask, row, said.get("same_product", {})),
        "changes": _changes(ask, product.changes_of(ask.conn, row, keys, seen, series)),
        "visits": [_visit(one) for one in reversed(seen[-_MOST_VISITS:])],
        "hold": _hold(ask, row),
        "versions": [{**one._asdict(), "at": moment(one.fetched_at_ms)} for one in versions],
        "no_versions": why_none,
        "keys": keys,
    }


def draw(ask: Ask, narrow: bool) -> bytes:
    """Return the price over time, with stock and gaps."""
    row = found(ask)
    seen = product.visits_of(ask.conn, row, product.keys_of(ask.conn, row))
    prices = [one for one, _ in product.series_of(ask.conn, row)]
    history = stretches([Visited(one.at, one.outcome, one.reason) for one in seen], prices)
    return drawn(history, row.currency, narrow=narrow)


def _about(row: AnyRow, series: Sequence[Priced]) -> Facts:
    active = row.status == "active"
    return {
        **product_pages.shown(row, None, False),
        "page_id": row.page_id,
        "url_key": row.url_key,
        "price_since": moment(since_when(series, "price_minor")),
        "stock_since": moment(since_when(series, "availability")),
        "status_since": moment(row.first_seen_at if active else row.delisted_at or row.first_missed_at),
        "missing_why": row.missing_why,
        "misses": row.misses,
        "last_seen_at": moment(row.checked_at if active else row.last_seen_at),
        "last_checked_at": moment(row.checked_at),
        "next_due_at": moment(row.next_due_at),
        "last_error": row.last_error,
        "last_failure": row.last_failure,
        "run": row.run_id,
        "tier": row.tier,
        "parser": row.parser,
        "parser_version": row.parser_version,
        "card_price": price(row.card_price_minor, row.currency),
        "card_differs": row.card_price_minor is not None and row.card_price_minor != row.price_minor,
        "carded_at": moment(row.carded_at),
        "listed_at": moment(row.listed_at),
    }


def _fields(row: AnyRow) -> list[Facts]:
    """Return each value of the record with where it's from."""
    values = listing_row(listing_of(row), row.status, {name: getattr(row, name) for name in _PROVENANCE})
    sources: Mapping[str, str] = orjson.loads(row.field_source or "{}")
    unsaid = {"field_source", "disagreements", "last_seen_at", "last_checked_at"}
    return [
        {"name": column.name, "label": label(column.name), "about": column.about, "value": values.get(column.name)}
        | {"source": sources.get(column.name, "")}
        for column in LISTINGS
        if column.name not in unsaid
    ]


def _disagreements(row: AnyRow) -> list[Facts]:
    return [
        {"field": one.field, "label": label(one.field), "taken": listing_of(row).field_source.get(one.field, "")}
        | {"values": dict(one.values)}
        for one in listing_of(row).disagreements
    ]


def _stretch(one: Stretch) -> Facts:
    offer = one.offer
    known = offer is not None and offer.currency in EXPONENTS
    return {
        "kind": one.kind,
        "since": moment(one.since),
        "until": moment(one.until),
        "looks": one.looks,
        "price": money(offer.price_minor, offer.currency) if offer and known else None,
        "price_text": price(offer.price_minor, offer.currency) if offer else "",
        "regular_text": price(one.regular_minor, offer.currency) if offer else "",
        "currency": offer.currency if offer else None,
        "availability": offer.availability if offer else None,
        "stock": stock(offer.availability) if offer else "",
        "cause": offer.cause if offer else None,
        "note": one.note,
    }


def _lows(facts: Mapping[str, Any]) -> Facts | None:
    if "price_minor" not in facts:
        return None
    money_in = facts.get("currency")
    return {
        "said_at": moment(facts["said_at"]),
        "low_30d": price(facts.get("low_30d_minor"), money_in),
        "low_30d_at": moment(facts.get("low_30d_at")),
        "low_30d_enough": facts.get("low_30d_enough", False),
        "all_time": price(facts.get("all_time_low_minor"), money_in),
        "all_time_at": moment(facts.get("all_time_low_at")),
        "all_time_enough": facts.get("all_time_enough", False),
        "before": price(facts.get("before_minor"), money_in),
        "reduced": facts.get("reduced", False),
        "reference_inflated": facts.get("reference_inflated", False),
        "unobserved_days": facts.get("unobserved_days", 0),
    }


def _confidence(said: Mapping[str, Mapping[str, Any]]) -> Facts:
    score = said.get("score", {})
    return {
        "score": score.get("score"),
        "reasons": score.get("reasons", []),
        "said_at": moment(score.get("said_at")),
        "flagged_by": sorted(stage for stage, facts in said.items() if facts["flagged"]),
    }


def _same(ask: Ask, row: AnyRow, facts: Mapping[str, Any]) -> Facts:
    rows = product.same_as(ask.conn, facts["group_key"]) if facts.get("group_key") else []
    others = [one for one in rows if one.id != row.id]
    found = _listed(ask, others)
    for one, shown in zip(others, found, strict=True):
        comparable = one.currency == row.currency
        shown["percent"] = change_of(row.price_minor, one.price_minor) if comparable else None
    return {"group": facts.get("group_key"), "doubts": facts.get("doubts", []), "rows": found}


def _listed(ask: Ask, rows: Sequence[AnyRow]) -> list[Facts]:
    said = products.scores(ask.conn, {one.id for one in rows})
    return [product_pages.shown(one, *said.get(one.id, (None, False))) for one in rows]


def _changes(ask: Ask, rows: Sequence[AnyRow]) -> list[Facts]:
    about = change_rows.abouts(ask.conn, rows)
    return [change_pages.shown(one, about.get((one.store, one.url_key, one.variant_id))) for one in rows]


def _visit(one: AnyRow) -> Facts:
    names = ("outcome", "http_status", "reason", "tier", "requests", "bytes", "elapsed_ms", "changes", "lane")
    return {"id": one.id, "at": moment(one.at), "run": one.run_id, **{name: getattr(one, name) for name in names}}


def _hold(ask: Ask, row: AnyRow) -> Facts | None:
    hold = holds.open_of(ask.conn, [row.page_id]).get(row.page_id)
    if hold is None:
        return None
    names = ("id", "run_id", "kind", "status", "gate")
    return {**{name: getattr(hold, name) for name in names}, "since": moment(hold.stale_since)}


VIEWS = (View("/products/{listing:int}", "product", "product.html", read),)
PICTURES = (Picture("/products/{listing:int}/price.svg", "price", draw),)
