"""JSON-LD in the bytes of a page."""

from __future__ import annotations

import json
from typing import Any

import pytest

from storebot.core.page import Page
from storebot.core.parsing.jsonld import MAX_BLOCKS, blocks
from storebot.core.parsing.reading import read_product
from storebot.core.parsing.rules import ProductRules
from storebot.core.parsing.values import same_amount
from storebot.items import Disagreement
from tests.core.parsing.pages import URL, offers, only, page, product, read, script
from tests.shared_data import shared


@pytest.mark.parametrize(
    "tag",
    [
        '<script type="application/ld+json">',
        "<script type='application/ld+json'>",
        "<script type=application/ld+json>",
        '<SCRIPT data-x="1" TYPE="Application/LD+JSON" id=y>',
        '<script type="application/ld&#x2B;json">',
        '<script nonce="a" type = "application/ld+json; charset=utf-8">',
        '<script\ntype="application/ld+json">',
    ],
)
def test_blocks_are_found_however_the_tag_is_written(tag: str) -> None:
    assert [content for _, content in blocks(f"<p>{tag}[1]</SCRIPT>".encode())] == [b"[1]"]


@pytest.mark.parametrize(
    "markup",
    [
        '<!-- old: <script type="application/ld+json">[1]</script> -->',
        '<a type="application/ld+json">[1]</a>',
        "<script>var type = 'application/ld+json'; [1]</script>",
        '<script type="text/x" data-type="application/ld+json">[1]</script>',
        "application/ld+json",
    ],
)
def test_what_only_looks_like_a_block_is_not_one(markup: str) -> None:
    assert list(blocks(markup.encode())) == []


def test_a_comment_elsewhere_does_not_hide_a_block() -> None:
    markup = b"<!-- a --><script type='application/ld+json'>[1]</script><script>x --> 0</script><!-- b -->"
    assert [content for _, content in blocks(markup)] == [b"[1]"]


def test_an_unclosed_block_ends_with_the_page_and_the_number_of_blocks_is_bounded() -> None:
    assert [c for _, c in blocks(b'<script type="application/ld+json">[1]')] == [b"[1]"]
    assert len(list(blocks(b'<script type="application/ld+json">[1]</script>' * 500))) == MAX_BLOCKS


def test_raw_newlines_in_strings_do_not_lose_the_price_x01() -> None:
    text = '{"@type":"Product","name":"Drill","description":"line1\nline2","offers":{"price":"49.00"}}'
    found = only(read(text, body="<b itemprop=price>12.00</b>"))
    assert (found.values["price"], found.sources["price"]) == ("49.00", "jsonld")
    assert found.values["description"] == "line1\nline2"


def test_a_broken_block_does_not_kill_the_others_x03() -> None:
    reading = read('{"name":"19" rack"}', product())
    assert only(reading).values["price"] == "99.00"
    assert [problem.field for problem in reading.problems] == ["jsonld"]


def test_text_gets_exactly_one_entity_pass_x04() -> None:
    assert only(read(product(name="Nuts &amp; Bolts &#039;L&#039;"))).values["name"] == "Nuts & Bolts 'L'"
    assert only(read(product(name="A &amp;lt; B"))).values["name"] == "A &lt; B"


def test_numbers_keep_the_text_of_the_source() -> None:
    text = '{"@type":"Product","name":"D","sku":5038,"offers":{"price":10.040,"priceCurrency":"EUR"}}'
    assert only(read(text)).values["price"] == "10.040"
    assert only(read(text)).values["sku"] == "5038"


@pytest.mark.parametrize(
    "data",
    [
        {"@graph": [{"@type": "WebPage"}, product()]},
        [{"@type": "Organization", "name": "Shop"}, [product()]],
        {"@type": "ItemPage", "mainEntity": product()},
        {"@type": "WebPage", "mainEntityOfPage": product()},
        product(**{"@type": ["Thing", "https://schema.org/Product"]}),
        product(**{"@type": "schema:IndividualProduct"}),
        product(**{"@type": "Book"}),
    ],
)
def test_the_product_is_found_wherever_it_is_nested(data: Any) -> None:
    assert only(read(data)).values["price"] == "99.00"


@pytest.mark.parametrize(
    "data", [{"@type": "Book", "name": "No offers"}, {"@type": "Organization", "name": "S"}, "null", "[]"]
)
def test_what_is_no_product_gives_nothing(data: Any) -> None:
    assert read(data).extracted == ()


def test_nesting_is_bounded() -> None:
    for levels in (20, 400, 5000):
        text = '{"@graph":[' * levels + json.dumps(product()) + "]}" * levels
        assert read(text).extracted == ()
    assert only(read('{"@graph":[' * 3 + json.dumps(product()) + "]}" * 3)).values["name"] == "Drill"


