"""Small pages for the tests of extraction."""

from __future__ import annotations

import json
from typing import Any

from storebot.core.page import Page
from storebot.core.parsing.reading import Reading, read_product
from storebot.core.parsing.rules import ProductRules, compile_rule
from storebot.items import Extracted

URL = "https://shop.example/p/a1"
UTF8 = {"content-type": "text/html; charset=utf-8"}


def page(body: str = "", head: str = "", url: str = URL) -> Page:
    html = f"<!doctype html><html><head>{head}</head><body>{body}</body></html>"
    return Page(url=url, body=html.encode(), headers=UTF8)


def script(data: Any) -> str:
    """A JSON-LD block; text is taken as it stands."""
    text = data if isinstance(data, str) else json.dumps(data)
    return f'<script type="application/ld+json">{text}</script>'


def product(**fields: Any) -> dict[str, Any]:
    offer = {"@type": "Offer", "price": "99.00", "priceCurrency": "EUR", "availability": "https://schema.org/InStock"}
    return {
        "@context": "https://schema.org",
        "@type": "Product",
        "name": "Drill",
        "sku": "A1",
        "offers": offer,
        **fields,
    }


def offers(*records: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"@type": "Offer", "priceCurrency": "EUR", **record} for record in records]


def read(*data: Any, body: str = "", rules: ProductRules | None = None) -> Reading:
    return read_product(page(body, "".join(map(script, data))), rules or ProductRules())


def only(reading: Reading) -> Extracted:
    assert len(reading.extracted) == 1, reading
    return reading.extracted[0]


def rules(prefer: Any = "structured", declared: dict[str, str] | None = None, **fields: str) -> ProductRules:
    compiled = {name: (compile_rule(text),) for name, text in fields.items()}
    return ProductRules(fields=compiled, declared=declared or {}, prefer=prefer)


def builds_a_tree(read_page: Page) -> bool:
    """Whether reading a page left a tree (or the knowledge that there is none) behind."""
    return type(read_page._root).__name__ != "_Unset"
