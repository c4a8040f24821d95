"""Listings in the words of Google Merchant: https://support.google.com/merchants/answer/7052112"""

from __future__ import annotations

import hashlib
from typing import Any

from storebot.core.export.cells import Notes, encodable
from storebot.core.export.columns import Row
from storebot.items import Availability, ListingStatus

FIELDS = (
    "id",
    "title",
    "description",
    "link",
    "image_link",
    "additional_image_link",
    "availability",
    "price",
    "sale_price",
    "brand",
    "gtin",
    "mpn",
    "condition",
    "product_type",
    "item_group_id",
)
REQUIRED = ("id", "title", "link", "availability", "price")
MOST_IMAGES = 10
_LONGEST = {"title": 150, "description": 5000, "brand": 70, "mpn": 70, "product_type": 750, "item_group_id": 50}
_AVAILABILITY = {
    Availability.IN_STOCK: "in_stock",
    Availability.LIMITED_AVAILABILITY: "in_stock",
    Availability.ONLINE_ONLY: "in_stock",
    Availability.IN_STORE_ONLY: "in_stock",
    Availability.PRE_ORDER: "preorder",
    Availability.PRE_SALE: "preorder",
    Availability.BACK_ORDER: "backorder",
    Availability.MADE_TO_ORDER: "backorder",
}
_CONDITION = {"NewCondition": "new", "RefurbishedCondition": "refurbished", "UsedCondition": "used"}


def product(row: Row, notes: Notes) -> dict[str, Any] | None:
    """Return a listing's fields by Google's names, without those that are empty; None where it can't be a product.

    A listing that isn't active, or lacks what Google requires, is left out and counted. ``price`` is the regular price
    and ``sale_price`` what it costs now, where it's reduced. ``additional_image_link`` is a list.
    """
    if row["status"] != ListingStatus.ACTIVE.value:
        notes["not active"] += 1
        return None
    found = {name: value for name, value in _fields(row).items() if value}
    lacking = [name for name in REQUIRED if name not in found]
    if lacking:
        notes[f"without {lacking[0]}"] += 1
        return None
    for name, value in found.items():
        several = isinstance(value, list)
        found[name] = [_fitting(name, one, notes) for one in value] if several else _fitting(name, value, notes)
    return found


def offer_id(row: Row) -> str:
    """Return 20 characters that stay the same as long as page and variant do, in whatever database."""
    return hashlib.sha256(f"{row['url_key']}\n{row['variant_id']}".encode(errors="surrogatepass")).hexdigest()[:20]


def _fields(row: Row) -> dict[str, Any]:
    price, regular = row["price"], row["regular_price"]
    reduced = price is not None and regular is not None and regular > price
    images = [image for image in row["images"] if image != row["main_image"]]
    return {
        "id": offer_id(row),
        "title": row["name"],
        "description": row["description"],
        "link": row["url"],
        "image_link": row["main_image"] or (images.pop(0) if images else None),
        "additional_image_link": images[:MOST_IMAGES],
        "availability": _availability(row["availability"]),
        "price": _money(regular if reduced else price, row["currency"]),
        "sale_price": _money(price, row["currency"]) if reduced else None,
        "brand": row["brand"],
        "gtin": row["gtin"],
        "mpn": row["mpn"],
        "condition": _CONDITION.get(row["condition"] or ""),
        "product_type": " > ".join(row["category_path"]),
        "item_group_id": row["item_group_id"],
    }


def _availability(value: str | None) -> str | None:
    return _AVAILABILITY.get(Availability(value), "out_of_stock") if value else None


def _money(amount: Any, currency: str | None) -> str | None:
    return f"{amount:f} {currency}" if amount is not None else None


def _fitting(name: str, value: str, notes: Notes) -> str:
    value = encodable(" ".join(value.split()), notes)
    longest = _LONGEST.get(name, len(value))
    if len(value) > longest:
        notes["truncated"] += 1
    return value[:longest]
