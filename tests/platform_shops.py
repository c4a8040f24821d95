"""Shops on this machine that speak a platform's own protocol: a generated catalogue, its pages, its refusals."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.scripted import Answer, Asked, ScriptedShop, product

JSON = {"Content-Type": "application/json; charset=utf-8"}
Override = Callable[[str, Mapping[str, str]], Answer | None]


@dataclass
class Good:
    """One product of a platform's shop; prices are in minor units of two decimals."""

    id: int
    name: str
    price: int
    variants: list[str] = field(default_factory=list)
    in_stock: bool = True
    regular: int | None = None


class PlatformShop(ScriptedShop):
    """``goods`` may be changed between crawls; ``override`` may answer in the platform's place."""

    def __init__(self, count: int, currency: str = "EUR") -> None:
        super().__init__()
        self.goods = [
            Good(number, f"Mug {number}", 1000 + number, ["Red", "Blue"] if number % 5 == 0 else [])
            for number in range(1, count + 1)
        ]
        self.currency = currency
        self.override: Override = lambda path, query: None
        self.page_only: list[str] = []  # paths of products that only the sitemap knows

    def answer(self, asked: Asked) -> Answer:
        parts = urlsplit(asked.path)
        query = {name: values[0] for name, values in parse_qs(parts.query).items()}
        own = self.override(parts.path, query) or self.platform(parts.path, query)
        if own is None:
            return super().answer(asked)
        with self._lock:
            self.asked.append(asked)
        return own

    def platform(self, path: str, query: Mapping[str, str]) -> Answer | None:
        """Return the platform's answer, or None for what isn't its own."""
        raise NotImplementedError

    def listing_pages(self) -> list[int]:
        """Return the numbers of the listing pages that were asked for, in their order."""
        found = (re.search(r"[?&]page=(\d+)", one.path) for one in self.asked if self.is_listing(one.path))
        return [int(number[1]) for number in found if number]

    def is_listing(self, path: str) -> bool:
        raise NotImplementedError


class ShopifyShop(PlatformShop):
    """`/products.json` with its limit of 250 and its cap, `/meta.json`, and a page for each handle."""

    cap = 25_000
    clamp = 250

    def is_listing(self, path: str) -> bool:
        return path.startswith("/products.json")

    def platform(self, path: str, query: Mapping[str, str]) -> Answer | None:
        if path == "/meta.json":
            facts = {"currency": self.currency, "published_products_count": len(self.goods), "country": "DE"}
            return Answer(json.dumps(facts).encode(), headers=JSON)
        if path == "/products.json":
            return self._products(min(int(query.get("limit", "30")), self.clamp), int(query.get("page", "1")))
        if path.startswith("/products/") and (good := self._named(path.removeprefix("/products/"))):
            return self.product_page(good)
        return None

    def product_page(self, good: Good) -> Answer:
        """Return the page of a product, which says less of it than the listing does."""
        return product(good.name, f"{good.price / 100:.2f}")

    def _products(self, limit: int, page: int) -> Answer:
        if limit * page > self.cap:
            return Answer(json.dumps({"errors": f"Page * Limit exceeds the {self.cap} limit."}).encode(), 400, JSON)
        shown = self.goods[limit * (page - 1) : limit * page]
        return Answer(json.dumps({"products": [self._node(good) for good in shown]}).encode(), headers=JSON)

    def _named(self, handle: str) -> Good | None:
        return next((good for good in self.goods if f"mug-{good.id}" == handle), None)

    def _node(self, good: Good) -> dict[str, Any]:
        regular = f"{good.regular / 100:.2f}" if good.regular else None
        variants = [
            {
                "id": good.id * 100 + place,
                "title": option,
                "option1": option,
                "option2": None,
                "option3": None,
                "sku": f"M{good.id}-{place}",
                "available": good.in_stock,
                "price": f"{good.price / 100:.2f}",
                "compare_at_price": regular,
                "product_id": good.id,
            }
            for place, option in enumerate(good.variants or ["Default Title"])
        ]
        return {
            "id": good.id,
            "title": good.name,
            "handle": f"mug-{good.id}",
            "body_html": "<p>Fired <b>twice</b>.</p>",
            "vendor": "Clay & Co",
            "product_type": "Mugs",
            "variants": variants,
            "options": [{"name": "Color" if good.variants else "Title", "values": good.variants}],
            "images": [{"src": f"https://cdn.example/{good.id}.jpg?v=1"}],
        }


