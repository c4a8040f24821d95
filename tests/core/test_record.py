"""From what was extracted to what is compared."""

from __future__ import annotations

from storebot.core.fingerprint import page_hash
from storebot.core.normalise import Context
from storebot.core.record import hashed, normalised, refusal
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


def test_a_refusal_says_each_fault_once() -> None:
    assert refusal([Problem("name", "none"), Problem("price", "none"), Problem("name", "none")]) == (
        "name: none; price: none"
    )
    assert refusal([]) == ""
