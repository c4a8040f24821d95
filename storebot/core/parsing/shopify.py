"""The product that a Shopify theme writes into its page's scripts, with every variant of it.

``var meta = {"product": …}`` of ShopifyAnalytics has variants with id, price, SKU and title; the theme's own
``{{ product | json }}`` also has options, stock and the price before a discount. Both give prices in hundredths,
whatever the currency. https://shopify.dev/docs/api/liquid/objects/product
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from decimal import Decimal, InvalidOperation
from typing import Any, TypeGuard
from urllib.parse import unquote, urlsplit

from storebot.core.page import Page
from storebot.core.parsing.lenient import Broken, load, load_literal
from storebot.core.parsing.schemaorg import MAX_VARIANTS, Found
from storebot.core.parsing.tags import MAX_TAG_BYTES, encoding_of, end_of_script, text_of_part
from storebot.core.parsing.values import Values, from_dom, is_placeholder, many, text_of
from storebot.core.parsing.variants import told_apart
from storebot.core.scan import holds
from storebot.items import Problem

SOURCE = "shopify"
_MAX_PRODUCTS = 20
_MAX_SCRIPT = 2_000_000
_MAX_DIGITS = 20  # of an amount, before and behind the point

_META = re.compile(rb"\bvar\s+meta\s*=\s*(?=\{)")
_CURRENCY = re.compile(
    rb"Shopify\.currency\s*=\s*\{\s*\"?active\"?\s*:\s*[\"']([A-Z]{3})"
    rb"|ShopifyAnalytics\.meta\.currency\s*=\s*[\"']([A-Z]{3})[\"']"
)
_JSON_MARKS = (b"data-product-json", b"ProductJson", b"product-json")
_AVAILABILITY = {"True": "InStock", "False": "OutOfStock"}
_NO_OPTION = frozenset({"title", "default title"})

Product = Mapping[str, Any]


def read(page: Page) -> Found:
    """Return the variants of the page's product; nothing where no script has it. Builds no tree."""
    found = Found(SOURCE)
    if not holds(page.markup, b"ShopifyAnalytics"):  # on every page of a Shopify store
        return found
    meta = _meta(page, found)
    product = _main(page, list(_products(page, found)), meta)
    if product is None and meta is None:
        return found
    currency = _currency(page.markup)
    records = told_apart(list(_records(page, product or meta or {}, currency)))
    found.records = [{**record, **_about(product or {})} for record in records]
    return found


def _meta(page: Page, found: Found) -> Product | None:
    """Return the product of ``var meta``, which only a product's own page has."""
    match = _META.search(page.markup)
    if match is None:
        return None
    end = min(end_of_script(page.markup, match.end()), match.end() + _MAX_SCRIPT)
    try:
        meta = load_literal(text_of_part(page.markup[match.end() : end], page))
    except Broken as error:
        found.problems.append(Problem("shopify", f"`var meta` at byte {match.start()} can't be read: {error}"))
        return None
    product = meta.get("product") if isinstance(meta, dict) else None
    return product if _is_product(product) else None


def _products(page: Page, found: Found) -> Iterator[Product]:
    """Yield the products that scripts hold as JSON: the page's own, and those of tiles that open in a window."""
    markup, done = page.markup, set[int]()
    for mark in _JSON_MARKS:
        at = end = -1
        while (at := markup.find(mark, max(at, end) + 1)) >= 0 and len(done) < _MAX_PRODUCTS:
            start = markup.rfind(b"<", max(0, at - MAX_TAG_BYTES), at)
            close = markup.find(b">", at, at + MAX_TAG_BYTES)
            if start in done or close < 0 or markup[start : start + 7].lower() != b"<script":
                continue
            done.add(start)
            end = end_of_script(markup, close + 1)
            block = markup[close + 1 : end]
            if not block.lstrip().startswith(b"{"):
                continue
            try:
                data = load(block, encoding_of(block, page))
            except Broken as error:
                found.problems.append(Problem("shopify", f"the product at byte {start} can't be read: {error}"))
                continue
            inner = data.get("product") if isinstance(data, dict) else None
            yield from filter(_is_product, (inner, data))