class WooShop(PlatformShop):
    """The Store API with its headers; ``clamp`` is the most that a page gives, whatever is asked for."""

    clamp = 20
    root = "/wp-json/wc/store/v1/products"
    gives_variations = True

    def is_listing(self, path: str) -> bool:
        return path.startswith(f"{self.root}?") and "type=variation" not in path

    def platform(self, path: str, query: Mapping[str, str]) -> Answer | None:
        if path == self.root:
            if query.get("type") == "variation":
                parents = query.get("parent", "").split(",")
                nodes = [node for good in self.goods if str(good.id) in parents for node in self._variations(good)]
                return self._page(nodes if self.gives_variations else [], query)
            return self._page([self._node(good) for good in self.goods], query)
        if path.startswith("/product/"):
            good = next((good for good in self.goods if path.strip("/") == f"product/mug-{good.id}"), None)
            return product(good.name, f"{good.price / 100:.2f}") if good else None
        return None

    def _page(self, nodes: list[dict[str, Any]], query: Mapping[str, str]) -> Answer:
        size, page = min(int(query.get("per_page", "10")), self.clamp), int(query.get("page", "1"))
        headers = {"X-WP-Total": str(len(nodes)), "X-WP-TotalPages": str(-(-len(nodes) // size))}
        shown = nodes[size * (page - 1) : size * page]
        return Answer(json.dumps(shown).encode(), headers={**JSON, **headers})

    def _prices(self, good: Good, extra: int = 0) -> dict[str, Any]:
        ranged = {"min_amount": str(good.price), "max_amount": str(good.price + 100)}
        return {
            "price": str(good.price + extra),
            "regular_price": str(good.regular or good.price + extra),
            "sale_price": str(good.price + extra),
            "price_range": ranged if good.variants and not extra else None,
            "currency_code": self.currency,
            "currency_minor_unit": 2,
        }

    def _node(self, good: Good) -> dict[str, Any]:
        return {
            "id": good.id,
            "name": good.name.replace("Mug", "Mug &#8211; No."),
            "parent": 0,
            "type": "variable" if good.variants else "simple",
            "permalink": f"{self.url}/product/mug-{good.id}/",
            "sku": f"M{good.id}",
            "description": "<p>Fired twice.</p>",
            "on_sale": good.regular is not None,
            "prices": self._prices(good),
            "average_rating": "0",
            "review_count": 0,
            "images": [{"src": f"{self.url}/{good.id}.jpg"}],
            "categories": [{"id": 1, "name": "Mugs", "slug": "mugs", "link": f"{self.url}/product-category/mugs/"}],
            "attributes": [{"name": "Color", "terms": [{"name": one, "slug": one.lower()} for one in good.variants]}],
            "variations": [
                {"id": good.id * 100 + place, "attributes": [{"name": "Color", "value": option.lower()}]}
                for place, option in enumerate(good.variants)
            ],
            "is_in_stock": good.in_stock,
            "is_on_backorder": False,
        }

    def _variations(self, good: Good) -> list[dict[str, Any]]:
        shared = {"parent": good.id, "type": "variation", "is_in_stock": good.in_stock, "is_on_backorder": False}
        return [
            {
                **shared,
                "id": good.id * 100 + place,
                "name": good.name,
                "sku": f"M{good.id}-{place}",
                "permalink": f"{self.url}/product/mug-{good.id}/?attribute_pa_color={option.lower()}",
                "variation": f"Color: {option}",
                "prices": {**self._prices(good, place * 100), "price_range": None},
                "images": [],
            }
            for place, option in enumerate(good.variants)
        ]
