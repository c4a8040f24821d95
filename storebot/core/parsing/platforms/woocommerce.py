"""Products as a WooCommerce shop publishes them: the Store API, which needs no key.

Prices are whole numbers of ``currency_minor_unit``, which is the shop's own setting and need not be the currency's.
https://developer.woocommerce.com/docs/apis/store-api/resources-endpoints/products/
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any
from urllib.parse import urlsplit

from storebot.core.parsing.platforms.carried import Carried, CarriedProduct, is_too_many, record
from storebot.core.parsing.platforms.document import described, load_json, plain, text
from storebot.core.parsing.values import Value, from_json, is_blank, is_placeholder, many
from storebot.exceptions import UnreadableFeed
from storebot.items import Extracted

NAME = "woocommerce"
PAGE_SIZE = 100  # the most that the Store API gives; a shop may clamp it further

Node = Mapping[str, Any]

_ROUTES = ("/wp-json/wc/store/v1/products", "/wp-json/wc/store/products")  # the second up to WooCommerce Blocks 7
_MAX_EXPONENT = 12
_MAX_DIGITS = 25  # of an amount: what is longer stays as it is
_NEXT_OPTION = re.compile(r",\s++(?=[^:,]+:)")  # "Color: Blue, Size: 0,5 l"


def listing_templates(base_url: str) -> tuple[str, ...]:
    """Return the addresses of the listing's pages, with ``{page}``, newest interface first; the first page is 1.

    Oldest products come first, so that one that is added shifts nothing.
    """
    query = f"per_page={PAGE_SIZE}&page={{page}}&orderby=id&order=asc"
    return tuple(f"{base_url}{route}?{query}" for route in _ROUTES)


def variations_url(listing_url: str, parents: Iterable[str], page: int = 1) -> str:
    """Return where the variations of these products are listed, by the same interface as ``listing_url``."""
    root = listing_url.partition("?")[0]
    query = f"type=variation&parent={','.join(parents)}&per_page={PAGE_SIZE}&page={page}&orderby=id&order=asc"
    return f"{root}?{query}"


def is_listing(body: bytes) -> bool:
    """Say whether a body is a page of the Store API's products, the empty one after the last included."""
    try:
        document = load_json(body)
    except UnreadableFeed:
        return False
    return isinstance(document, list) and all(_is_product(one) for one in document)


def is_past_the_end(body: bytes) -> bool:
    """Say whether an error is WordPress's answer to a page number beyond the last."""
    try:
        document = load_json(body)
    except UnreadableFeed:
        return False
    return isinstance(document, dict) and str(document.get("code", "")).endswith("invalid_page_number")


def read_nodes(body: bytes) -> list[Node]:
    """Return the products, or variations, of a page. Raises `UnreadableFeed`."""
    document = load_json(body)
    if not isinstance(document, list):
        raise UnreadableFeed(f"it is {described(body)}, not a list of products")
    return [node for node in document if _is_product(node)]


def read_listing(body: bytes) -> Carried:
    """Read a page of the listing by itself: a product's variations are a range of prices. Raises `UnreadableFeed`."""
    return carried(read_nodes(body))


def parents_of(nodes: Iterable[Node]) -> list[str]:
    """Return the ids of the products whose variations the listing only numbers."""
    return [str(node["id"]) for node in nodes if node.get("type") == "variable" and node.get("variations")]


def by_parent(variations: Iterable[Node]) -> dict[str, list[Node]]:
    """Return variations by the id of their product."""
    found: dict[str, list[Node]] = {}
    for node in variations:
        found.setdefault(str(node.get("parent")), []).append(node)
    return found


def carried(nodes: list[Node], variations: Mapping[str, list[Node]] | None = None) -> Carried:
    """Return the products of a page, with their variations by product, if these were asked for.

    A product has no record then where its variations aren't among them: its own page has to say what it sells.
    """
    unread = set(parents_of(nodes)) - set(variations) if variations is not None else set()
    products: list[CarriedProduct] = []
    for node in nodes:
        url, product_id = text(node.get("permalink")), str(node["id"])
        if url and _name(node):
            records = () if product_id in unread else _records(node, (variations or {}).get(product_id, []))
            products.append(CarriedProduct(url=url, extracted=records))
    return Carried(products=tuple(products), lost=len(nodes) - len(products))


def _is_product(node: object) -> bool:
    return isinstance(node, dict) and "id" in node and "prices" in node


def _records(node: Node, variations: list[Node]) -> tuple[Extracted, ...]:
    """Return a record per variation, or one of the product itself, whose range of prices is a range."""
    shared = _shared(node)
    if not variations:
        return (_record(shared, node),)
    if is_too_many(variations):
        return ()
    group: dict[str, Value | None] = {**shared, "item_group_id": shared["product_id"]}
    chosen, terms = _chosen(node), _terms(node)
    return tuple(
        _record({**group, "options": _options(chosen, terms, one)}, one, text(one.get("id")))
        for one in sorted(variations, key=lambda one: str(one["id"]))
    )


def _shared(node: Node) -> dict[str, Value | None]:
    """Return what all variations of a product have in common: read once, for a description costs a parse."""
    reviews = node.get("review_count")
    rated = isinstance(reviews, int) and reviews > 0
    return {
        "name": _name(node),
        "brand": _brand(node),
        "product_id": text(node.get("id")),
        "canonical_url": text(node.get("permalink")),
        "category_path": _category_path(node),
        "images": _pictures(node),
        "description": plain(node.get("description")) or plain(node.get("short_description")),
        "rating_value": text(node.get("average_rating")) if rated else None,
        "review_count": text(reviews) if rated else None,
    }


