"""From what was extracted to what is compared."""

from __future__ import annotations

from storebot.core.fingerprint import page_hash
from storebot.core.normalise import Context
from storebot.core.parsing.rules import ProductRules
from storebot.core.record import hashed, missing_fields, normalised, refusal
from storebot.items import Extracted, Problem

CONTEXT = Context(store="shop", url_key="https://shop.example/p/1", url="https://shop.example/p/1")


def extracted(**values: str) -> Extracted:
    return Extracted(values=dict(values), sources=dict.fromkeys(values, "shopify"))


def test_listings_come_with_what_could_not_be_believed() -> None:
    listings, problems = normalised(
        [extracted(name=" Mug ", price="5.00", currency="EUR"), extracted(name="Cup", price="0.00", currency="EUR")],
        CONTEXT,
    )
    assert [(one.name, one.price_minor) for one in listings] == [("Mug", 500), ("Cup", None)]
    assert [problem.field for problem in problems] == ["price"]


def test_a_page_is_hashed_by_its_variants_whatever_their_order() -> None:
    small, large = extracted(name="Mug", variant_id="S"), extracted(name="Mug", variant_id="L", description="Tall.")
    there, back = (hashed(normalised(both, CONTEXT)[0]) for both in ([small, large], [large, small]))
    assert (there.content_hash, there.details_hash) == (back.content_hash, back.details_hash)
    assert there.content_hash == page_hash({one.variant_id: one.record_hash for one in back.listings})
    assert there.content_hash != there.details_hash


def test_where_a_field_was_found_changes_no_hash() -> None:
    """What a browser's page says by microdata is the same record as what the plain page said by JSON-LD."""
    values = {"name": "Mug", "price": "5.00", "currency": "EUR", "sku": "M-1", "description": "Tall."}
    plain, rendered = (
        hashed(normalised([Extracted(values=dict(values), sources=dict.fromkeys(values, source))], CONTEXT)[0])
        for source in ("jsonld", "visible:price")
    )
    assert plain.listings[0].field_source != rendered.listings[0].field_source
    assert (plain.content_hash, plain.details_hash) == (rendered.content_hash, rendered.details_hash)


def test_missing_are_the_fields_for_want_of_which_a_page_is_refused() -> None:
    required, rules = ("name", "price", "gtin"), ProductRules()
    whole = extracted(name="Mug", price="5.00", currency="EUR", gtin="4006381333931")
    assert missing_fields([whole], CONTEXT, required, rules) == ()
    assert missing_fields([extracted(name="Mug", price="Loading...")], CONTEXT, required, rules) == ("price", "gtin")
    assert missing_fields([whole, extracted(name="Mug", sku="2")], CONTEXT, required, rules) == ("price", "gtin")
    assert missing_fields([extracted(price="5.00")], CONTEXT, ("name",), rules) == ("name", "price")


def test_a_refusal_says_each_fault_once() -> None:
    assert refusal([Problem("name", "none"), Problem("price", "none"), Problem("name", "none")]) == (
        "name: none; price: none"
    )
    assert refusal([]) == ""
