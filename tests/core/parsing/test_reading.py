"""From a page to its records: the layers, and what each costs."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from storebot.core.page import Page
from storebot.core.parsing.reading import identity, read_product
from storebot.core.parsing.rules import ProductRules
from storebot.items import Disagreement
from tests.core.parsing.pages import URL, builds_a_tree, offers, only, page, product, read, rules, script

SHOWN = "<h1>Drill</h1><p class=price>99,00 €</p><form><button>Add to cart</button></form>"
CSS = "<h1>Drill</h1><b class=price>99,00</b><i class=stock>Sold out</i><s class=was>120</s>"


def test_json_ld_whose_price_is_plainly_on_show_builds_no_tree_and_decodes_nothing() -> None:
    complete = page(SHOWN, script(product()))
    reading = read_product(complete, ProductRules())
    assert only(reading).values["price"] == "99.00"
    assert reading.source == "jsonld"
    assert not complete.has_tree
    assert complete._decoded is None


@pytest.mark.parametrize("other", ["<h1>Drill</h1><p class=price>89,00 €</p>", "<h1>Drill</h1><p>Ask us</p>"])
def test_json_ld_whose_price_isnt_plainly_on_show_is_compared_with_the_tree(other: str) -> None:
    doubtful = page(other, script(product()))
    read_product(doubtful, ProductRules())
    assert doubtful.has_tree


def test_a_price_on_show_that_isnt_the_structured_one_is_flagged() -> None:
    body = SHOWN.replace("99,00", "89,00")
    assert only(read(product(), body=body)).disagreements == (
        Disagreement("price", {"jsonld": "99.00", "visible": "89,00 €"}),
    )


def test_the_rules_of_a_store_are_compared_even_where_structured_data_are_complete() -> None:
    found = only(read(product(), body=SHOWN.replace("99,00", "89,00"), rules=rules(price=".price")))
    assert (found.values["price"], found.sources["price"]) == ("99.00", "jsonld")
    assert found.disagreements == (Disagreement("price", {"jsonld": "99.00", "selectors": "89,00 €"}),)


def test_rules_cost_no_tree_where_the_json_ld_answers_them_and_its_price_is_on_show() -> None:
    answered = page(SHOWN, script(product()))
    assert only(read_product(answered, rules(name="h1", price=".price"))).sources["price"] == "jsonld"
    assert not answered.has_tree
    gap = page(SHOWN + "<s class=was>120,00 €</s>", script(product()))
    assert "regular_price" in only(read_product(gap, rules(price=".price", regular_price=".was"))).values
    assert gap.has_tree


def test_preferred_rules_are_asked_whatever_the_json_ld_says() -> None:
    both = page(SHOWN, script(product()))
    found = only(read_product(both, rules(prefer="selectors", price=".price")))
    assert found.sources["price"] == "css:.price"


@pytest.mark.parametrize("lacking", ["name", "price", "currency"])
def test_json_ld_that_lacks_something_needed_is_not_enough(lacking: str) -> None:
    text = (
        json.dumps(product())
        .replace(f'"{lacking}"', '"x"')
        .replace('"priceCurrency"', '"x"' if lacking == "currency" else '"priceCurrency"')
    )
    incomplete = page(CSS, script(text))
    found = only(
        read_product(
            incomplete,
            rules(declared={"currency": "EUR"} if lacking != "currency" else None, name="h1", price=".price"),
        )
    )
    assert builds_a_tree(incomplete)
    assert found.values["name"] == "Drill"


def test_a_rule_for_a_field_that_is_missing_fills_the_gap() -> None:
    found = only(read(product(), body=CSS, rules=rules(regular_price=".was", name="h1")))
    assert (found.values["regular_price"], found.sources["regular_price"]) == ("120", "css:.was")
    assert found.sources["name"] == "jsonld"


def test_a_declared_currency_is_enough_and_disagreements_with_it_are_recorded() -> None:
    bare = {"price": "5", "availability": "InStock"}
    shown = page(SHOWN.replace("99,00 €", "£5.00"), script(product(offers=bare)))
    assert only(read_product(shown, rules(declared={"currency": "GBP"}))).sources["currency"] == "declared"
    assert not shown.has_tree
    found = only(read(product(), rules=rules(declared={"currency": "GBP"})))
    assert found.values["currency"] == "EUR"
    assert found.disagreements == (Disagreement("currency", {"jsonld": "EUR", "declared": "GBP"}),)


def test_sources_that_disagree_on_the_price_are_flagged_and_the_order_decides() -> None:
    body = CSS.replace("99,00", "89,00")
    found = only(read(product(), body=body, rules=rules(price=".price", brand=".none")))
    assert found.values["price"] == "99.00"
    assert found.disagreements == (Disagreement("price", {"jsonld": "99.00", "selectors": "89,00"}),)
    preferred = only(read(product(), body=body, rules=rules("selectors", price=".price", brand=".none")))
    assert (preferred.values["price"], preferred.sources["price"]) == ("89,00", "css:.price")
    assert preferred.disagreements[0].values == {"css:.price": "89,00", "jsonld": "99.00"}


def test_the_same_price_written_differently_is_no_disagreement_x06() -> None:
    body = "<div itemscope itemtype=https://schema.org/Product><b itemprop=name>Drill</b><p itemprop=offers itemscope>"
    body += "<meta itemprop=price content=2879.20></p></div>"
    found = only(read(product(offers={"price": 2879.2}), body=body))
    assert (found.values["price"], found.disagreements) == ("2879.2", ())


def test_a_zero_price_yields_to_a_real_one_of_a_later_source() -> None:
    found = only(read(product(offers=offers({"price": "0"})), body=CSS, rules=rules(price=".price")))
    assert (found.values["price"], found.sources["price"]) == ("99,00", "css:.price")


def test_the_currency_comes_from_the_source_of_the_price() -> None:
    head = '<meta property="product:price:amount" content="5"><meta property="product:price:currency" content="USD">'
    half = product(offers={"priceCurrency": "EUR"})
    found = only(read_product(page(head=head + script(half)), ProductRules()))
    assert (found.values["price"], found.values["currency"]) == ("5", "USD")


def test_a_regular_price_never_joins_a_price_that_its_source_contradicts_a05() -> None:
    body = "<b class=price>399</b><s class=was>445</s>"
    found = only(read(product(), body=body, rules=rules(price=".price", regular_price=".was")))
    assert "regular_price" not in found.values


def test_page_level_values_are_not_lent_to_single_variants() -> None:
    head = '<meta property="og:type" content="product"><meta property="product:price:amount" content="5">'
    head += '<meta property="product:brand" content="Acme"><meta property="product:availability" content="oos">'
    variants = product(offers=offers({"sku": "S", "price": "7"}, {"sku": "M"}))
    found = read_product(page(head=head + script(variants)), rules(brand=".none")).extracted
    assert [e.values.get("price") for e in found] == [None, "7"]
    assert {str(e.values["brand"]) for e in found} == {"Acme"}
    assert all("availability" not in e.values for e in found)


def test_the_next_layer_is_used_and_named_when_one_vanishes_x11() -> None:
    microdata = (
        "<div itemscope itemtype=https://schema.org/Product><b itemprop=name>Drill</b><i itemprop=offers itemscope>"
    )
    microdata += "<b itemprop=price>49</b></i></div>"
    fields = rules(name="h1", price="span::attr(data-price)")
    assert only(read(body=microdata, rules=fields)).sources["price"] == "microdata"
    found = only(read(body="<h1>Drill</h1><span data-price=49>", rules=fields))
    assert (found.values["price"], found.sources["price"]) == ("49", "css:span::attr(data-price)")


def test_out_of_stock_without_a_price_is_a_product_l04() -> None:
    nothing_offered = {"@type": "Product", "name": "Drill"}
    body = "<h1>Drill</h1><i class=stock>Sold out</i>"
    reading = read(nothing_offered, body=body, rules=rules(availability=".stock"))
    assert only(reading).values["availability"] == "Sold out"
    assert "price" not in only(reading).values
    assert identity(reading)


def test_a_keyword_elsewhere_does_not_override_structured_stock_l05() -> None:
    body = "<template><span>Out of stock</span></template><div class=related>Sold out</div>"
    assert only(read(product(), body=body)).values["availability"] == "https://schema.org/InStock"


def test_a_store_can_let_its_rule_decide_on_stock_a04() -> None:
    body = "<div itemscope itemtype=https://schema.org/Product><b itemprop=name>Set</b><i itemprop=offers itemscope>"
    body += "<link itemprop=availability href=http://schema.org/OutOfStock></i></div><button class=add>InStock</button>"
    found = only(read(body=body, rules=rules("selectors", availability=".add")))
    assert found.values["availability"] == "InStock"
    assert found.disagreements[0].field == "availability"


def test_variants_that_are_loaded_by_script_are_said_to_be_unknown_a01() -> None:
    form = "<form class='variations_form' data-product_id='77' data-product_variations=\"false\">"
    ranged = product(offers={"@type": "AggregateOffer", "lowPrice": 5, "highPrice": 9, "priceCurrency": "EUR"})
    reading = read(ranged, body=form)
    assert "price" not in only(reading).values
    assert [problem.field for problem in reading.problems] == ["variants"]


def test_nul_characters_reach_no_value_e05() -> None:
    html = b"<html><h1>Dr\0ill</h1><div itemscope itemtype=https://schema.org/Product><b itemprop=name>Drill\0</b>"
    html += b"<span itemprop=offers itemscope><meta itemprop=price content=49></span></div>"
    values = only(read_product(Page(url=URL, body=html), ProductRules())).values
    assert (values["name"], values["price"]) == ("Drill", "49")
    escaped = '{"@type":"Product","name":"Dr\\u0000ill","sku":"a\\u0000","url":"/p?variant=%00"}'
    assert "\0" not in str(only(read(escaped)).values)


def test_a_rendered_page_reads_like_the_plain_one_e01() -> None:
    html = script(json.dumps(product(name="Müller Töpfe"), ensure_ascii=False))
    plain = Page(url=URL, body=html.encode("iso-8859-15"), headers={"content-type": "text/html; charset=iso-8859-15"})
    rendered = Page(url=URL, body=html.encode(), headers=plain.headers, tier="browser", charset="utf-8")
    assert read_product(plain, ProductRules()).extracted == read_product(rendered, ProductRules()).extracted
    assert only(read_product(rendered, ProductRules())).values["name"] == "Müller Töpfe"


def test_the_canonical_url_is_kept_whichever_way_was_taken() -> None:
    head = '<link rel="canonical" href="/p/a1">'
    for data in (product(), {"@type": "Product", "name": "Drill"}):
        found = only(read_product(page(head=head + script(data)), ProductRules()))
        assert found.values["canonical_url"] == URL


@pytest.mark.parametrize(
    ("data", "is_one"),
    [(product(), True), ({"@type": "Product", "name": "Bare"}, True), ({"@type": "Product", "sku": "A"}, False)],
)
def test_identity_needs_a_name(data: dict[str, str], is_one: bool) -> None:
    assert identity(read(data)) is is_one


def test_a_name_by_a_rule_alone_is_no_identity() -> None:
    assert not identity(read(body=CSS, rules=rules(name="h1", declared={"currency": "EUR"})))
    assert identity(read(body=CSS, rules=rules(name="h1", price=".price")))


KEYS = ["@type", "@id", "@graph", "name", "offers", "price", "sku", "hasVariant", "itemListElement", "image", "url"]
MORE_KEYS = ["priceSpecification", "mainEntity", "brand", "category", "additionalProperty", "lowPrice", "isVariantOf"]
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.floats()
    | st.integers()
    | st.text(max_size=8)
    | st.sampled_from(["Product", "#a", "9"]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(KEYS + MORE_KEYS),
            inner,
            max_size=6,
        )
    ),
    max_leaves=30,
)


@settings(max_examples=150, deadline=None)
@given(st.lists(JSON, max_size=3), st.booleans())
def test_any_json_is_read_without_an_error(data: list[object], as_product: bool) -> None:
    blocks = [{**item, "@type": "Product"} if as_product and isinstance(item, dict) else item for item in data]
    reading = read(*blocks, rules=rules(name="h1"))
    for extracted in reading.extracted:
        assert "\0" not in str(extracted.values)
        assert set(extracted.sources) == set(extracted.values)
        str(extracted.values).encode()


FRAGMENTS = st.sampled_from(
    b"""<div itemscope itemtype=https://schema.org/Product>|<b itemprop=offers itemscope>|<i itemprop=price>|</script>
    |<script type="application/ld+json">|{"@type":"Product","name":|<!--|-->|<base href=|<link rel=canonical href=http://[>
    |\0|<h1>|<meta property=og:type content=product>|<div typeof=Product>|<b property=offers typeof=Offer>|itemref=a
    |<form data-product_variations='[{"attributes":{"a":"b"},"display_price":|<script>ShopifyAnalytics; var meta = {
    |"product":{"id":1,"variants":[{"id":1},{"price":|<script data-product-json>|}]}|'>|<select name=a>""".split(b"|")
)


