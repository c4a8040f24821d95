"""Products: all listings, by what is known of them; and the one that an address or a number names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal, InvalidOperation

import orjson

from storebot.core.dashboard.field_changes import price, stock
from storebot.core.dashboard.paging import Cursor
from storebot.core.export.columns import money
from storebot.core.gtin import gtin14
from storebot.core.money import EXPONENTS, to_minor
from storebot.core.read_api import number
from storebot.core.urls import NO_RULES, url_key
from storebot.dashboard import listing
from storebot.dashboard.view import Ask, Choice, Facts, Listed, Sort, View, moment
from storebot.db.board import products
from storebot.db.types import AnyRow
from storebot.exceptions import InvalidURL
from storebot.items import Availability, ListingStatus

_STAGES = {
    "any": "by any stage",
    "score": "low confidence",
    "same_product": "same product in doubt",
    "price_lows": "reference price not borne out",
    "unit_price": "unit price in doubt",
}
_STOCK = (*((one.value, stock(one.value)) for one in Availability), ("none", "not said"))
LISTED = Listed(
    sorts=(
        Sort("id", "Found", (int,), descending=True),
        Sort("changed", "Last changed", (int, int), descending=True),
        Sort("price", "Price", (int, int)),
    ),
    choices=(
        Choice("text", "Name, number or address"),
        Choice("store", "Store"),
        Choice("status", "Status", tuple((one.value, one.value) for one in ListingStatus)),
        Choice(
            "availability", "Stock", (*((one.value, stock(one.value)) for one in Availability), ("none", "not said"))
        ),
        Choice("from", "Price from"),
        Choice("to", "Price to"),
        Choice("currency", "Currency"),
        Choice("below", "Confidence below"),
        Choice("flagged", "Flagged", tuple(_STAGES.items())),
    ),
)
_BY_ID = LISTED.sorts[0]


def read(ask: Ask) -> Facts:
    """Return the listings that are asked for, and first of all the one that is named."""
    what = listing.asked(LISTED, ask.query)
    unsorted = what.sort is not _BY_ID and "store" not in what.choices
    if unsorted:  # no index has all stores by price
        what = replace(what, sort=_BY_ID, descending=True, after=None)
    wanted = _wanted(ask, what.choices)
    rows, reached = products.listed(
        ask.conn, wanted, what.sort.name, what.after, descending=what.descending, limit=what.limit
    )
    exact = _named(ask, wanted) if what.after is None else []
    said = products.scores(ask.conn, {row.id for row in (*rows, *exact)})
    return {
        "list": listing.shown(
            LISTED,
            what,
            rows,
            lambda row: _place(row, what.sort.name),
            lambda row: shown(row, *said.get(row.id, (None, False))),
            reached=reached,
        ),
        "exact": [shown(row, *said.get(row.id, (None, False))) for row in exact],
        "unsorted": unsorted,
        "currency": wanted.currency,
        "looked_at": products.MOST,
        "stores": products.known_stores(ask.conn),
    }


def shown(row: AnyRow, score: int | None, flagged: bool) -> Facts:
    """Return a listing for a row of a list."""
    return {
        "id": row.id,
        "store": row.store,
        "name": row.name,
        "brand": row.brand,
        "options": orjson.loads(row.options or "{}"),
        "variant": row.variant_id,
        "url": row.url,
        "price": money(row.price_minor, row.currency) if row.currency in EXPONENTS else None,
        "currency": row.currency,
        "price_text": price(row.price_minor, row.currency),
        "regular_text": price(row.regular_price_minor, row.currency),
        "availability": row.availability,
        "stock": stock(row.availability),
        "status": row.status,
        "first_seen_at": moment(row.first_seen_at),
        "last_changed_at": moment(row.last_changed_at),
        "score": score,
        "flagged": flagged,
    }


def _place(row: AnyRow, order: str) -> Cursor:
    values = {"id": (), "changed": (row.last_changed_at,), "price": (row.price_minor,)}
    return (*values[order], row.id)


def _wanted(ask: Ask, choices: Mapping[str, str]) -> products.Wanted:
    store, currency = choices.get("store", ""), choices.get("currency", "").upper()
    if currency and currency not in EXPONENTS:
        raise ValueError(f"currency: {currency[:20]!r} is none; expected a code of ISO 4217, such as EUR")
    if not currency and ("from" in choices or "to" in choices):
        if not store:
            raise ValueError("a price is of a currency: name one, or the store")
        currency = products.currency_of(ask.conn, store)
    below = choices.get("below", "")
    return products.Wanted(
        store=store,
        status=choices.get("status", ""),
        availability=choices.get("availability", ""),
        text=choices.get("text", ""),
        currency=currency,
        price_from=_minor("from", choices, currency),
        price_to=_minor("to", choices, currency),
        score_below=number("below", below, 0, 101) if below else None,
        flagged=choices.get("flagged", ""),
    )


def _minor(name: str, choices: Mapping[str, str], currency: str) -> int | None:
    if name not in choices or not currency:
        return None
    try:
        return to_minor(Decimal(choices[name]), currency)
    except (InvalidOperation, ValueError):
        raise ValueError(f"{name}: expected an amount of {currency}, such as 19.90") from None


def _named(ask: Ask, wanted: products.Wanted) -> list[AnyRow]:
    """Return what the text names by itself: the number of a listing, a GTIN, the address of a page."""
    text = wanted.text
    found: list[AnyRow] = []
    if text.isascii() and text.isdecimal() and len(text) < 19:
        found = products.exact(ask.conn, number=int(text), gtin=_gtin(text))
    elif "." in text and "/" in text and " " not in text:
        found = products.exact(ask.conn, keys=_keys(ask, wanted.store, text))
    return [row for row in found if not wanted.store or row.store == wanted.store]


def _gtin(text: str) -> str:
    try:
        return gtin14(text)
    except ValueError:
        return ""


def _keys(ask: Ask, store: str, url: str) -> dict[str, str]:
    """Return the key that an address has by the rules of its store, or by those that all share."""
    rules = NO_RULES
    if store:
        file, _ = ask.site.store_file(store)
        rules = file.key_rules if file is not None else rules
    try:
        return {store: url_key(url if "://" in url else f"https://{url}", rules)}
    except InvalidURL:
        return {}


VIEWS = (View("/products", "products", "products.html", read, LISTED),)