def _is_product(value: Any) -> TypeGuard[Product]:
    return isinstance(value, dict) and isinstance(value.get("variants"), list) and bool(value.get("id"))


def _main(page: Page, products: list[Product], meta: Product | None) -> Product | None:
    """Return the page's own among products: the one of `_meta`, or whose handle the page's address ends in."""
    if meta is not None:
        return next((one for one in products if str(one["id"]) == str(meta["id"])), None)
    handles = {_last_segment(url) for url in (page.url, page.canonical_url or "") if "/products/" in url}
    return next((one for one in products if text_of(one.get("handle"), from_dom) in handles), None)


def _last_segment(url: str) -> str:
    try:
        return unquote(urlsplit(url).path.rstrip("/").rpartition("/")[2])
    except ValueError:
        return ""


def _currency(markup: bytes) -> str:
    """Return the currency that the prices are in: the one shown to this visitor, where the shop has several."""
    active = {match[1] for match in _CURRENCY.finditer(markup) if match[1]}
    own = {match[2] for match in _CURRENCY.finditer(markup) if match[2]}
    codes = active or own
    return codes.pop().decode() if len(codes) == 1 else ""


def _about(product: Product) -> Values:
    values = {"name": text_of(product.get("title"), from_dom), "brand": text_of(product.get("vendor"), from_dom)}
    return {name: text for name, text in values.items() if text and not is_placeholder(text)}


def _records(page: Page, product: Product, currency: str) -> Iterator[Values]:
    names = [text_of(one, from_dom, "name") or "" for one in many(product.get("options"))]
    variants = [one for one in many(product["variants"]) if isinstance(one, dict)][:MAX_VARIANTS]
    for variant in variants:
        price, before = _amount(variant.get("price")), _amount(variant.get("compare_at_price"))
        identity = text_of(variant.get("id"), from_dom) or ""
        code = text_of(variant.get("sku"), from_dom) or ""
        values: dict[str, Any] = {
            "price": price,
            "regular_price": before if price and before and Decimal(before) > Decimal(price) else None,
            "currency": currency if price else None,
            "availability": _AVAILABILITY.get(str(variant.get("available"))),
            "sku": None if is_placeholder(code) else code,
            "gtin": text_of(variant.get("barcode"), from_dom),
            "options": _options(variant, names),
            "url": f"{page.url.partition('?')[0].partition('#')[0]}?variant={identity}" if len(variants) > 1 else None,
            "item_group_id": text_of(product.get("id"), from_dom) if len(variants) > 1 else None,
        }
        yield {name: value for name, value in values.items() if value}


def _amount(value: Any) -> str | None:
    """Return an amount in units: whole numbers are hundredths, and what has a decimal point is written in units."""
    text = text_of(value, from_dom)
    try:
        amount = Decimal(text or "")
    except InvalidOperation:
        return None
    if not amount.is_finite() or amount <= 0 or not -_MAX_DIGITS < amount.adjusted() < _MAX_DIGITS:
        return None  # 1e999999 would be a million digits
    return text if "." in str(text) else f"{amount.scaleb(-2):.2f}"


def _options(variant: Product, names: list[str]) -> dict[str, str]:
    given = [text_of(variant.get(f"option{index}"), from_dom) for index in (1, 2, 3)]
    if not any(given):
        given = [text_of(one, from_dom) for one in many(variant.get("options"))]
    named = {name: text for name, text in zip(names, given, strict=False) if name and text}
    if not named and (title := text_of(variant.get("public_title"), from_dom)):
        named = {"Title": title}
    return {name: text for name, text in named.items() if text.lower() not in _NO_OPTION}