@settings(max_examples=150, deadline=None)
@given(st.lists(FRAGMENTS | st.binary(max_size=20), max_size=25), st.sampled_from(["", "utf-8", "utf-16", "big5"]))
def test_any_bytes_are_read_without_an_error(parts: list[bytes], charset: str) -> None:
    headers = {"content-type": f"text/html; charset={charset}"}
    reading = read_product(
        Page(url=URL, body=b"".join(parts), headers=headers), rules("selectors", name="h1", brand="re:(b.)")
    )
    assert isinstance(identity(reading), bool)


def source_hash(body: str = SHOWN, *, head: str = "", url: str = URL, **fields: Any) -> str:
    return read_product(page(body, head + script(product(**fields)), url), ProductRules()).source_hash


def test_a_page_whose_structured_data_are_the_known_ones_builds_no_tree() -> None:
    known = source_hash()
    later = page(SHOWN + "<div itemprop=x typeof=Product>23 people are looking at this</div>", script(product()))
    reading = read_product(later, rules(name="h1"), known)
    assert (reading.unchanged, reading.source_hash, reading.extracted) == (True, known, ())
    assert identity(reading)
    assert not later.has_tree
    assert later._decoded is None


@pytest.mark.parametrize(
    "other",
    [
        {"name": "Drill 2"},
        {"offers": {"price": "98.00", "priceCurrency": "EUR", "availability": "InStock"}},
        {"head": '<link rel="canonical" href="https://shop.example/p/a2">'},
        {"head": '<meta property="product:brand" content="Acme">'},
        {"url": "https://shop.example/p/a2"},
    ],
)
def test_whatever_a_record_depends_on_is_in_the_source_hash(other: dict[str, Any]) -> None:
    known = source_hash()
    assert known
    fields = {name: value for name, value in other.items() if name not in ("head", "url")}
    changed = page(SHOWN, other.get("head", "") + script(product(**fields)), other.get("url", URL))
    reading = read_product(changed, ProductRules(), known)
    assert not reading.unchanged
    assert reading.source_hash != known
    assert len(reading.extracted) == 1