def test_references_by_id_are_followed() -> None:
    node = product(brand={"@id": "#b"}, offers={"@id": "#o"})
    offer = {"@id": "#o", "@type": "Offer", "price": "7", "priceCurrency": "EUR"}
    found = only(read({"@graph": [node, {"@id": "#b", "@type": "Brand", "name": "Acme"}, offer]}))
    assert (found.values["price"], found.values["brand"]) == ("7", "Acme")


def test_fields_of_the_record() -> None:
    node = product(
        name="Drill",
        brand={"@type": "Brand", "name": "Acme"},
        gtin13="8595656505198",
        mpn="-",
        productID="77",
        image=[{"@type": "ImageObject", "url": "/i/1.jpg"}, "https://cdn.example/2.jpg", "/i/1.jpg"],
        aggregateRating={"ratingValue": 4.5, "ratingCount": 12},
        url="/p/a1",
        offers={**offers({"price": "5", "availability": "http://schema.org/InStock"})[0], "seller": {"name": "S"}},
    )
    values = only(read(node)).values
    expected = {
        "brand": "Acme",
        "gtin": "8595656505198",
        "product_id": "77",
        "images": ["https://shop.example/i/1.jpg", "https://cdn.example/2.jpg"],
        "rating_value": "4.5",
        "review_count": "12",
        "url": URL,
        "seller": "S",
        "availability": "http://schema.org/InStock",
    }
    assert {name: values.get(name) for name in expected} == expected
    assert "mpn" not in values


def test_breadcrumbs_give_the_categories_without_home_and_product() -> None:
    trail = [
        {"position": 3, "name": "Drill", "item": URL},
        {"position": 1, "name": "Start", "item": "https://shop.example/"},
        {"position": 2, "item": {"@id": "/tools", "name": "Tools &amp; more"}},
    ]
    crumbs = {"@type": "BreadcrumbList", "itemListElement": trail}
    assert only(read(product(), crumbs)).values["category_path"] == ["Tools & more"]
    nested = {"@type": "BreadcrumbList", "itemListElement": [trail[2:], trail]}
    assert only(read(product(), nested)).values["category_path"] == ["Tools & more"]


def test_two_blocks_on_one_product_fill_each_others_gaps() -> None:
    first = product(**{"@id": "#p"}, sku="-")
    second = product(**{"@id": "#p"}, name="Drill &amp;amp; Bits", sku=77, brand="Acme")
    values = only(read(first, second)).values
    assert (values["name"], values["sku"], values["brand"]) == ("Drill", "77", "Acme")


def test_two_blocks_that_disagree_on_the_price_are_flagged() -> None:
    found = only(read(product(**{"@id": "#p"}), product(**{"@id": "#p"}, offers=offers({"price": "89"}))))
    assert found.values["price"] == "99.00"
    assert found.disagreements == (Disagreement("price", {"jsonld": "99.00", "jsonld#2": "89"}),)


def test_the_block_is_decoded_in_the_encoding_of_the_page() -> None:
    html = script(json.dumps(product(name="Töpfe"), ensure_ascii=False))
    for encoding in ("utf-8", "iso-8859-1", "windows-1250", "utf-16"):
        headers = {"content-type": f"text/html; charset={encoding}"}
        reading = read_product(Page(url=URL, body=html.encode(encoding), headers=headers), ProductRules())
        assert only(reading).values["name"] == "Töpfe"


FORMS = ["bom", "cdata-block", "graph", "html-comment", "js-comment", "nan", "nested-main-entity", "price-with-symbol"]
MORE_FORMS = ["raw-newline-in-string", "single-quotes", "trailing-comma", "trailing-semicolon", "type-list"]


@pytest.mark.parametrize("name", [*FORMS, *MORE_FORMS])
def test_broken_forms_seen_in_shops(name: str) -> None:
    path = shared(f"products/snippets/made-{name}.html")
    golden = json.loads(path.with_name(path.name + ".golden.json").read_text())["golden"]
    values = only(read_product(Page(url=URL, body=path.read_bytes()), ProductRules())).values
    found = {**values, "availability": str(values["availability"]).rpartition("/")[2]}
    price, wanted = values.get("price"), golden.pop("price")
    assert {field: found.get(field) for field in golden} == golden
    assert price is wanted is None or same_amount(str(price), wanted)


def test_a_truncated_block_is_reported() -> None:
    reading = read_product(
        Page(url=URL, body=shared("products/snippets/made-truncated.html").read_bytes()), ProductRules()
    )
    assert reading.extracted == ()
    assert [problem.field for problem in reading.problems] == ["jsonld"]


def test_a_replacement_character_in_a_field_is_a_problem_e02() -> None:
    html = script(product()).replace("Drill", "Dr\ufffdll")
    assert [p.field for p in read_product(page(head=html), ProductRules()).problems] == ["name"]
