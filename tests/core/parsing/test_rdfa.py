"""RDFa: terms, prefixes, vocabularies, values, nesting."""

from __future__ import annotations

import pytest

from storebot.core.page import Page
from storebot.core.parsing import rdfa
from storebot.core.parsing.reading import read_product
from storebot.core.parsing.rules import ProductRules
from storebot.core.parsing.values import Values
from tests.core.parsing.pages import URL, only, page


def values(body: str, head: str = "") -> Values:
    (record,) = rdfa.read(page(body, head), list).records
    return record


OFFER = '<p property="{0}offers" typeof="{0}Offer"><b property="{0}price" content="49.50">49,50</b>'
OFFER += '<i property="{0}priceCurrency" content="EUR">€</i>'
OFFER += '<link property="{0}availability" href="https://schema.org/InStock"></p>'


@pytest.mark.parametrize(
    ("opening", "prefix"),
    [
        ('<div vocab="https://schema.org/" typeof="Product">', ""),
        ('<div vocab="http://schema.org" typeof="Product">', ""),
        ('<div typeof="schema:Product">', "schema:"),
        ('<div prefix="s: https://schema.org/ og: http://ogp.me/ns#" typeof="s:Product">', "s:"),
        ('<div typeof="http://schema.org/Product">', "http://schema.org/"),
        ('<div typeof="Product">', ""),
    ],
)
def test_words_of_schema_org_are_known_however_they_are_written(opening: str, prefix: str) -> None:
    found = values(f'{opening}<h1 property="{prefix}name">Drill</h1>{OFFER.format(prefix)}</div>')
    assert (found["name"], found["price"], found["currency"]) == ("Drill", "49.50", "EUR")
    assert found["availability"] == "https://schema.org/InStock"


def test_a_prefix_of_the_html_element_is_known() -> None:
    html = '<html xmlns:v="http://schema.org/"><div typeof="v:Product"><b property="v:name">Drill</b>'
    found = rdfa.read(Page(url=URL, body=html.encode()), list)
    assert [record["name"] for record in found.records] == ["Drill"]


def test_words_of_other_vocabularies_say_nothing() -> None:
    body = '<div vocab="http://xmlns.com/foaf/0.1/" typeof="Product"><b property="name">Drill</b></div>'
    assert rdfa.read(page(body), list).records == []
    mixed = '<div vocab="https://schema.org/" typeof="Product"><b property="name">Drill</b>'
    mixed += '<i property="og:brand">x</i><i vocab="http://x/" property="brand">y</i></div>'
    assert "brand" not in values(mixed)


def test_values_come_from_content_addresses_times_and_text() -> None:
    body = '<div vocab="https://schema.org/" typeof="Product" resource="#p"><a property="name" href="/p">Drill</a>'
    body += '<a property="url" href="/p/1">here</a><img property="image" src="a.jpg"><i property="sku"> A1 </i>'
    found = values(body + '<span property="brand" typeof="Brand"><b property="name">Acme</b></span></div>')
    assert (found["name"], found["url"], found["images"], found["sku"], found["brand"]) == (
        "Drill",
        "/p/1",
        ["a.jpg"],
        "A1",
        "Acme",
    )


def test_a_relation_around_an_offer_makes_it_the_offer() -> None:
    body = '<div typeof="schema:Product"><b property="schema:name">Drill</b><div rel="schema:offers">'
    body += '<div typeof="schema:Offer"><b property="schema:price">5</b></div></div></div>'
    assert values(body)["price"] == "5"


def test_several_products_of_which_none_is_the_pages_own_give_none_and_a_problem() -> None:
    item = '<div vocab="https://schema.org/" typeof="Product"><b property="name">{}</b></div>'
    found = rdfa.read(page(item.format("One") + item.format("Two")), list)
    assert found.records == []
    assert "rdfa describes 2 products" in found.problems[0].reason


def test_a_page_without_a_typed_product_builds_no_tree() -> None:
    bare = page('<nav vocab="https://schema.org/" typeof="BreadcrumbList"></nav><script>typeof=="Product"</script>')
    assert rdfa.read(bare, list).records == []
    assert not bare.has_tree


def test_rdfa_is_a_source_of_its_own_beside_json_ld() -> None:
    body = f'<div vocab="https://schema.org/" typeof="Product"><b property=name>Drill</b>{OFFER.format("")}</div>'
    found = only(read_product(page(body), ProductRules()))
    assert (found.sources["name"], found.sources["price"]) == ("rdfa", "rdfa")
