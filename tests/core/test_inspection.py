"""What storebot makes of one page, as one object."""

from __future__ import annotations

import json
from dataclasses import fields
from typing import Any

import orjson
import pytest

from storebot.core.inspection import inspection
from storebot.core.normalise import Context
from storebot.core.page import Page
from storebot.core.parsing.rules import ProductRules, compile_rule
from storebot.items import Listing

URL = "https://shop.example/p/mug-1"
CONTEXT = Context(store="acme", url_key=URL, url=URL)


def page(offer: dict[str, Any], *, html: str = "", status: int = 200, headers: dict[str, str] | None = None) -> Page:
    product = {"@type": "Product", "@context": "https://schema.org", "name": "Mug", "sku": "M-1", "offers": offer}
    body = f'<html><body><script type="application/ld+json">{json.dumps(product)}</script>{html}</body></html>'
    return Page(url=URL, body=body.encode(), status=status, headers=headers)


def offer(price: str = "19.90", currency: str = "EUR") -> dict[str, Any]:
    return {"@type": "Offer", "price": price, "priceCurrency": currency, "availability": "https://schema.org/InStock"}


def inspected(found: Page, rules: ProductRules | None = None, markers: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return the inspection as it arrives at a reader of the JSON."""
    result: dict[str, Any] = orjson.loads(orjson.dumps(inspection(found, rules or ProductRules(), CONTEXT, markers)))
    return result


def test_product_page_gives_key_no_block_and_its_listing() -> None:
    found = inspected(page(offer()))
    assert list(found) == ["key", "block", "listings", "problems"]
    assert (found["key"], found["block"], found["problems"]) == (URL, None, [])
    (listing,) = found["listings"]
    assert (listing["name"], listing["sku"], listing["availability"]) == ("Mug", "M-1", "InStock")
    assert (listing["price_minor"], listing["currency"], listing["price"]) == (1990, "EUR", "19.90")
    assert listing["field_source"]["price"] == "jsonld"


def test_listing_has_every_field_of_the_record_but_its_hashes() -> None:
    (listing,) = inspected(page(offer()))["listings"]
    record = {field.name for field in fields(Listing)} - {"record_hash", "details_hash"}
    assert set(listing) == record | {"price", "regular_price", "price_min", "price_max"}
    assert (listing["regular_price"], listing["price_min"], listing["gtin"]) == (None, None, None)


@pytest.mark.parametrize(
    ("price", "currency", "text", "minor"),
    [("19.9", "EUR", "19.90", 1990), ("1980", "JPY", "1980", 1980), ("1.250", "KWD", "1.250", 1250)],
)
def test_price_is_decimal_text_with_the_places_of_its_currency(
    price: str, currency: str, text: str, minor: int
) -> None:
    (listing,) = inspected(page(offer(price, currency)))["listings"]
    assert (listing["price"], listing["price_minor"]) == (text, minor)


def test_sources_that_differ_are_named_with_their_values() -> None:
    rules = ProductRules(fields={name: (compile_rule(f".{name}"),) for name in ("brand", "price")})
    html = '<p class="brand">Clay &amp; Co</p><p class="price">24.90 EUR</p>'
    found = inspected(page(offer(), html=html), rules)  # the JSON-LD lacks the brand, so the rest is read, too
    (listing,) = found["listings"]
    assert listing["price"] == "19.90"
    (difference,) = [one for one in listing["disagreements"] if one["field"] == "price"]
    assert difference["values"] == {"jsonld": "19.90", "selectors": "24.90 EUR"}


def test_challenge_page_is_a_block_with_its_signals_and_no_listing() -> None:
    body = b"<html><head><title>Just a moment...</title></head><body>challenge-platform _cf_chl_opt</body></html>"
    found = inspected(
        Page(url=URL, body=body, status=403, headers={"cf-mitigated": "challenge", "server": "cloudflare"})
    )
    assert found["listings"] == []
    assert found["block"]["vendor"] == "cloudflare"
    assert {"status", "header", "marker"} <= {signal["kind"] for signal in found["block"]["signals"]}
    assert all(set(signal) == {"kind", "value", "vendor"} for signal in found["block"]["signals"])


def test_marker_of_the_store_makes_a_block_of_a_page_without_a_product() -> None:
    body = b"<html><body>" + b"<p>Queue number 17, please wait for your turn.</p>" * 100 + b"</body></html>"
    assert inspected(Page(url=URL, body=body))["block"] is None
    assert inspected(Page(url=URL, body=body), markers=("queue NUMBER",))["block"]["vendor"] == "generic"


def test_product_that_can_be_read_is_no_block_whatever_stands_around_it() -> None:
    found = inspected(page(offer(), html="<script src='/cdn-cgi/challenge-platform/x.js'></script>"), markers=("mug",))
    assert found["block"] is None
    assert len(found["listings"]) == 1


def test_product_on_an_error_page_is_not_read() -> None:
    found = inspected(page(offer(), status=404))
    assert (found["block"], found["listings"]) == (None, [])


def test_price_that_cannot_be_read_is_a_problem_that_quotes_it() -> None:
    found = inspected(page(offer("on request")))
    assert any("on request" in problem["reason"] for problem in found["problems"])
    assert found["listings"][0]["price"] is None


def test_page_without_a_product_has_neither_block_nor_listing() -> None:
    body = (
        b"<html><head><title>About us</title></head><body>"
        + b"<p>We sell mugs since 1911.</p>" * 200
        + b"</body></html>"
    )
    found = inspected(Page(url=URL, body=body))
    assert (found["block"], found["listings"]) == (None, [])