def _record(shared: Mapping[str, Value | None], node: Node, variant_id: str | None = None) -> Extracted:
    pictures = _pictures(node)
    values: dict[str, Value | None] = {
        **shared,
        **_money(node),
        "variant_id": variant_id,
        "url": text(node.get("permalink")),
        "sku": text(node.get("sku")),
        "availability": _availability(node),
        "main_image": pictures[0] if pictures else None,
    }
    return record(NAME, **values)


def _money(node: Node) -> dict[str, str | None]:
    prices = node.get("prices")
    if not isinstance(prices, dict):
        return {}
    unit = prices.get("currency_minor_unit", 2)
    places = unit if type(unit) is int and 0 <= unit <= _MAX_EXPONENT else None
    price, low, high = (_amount(value, places) for value in (prices.get("price"), *_bounds(prices)))
    ranged = low is not None and high is not None and low != high
    found = {
        "price": None if ranged else price,
        "price_min": low if ranged else None,
        "price_max": high if ranged else None,
        "regular_price": None if ranged else _amount(prices.get("regular_price"), places),
    }
    return {**found, "currency": text(prices.get("currency_code")) if any(found.values()) else None}


def _bounds(prices: Node) -> tuple[object, object]:
    bounds = prices.get("price_range")
    return (bounds.get("min_amount"), bounds.get("max_amount")) if isinstance(bounds, dict) else (None, None)


def _amount(value: object, places: int | None) -> str | None:
    """Return minor units as decimal text; what is no whole number stays as it is, for `normalise` to complain of."""
    found = text(value)
    if not found or places is None or len(found) > _MAX_DIGITS:
        return found
    return f"{Decimal(found).scaleb(-places):f}" if found.isdecimal() and found.isascii() else found


def _availability(node: Node) -> str | None:
    if node.get("is_on_backorder") is True:
        return "BackOrder"
    in_stock = node.get("is_in_stock")
    return ("InStock" if in_stock else "OutOfStock") if isinstance(in_stock, bool) else None


def _name(node: Node) -> str | None:
    return _unescaped(node.get("name"))


def _unescaped(value: object) -> str | None:
    """Return a title, whose quotes and dashes WordPress writes as entities (``wptexturize``), as text."""
    found = from_json(value) if isinstance(value, str) else ""
    return None if is_blank(found) else found


def _brand(node: Node) -> str | None:
    brands = (_unescaped(one.get("name")) for one in many(node.get("brands")) if isinstance(one, dict))
    return next((brand for brand in brands if brand and not is_placeholder(brand)), None)


def _chosen(parent: Node) -> dict[str, list[tuple[str, str]]]:
    """Return the attributes that make a variation, and their slugs, by its id: the first time that it's named."""
    found: dict[str, list[tuple[str, str]]] = {}
    for one in many(parent.get("variations")):
        if isinstance(one, dict) and isinstance(one.get("attributes"), list):
            named = [(a.get("name"), a.get("value")) for a in one["attributes"] if isinstance(a, dict)]
            if pairs := [(str(name), str(value)) for name, value in named if name and value]:
                found.setdefault(str(one.get("id")), pairs)
    return found


def _terms(parent: Node) -> dict[tuple[str, str], str]:
    """Return the names of the attributes' values, of which a variation has only the slugs, by attribute and slug."""
    found: dict[tuple[str, str], str] = {}
    for one in many(parent.get("attributes")):
        for term in many(one.get("terms")) if isinstance(one, dict) else ():
            if isinstance(term, dict) and (name := _unescaped(term.get("name"))):
                for slug in (term.get("slug"), term.get("name")):
                    found.setdefault((str(one.get("name")), str(slug)), name)
    return found


def _options(
    chosen: Mapping[str, list[tuple[str, str]]], terms: Mapping[tuple[str, str], str], node: Node
) -> dict[str, str]:
    """Return what a variation is, as its parent has it, else as its own line says it: "Color: Blue, Size: M"."""
    if pairs := chosen.get(str(node.get("id"))):
        return {name: terms.get((name, slug), slug) for name, slug in pairs}
    line = _unescaped(node.get("variation")) or ""
    pairs_of_line = (part.partition(":") for part in _NEXT_OPTION.split(line))
    return {name.strip(): value.strip() for name, colon, value in pairs_of_line if colon and value.strip()}


def _category_path(node: Node) -> list[str]:
    """Return the deepest category with those above it, by their addresses: the API lists them in no order."""
    links = {
        path: name
        for one in many(node.get("categories"))
        if isinstance(one, dict) and (link := text(one.get("link"))) and (name := _unescaped(one.get("name")))
        if (path := _path(link)) is not None
    }
    if not links:
        return []
    deepest = min(links, key=lambda path: (-path.count("/"), path))
    return [links[path] for path in sorted(links, key=len) if deepest == path or deepest.startswith(f"{path}/")]


def _path(link: str) -> str | None:
    try:
        return urlsplit(link).path.rstrip("/")
    except ValueError:  # "https://[": it has no place among the others
        return None


def _pictures(node: Node) -> list[str]:
    found = (text(one.get("src")) for one in many(node.get("images")) if isinstance(one, dict))
    return list(dict.fromkeys(address for address in found if address))
