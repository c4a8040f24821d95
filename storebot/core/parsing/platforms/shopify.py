"""Products as a Shopify shop publishes them: `/products.json`, and the same objects as other tools hand them on.

A price is a decimal text in `/products.json`, and a whole number of cents where it is a number: `/products/x.js` and
the objects inside pages give hundredths in every currency, those without decimals included (case V06).
https://shopify.dev/docs/api/ajax/reference/product
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, NamedTuple
from urllib.parse import quote

from storebot.core.parsing.platforms.carried import Carried, CarriedProduct, is_too_many, record
from storebot.core.parsing.platforms.document import described, load_json, plain, text
from storebot.core.parsing.values import Value, is_placeholder, many
from storebot.exceptions import UnreadableFeed
from storebot.items import Extracted

NAME = "shopify"
PAGE_SIZE = 250  # the most that Shopify gives: https://shopify.dev/docs/api/usage/pagination-rest

Node = Mapping[str, Any]

_SHOWN_CURRENCY = re.compile(rb"""Shopify\.currency\s*=\s*\{[^{}]{0,200}?["']active["']\s*:\s*["']([A-Z]{3})["']""")
_DEPTH = 5  # of what a list of products is wrapped in: {"data": {"products": {"edges": […]}}}
_NO_OPTIONS = ("Default Title", "Title")  # what Shopify calls the one variant of a product without options


class ShopFacts(NamedTuple):
    """What a shop says of itself in `/meta.json`."""

    currency: str | None
    products: int | None  # published ones


def listing_template(base_url: str) -> str:
    """Return the address of the listing's pages, with ``{page}``; the first is 1."""
    return f"{base_url}/products.json?limit={PAGE_SIZE}&page={{page}}"


def metadata_url(base_url: str) -> str:
    """Return where the shop names its currency and counts its products."""
    return f"{base_url}/meta.json"


def is_listing(body: bytes) -> bool:
    """Say whether a body is a page of `/products.json`, the empty one after the last included."""
    try:
        document = load_json(body)
    except UnreadableFeed:
        return False
    found = document.get("products") if isinstance(document, dict) else None
    return isinstance(found, list) and (not found or any(isinstance(one, dict) and "handle" in one for one in found))


def read_metadata(body: bytes) -> ShopFacts:
    """Read `/meta.json`. Raises `UnreadableFeed`."""
    document = load_json(body)
    if not isinstance(document, dict) or not ("currency" in document or "myshopify_domain" in document):
        raise UnreadableFeed("it is JSON, but not what a Shopify shop says of itself")
    count = document.get("published_products_count")
    return ShopFacts(text(document.get("currency")), count if type(count) is int and count >= 0 else None)


def currency_in_page(body: bytes) -> str | None:
    """Return the currency that any page of the shop names in its scripts."""
    found = _SHOWN_CURRENCY.search(body)
    return found[1].decode("ascii") if found else None


def read_listing(body: bytes, base_url: str, currency: str | None = None) -> Carried:
    """Read a page of the listing; prices are in ``currency`` unless they name theirs. Raises `UnreadableFeed`."""
    nodes = product_nodes(load_json(body))
    if nodes is None:
        raise UnreadableFeed(f"it is {described(body)}, without a list of products")
    placed = [(node, url) for node in nodes if (url := _address(node, base_url))]
    products = tuple(CarriedProduct(url=url, extracted=read_product(node, url, currency)) for node, url in placed)
    return Carried(products=products, lost=len(nodes) - len(products))


def product_nodes(document: Any) -> list[Node] | None:
    """Return the products of a document in any of Shopify's forms; None where it has none of them.

    ``{"products": […]}``, ``{"product": {…}}``, a bare list, GraphQL's ``edges`` and ``node``, and rows of one variant
    each, which are put together by their handle.
    """
    for _ in range(_DEPTH):
        if not isinstance(document, dict):
            break
        if isinstance(document.get("product"), dict):
            return [document["product"]]
        document = next((document[name] for name in ("data", "products", "edges", "nodes") if name in document), None)
    return _from_list(document) if isinstance(document, list) else None


def _from_list(items: list[Any]) -> list[Node] | None:
    nodes = [_unwrapped(item) for item in items if isinstance(item, dict)]
    if items and not any("handle" in node or "variants" in node for node in nodes):
        return None
    if not any("variant_id" in node for node in nodes):
        return nodes
    grouped: dict[str, dict[str, Any]] = {}
    for row in nodes:
        product = {**row, "id": row.get("product_id"), "variants": []}
        variant = {name: row.get(name) for name in ("sku", "price", "compare_at_price", "available", "barcode")}
        grouped.setdefault(str(row.get("handle")), product)["variants"].append({**variant, "id": row.get("variant_id")})
    return list(grouped.values())


def _unwrapped(item: Node) -> Node:
    """Return what GraphQL wraps into ``{"node": …}``."""
    inner = item.get("node")
    return inner if isinstance(inner, dict) else item


def _address(node: Node, base_url: str) -> str | None:
    handle = text(node.get("handle"))
    return f"{base_url}/products/{quote(handle, safe='-._~%')}" if handle else None


def read_product(node: Node, url: str, currency: str | None = None) -> tuple[Extracted, ...]:
    """Return a record per variant, in the shop's order; a product without variants is one record.

    None for a product with too many of them.
    """
    variants = [_unwrapped(item) for item in _items(node.get("variants"))]
    names = [text(option.get("name") if isinstance(option, dict) else option) for option in _items_or_texts(node)]
    rows: Sequence[Node] = variants or (node,)
    if is_too_many(rows):
        return ()
    product_id = _id(node.get("id"))
    shared = _shared(node, url) | {"product_id": product_id, "item_group_id": product_id if len(rows) > 1 else None}
    return tuple(_record(shared, variant, names, currency) for variant in rows)


def _shared(node: Node, url: str) -> dict[str, Value | None]:
    """Return what all variants of a product have in common: read once, for a description costs a parse."""
    vendor, kind = text(node.get("vendor")), text(node.get("product_type", node.get("type")))
    return {
        "name": text(node.get("title")) or text(node.get("name")),
        "brand": None if not vendor or is_placeholder(vendor) else vendor,
        "url": url,
        "canonical_url": url,
        "category_path": [kind] if kind else None,
        "images": _pictures(node),
        "description": plain(node.get("body_html") or node.get("description") or node.get("descriptionHtml")),
    }


def _record(
    shared: Mapping[str, Value | None], variant: Node, names: list[str | None], currency: str | None
) -> Extracted:
    variant_id = _id(variant.get("id"))
    price, own_currency = _amount(variant.get("price"))
    regular, _ = _amount(variant.get("compare_at_price", variant.get("compareAtPrice")))
    own = _pictures({"images": [variant.get("featured_image")]})
    values: dict[str, Value | None] = {
        **shared,
        "name": shared["name"] or _name_of(variant),
        "variant_id": variant_id,
        "url": f"{shared['url']}?variant={variant_id}" if shared["item_group_id"] and variant_id else shared["url"],
        "sku": text(variant.get("sku")),
        "gtin": text(variant.get("barcode")),
        "price": price,
        "regular_price": regular,
        "currency": (own_currency or currency) if price or regular else None,
        "availability": _availability(variant.get("available", variant.get("availableForSale"))),
        "options": _options(variant, names),
        "main_image": own[0] if own else None,
    }
    return record(NAME, **values)


def _name_of(variant: Node) -> str | None:
    """Return the product's name out of a variant's: in pages it is "Shirt - XS", with "XS" apart."""
    name, own = text(variant.get("name")), text(variant.get("public_title"))
    return name.removesuffix(f" - {own}") if name and own else name


def _amount(value: object) -> tuple[str | None, str | None]:
    """Return an amount as decimal text, and the currency where it names one."""
    if isinstance(value, dict):
        return _amount(value.get("amount"))[0], text(value.get("currencyCode"))
    if isinstance(value, int) and not isinstance(value, bool):
        return str(Decimal(value).scaleb(-2)), None
    return text(value), None


def _availability(value: object) -> str | None:
    return ("InStock" if value else "OutOfStock") if isinstance(value, bool) else None


def _options(variant: Node, names: list[str | None]) -> dict[str, str]:
    chosen = {
        name: value
        for one in _items(variant.get("selectedOptions"))
        if (name := text(one.get("name"))) and (value := text(one.get("value")))
    }
    for place, name in enumerate(names[:3], start=1):
        value = text(variant.get(f"option{place}"))
        if name and value:
            chosen[name] = value
    if not chosen and (title := text(variant.get("public_title"))):
        chosen = {"Title": title}  # in pages the options have no names
    return {name: value for name, value in chosen.items() if (value, name) != _NO_OPTIONS}


def _pictures(node: Node) -> list[str]:
    found: list[str] = []
    for image in _items_or_texts(node, "images"):
        image = image.get("node", image) if isinstance(image, dict) else image
        address = text(image.get("src", image.get("url"))) if isinstance(image, dict) else text(image)
        if address:
            found.append(address)
    return found


def _items(value: Any) -> list[Node]:
    """Return the objects of a list, or of GraphQL's ``edges``."""
    inner = value.get("edges", value.get("nodes")) if isinstance(value, dict) else value
    return [item for item in many(inner) if isinstance(item, dict)]


def _items_or_texts(node: Node, name: str = "options") -> list[Any]:
    inner = node.get(name)
    if isinstance(inner, dict):
        inner = inner.get("edges", inner.get("nodes"))
    return [item for item in many(inner) if isinstance(item, dict | str)]


def _id(value: object) -> str | None:
    """Return an id without GraphQL's prefix: ``gid://shopify/ProductVariant/48596441759969``."""
    found = text(value)
    return found.rpartition("/")[2] if found else None
