"""The product metas of a page's head: OpenGraph and ``product:``. https://ogp.me, Facebook's product tags."""

from __future__ import annotations

import re

from storebot.core.page import Page
from storebot.core.parsing.schemaorg import Found
from storebot.core.parsing.values import Values, from_dom, is_amount, is_blank, is_placeholder

SOURCE = "opengraph"

# In order: the first meta that says something wins. Prices before tax (product:pretax_price) are nobody's price.
_FIELDS: dict[str, tuple[str, ...]] = {
    "price": ("product:sale_price:amount", "product:price:amount", "og:price:amount"),
    "regular_price": ("product:original_price:amount", "og:price:standard_amount"),
    "currency": (
        "product:sale_price:currency",
        "product:price:currency",
        "og:price:currency",
        "product:original_price:currency",
    ),
    "availability": ("product:availability", "og:availability"),
    "condition": ("product:condition",),
    "brand": ("product:brand", "og:brand"),
    "sku": ("product:retailer_item_id", "product:sku"),
    "gtin": ("product:gtin", "product:ean", "product:upc", "product:isbn"),
    "mpn": ("product:mfr_part_no",),
    "item_group_id": ("product:item_group_id",),
    "name": ("og:title",),
    "description": ("og:description",),
    "url": ("og:url",),
}
_ISBN = re.compile(r"97[89]\d{10}")
_CODES = ("brand", "sku", "gtin", "mpn", "item_group_id")


def read(page: Page) -> Found:
    """Return what the metas say, where they speak of a product at all (its type, or a price)."""
    found = Found(SOURCE)
    if page.root is None:
        return found
    metas = _metas(page)
    record: Values = {}
    for name, keys in _FIELDS.items():
        empty = is_placeholder if name in _CODES else is_blank
        if text := next((text for key in keys for text in metas.get(key, ()) if not empty(text)), None):
            record[name] = text
    if "product:sale_price:amount" in metas and "regular_price" not in record:
        record.update(regular_price=next(iter(metas.get("product:price:amount", ())), ""))
    if "gtin" not in record and _ISBN.fullmatch(code := str(record.get("sku", ""))):
        record["gtin"] = code  # a bookshop's own number is the ISBN
    if images := list(dict.fromkeys(metas.get("og:image", ()))):
        record["images"] = images
    if is_product(metas, record):
        found.records = [record]
    return found


def is_product(metas: dict[str, list[str]], record: Values) -> bool:
    """Say whether the metas are those of a product page: every page may have a title and an image."""
    kinds = {kind.lower().rpartition(":")[2].rpartition(".")[2] for kind in metas.get("og:type", ())}
    return bool(kinds & {"product", "item"}) or is_amount(str(record.get("price", "")))


def _metas(page: Page) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    if page.root is None:
        return found
    for meta in page.root.iter("meta"):
        key = (meta.get("property") or meta.get("name") or "").strip().lower()
        if key.startswith(("og:", "product:")) and (text := from_dom(meta.get("content") or "")):
            found.setdefault(key, []).append(text)
    return found