def test_the_metas_of_the_head_are_enough_for_a_source_hash_and_their_change_is_seen() -> None:
    head = '<meta property="og:title" content="Drill"><meta property="product:price:amount" content="{}">'
    head += '<meta property="product:price:currency" content="EUR"><meta property="product:availability" content="oos">'
    known = read_product(page(head=head.format("5")), ProductRules()).source_hash
    assert known
    again = page("<p>another nonce</p>", head.format("5"))
    assert read_product(again, ProductRules(), known).unchanged
    assert not again.has_tree
    assert only(read_product(page(head=head.format("6")), ProductRules(), known)).values["price"] == "6"


def test_a_record_that_came_from_elsewhere_too_has_no_source_hash() -> None:
    """A rule, a heading that chose between products, a base, microdata, what is on show: each may change alone."""
    assert read(product(), body=CSS, rules=rules(regular_price=".was")).source_hash == ""
    assert read(product(), product(name="Other", sku="B2"), body=SHOWN).source_hash == ""
    assert source_hash(head='<base href="https://cdn.example/">', image="a.jpg") == ""
    brand = "<div itemscope itemtype=https://schema.org/Product><b itemprop=name>Drill</b><i itemprop=brand>A</i></div>"
    assert source_hash(SHOWN + brand) == ""
    assert source_hash(SHOWN + "<p>EAN: 4006381333931</p>", offers={"price": "99.00", "priceCurrency": "EUR"}) == ""


