"""The table of fields counts pages, names sources, and trusts a field as far as its weakest source."""

from __future__ import annotations

from storebot.core.probing.fields import Confidence, FieldEvidence, field_evidence
from storebot.core.probing.seen import Seen
from tests.core.probing.shops import FILLER, product, seen

BUYING = '<b class="price">€ 9.90</b><button>Add to cart</button>'
PLAIN = f"<html><title>Jug</title><body><h1>Jug</h1>{BUYING}{FILLER}</body></html>"


def row(name: str, *pages: Seen) -> FieldEvidence:
    return {one.field: one for one in field_evidence(pages)}[name]


def test_field_is_counted_by_page_and_source() -> None:
    pages = [seen("/p/mug", product("Mug")), seen("/p/cup", product("Cup")), seen("/p/jug", PLAIN)]
    assert [page.kind for page in pages] == ["product"] * 3
    name = row("name", *pages)
    assert (name.pages, name.sources) == (3, (("jsonld", 2), ("visible:h1", 1)))
    assert (name.example, name.confidence) == ("Mug", Confidence.LOW)
    assert row("price", *pages[:2]).confidence is Confidence.HIGH
    assert row("price", *pages).example == "19.90"


def test_pages_whose_sources_differ_are_counted() -> None:
    metas = '<meta property="og:type" content="product"><meta property="product:price:amount" content="29.90">'
    metas += '<meta property="product:price:currency" content="EUR">'
    markup = product("Mug").replace("<html>", f"<html><head>{metas}").replace("<body>", "</head><body>")
    price = row("price", seen("/p/mug", markup), seen("/p/cup", product("Cup")))
    assert (price.pages, price.disagreements) == (2, 1)


def test_field_that_no_page_gives_has_no_row() -> None:
    fields = [one.field for one in field_evidence([seen("/p/mug", product("Mug"))])]
    assert fields[:3] == ["name", "price", "currency"]
    assert "gtin" not in fields
    assert field_evidence([]) == ()
