"""The product metas of a page, found in its bytes: OpenGraph (https://ogp.me) and Facebook's ``product:`` tags."""

from __future__ import annotations

import re
from collections.abc import Iterator

from storebot.core.page import Page
from storebot.core.parsing.schemaorg import Found
from storebot.core.parsing.tags import MAX_TAG_BYTES, Comments, Scripts, attributes_of, text_of_part
from storebot.core.parsing.values import Values, from_dom, is_amount, is_blank, is_placeholder
from storebot.core.scan import find

SOURCE = "opengraph"
MAX_METAS = 200
_NEAR = 4_096  # bytes between two metas, as a rule
_MAX_LOOKED_AT = 1_000  # product metas, those in comments included: a comment's beginning may be far away

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
# Of what these say, "-" and "false" are nothing; a name may be anything.
_CODES = frozenset(_FIELDS) - {"name", "description", "url"}
_KEY = re.compile(rb"[\"'=\s](?:og|product):", re.IGNORECASE)


def read(page: Page) -> Found:
    """Return what the metas say, where they speak of a product at all (its type, or a price). Builds no tree."""
    found = Found(SOURCE)
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


def tags_of(page: Page) -> tuple[bytes, ...]:
    """Return the page's ``og:`` and ``product:`` metas as they stand, looking for them once.

    Not in the head alone: a head that something closed too early, or none at all, is common.
    """
    if page.metas is None:
        page.metas = tuple(_tags(page.markup))
    return page.metas


def _tags(markup: bytes) -> Iterator[bytes]:
    mark = next((name for name in (b"<meta", b"<META") if name in markup), b"")
    at, count, looked = markup.find(mark) if mark else -1, 0, 0
    scripts = Scripts(markup)
    comments = Comments(markup)
    while at >= 0 and count < MAX_METAS and looked < _MAX_LOOKED_AT:
        close = markup.find(b">", at, at + MAX_TAG_BYTES)
        tag = markup[at : close + 1]
        if close > 0 and _KEY.search(tag) and not scripts.hold(at):
            looked += 1
            if not comments.hold(at, close):
                count += 1
                yield tag
        at = _next(markup, mark, max(close, at + len(mark)))


def _next(markup: bytes, mark: bytes, start: int) -> int:
    """Return where the next tag begins; -1 for none, as most of what is behind the last one has none."""
    at = markup.find(mark, start, start + _NEAR)
    return at if at >= 0 else find(markup, mark, start + _NEAR - len(mark))


def _metas(page: Page) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for tag in tags_of(page):
        attributes = attributes_of(text_of_part(tag, page))
        key = (attributes.get("property") or attributes.get("name") or "").strip().lower()
        if key.startswith(("og:", "product:")) and (text := from_dom(attributes.get("content", ""))):
            found.setdefault(key, []).append(text)
    return found