def test_a_rule_that_finds_nothing_today_may_find_something_tomorrow_so_there_is_no_source_hash() -> None:
    assert read(product(), body=SHOWN, rules=rules(regular_price=".was")).source_hash == ""
    assert read(product(), body=SHOWN, rules=rules(price=".price")).source_hash != ""


def test_stock_that_nothing_states_today_may_be_stated_tomorrow_so_there_is_no_source_hash() -> None:
    assert source_hash(offers={"price": "99.00", "priceCurrency": "EUR"}) == ""


def test_a_page_that_disagrees_with_itself_is_never_taken_for_unchanged() -> None:
    conflicting = product(), SHOWN.replace("99,00", "89,00")
    assert only(read(conflicting[0], body=conflicting[1])).disagreements
    assert read(conflicting[0], body=conflicting[1]).source_hash == ""


@given(st.text(max_size=40), st.text(max_size=40))
def test_pages_with_one_source_hash_have_one_record(left: str, right: str) -> None:
    first, second = (page(head=script(product(name=name or "x"))) for name in (left, right))
    one, other = read_product(first, ProductRules()), read_product(second, ProductRules())
    if one.source_hash and one.source_hash == other.source_hash:
        assert one.extracted == other.extracted


def test_a_store_with_a_rule_for_the_price_is_not_second_guessed_by_what_is_on_show() -> None:
    shown = "<main><h1>Drill</h1><b class=price>99,00 €</b><form><button>Add to cart</button></form></main>"
    with_rule = only(read_product(page(shown), rules(name="h1", price=".price", declared={"currency": "EUR"})))
    assert not [source for source in with_rule.sources.values() if source.startswith("visible")]
    assert with_rule.disagreements == ()
    without = only(read_product(page(shown), ProductRules()))
    assert without.sources["name"].startswith("visible")
