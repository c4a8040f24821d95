"""Whole pages of junk through all that a crawl does with one: block check, both readings, records, checks, hashes."""

from __future__ import annotations

import html
import re

from hypothesis import given
from hypothesis import strategies as st

from storebot.core.blocks import classify
from storebot.core.canonical import amp_copy, claimed_key
from storebot.core.fingerprint import details_hash, record_hash
from storebot.core.normalise import Context, normalise
from storebot.core.page import Page
from storebot.core.parsing.links import next_link, read_links
from storebot.core.parsing.reading import Reading, identity, read_product
from storebot.core.parsing.rules import ProductRules, compile_rule
from storebot.core.parsing.visible_bytes import corroborates
from storebot.core.soft404 import soft_404, stray_hash
from storebot.core.urls import NO_RULES
from storebot.core.validate import validate
from storebot.items import Extracted, PageType
from tests.fuzz.bounded import cpu_seconds
from tests.fuzz.junk import CPU_S, FUZZ, json_texts, listed, odd_texts, pages, scalars, spoiled, texts

URL = "https://shop.example/products/thing"
CONTEXT = Context(store="shop", url_key=URL, url=URL)
WITH_SELECTORS = ProductRules(
    fields={name: (compile_rule(rule),) for name, rule in (("name", "h1::text"), ("images", "img::attr(src)"))},
    declared={"currency": "EUR"},
    prefer="selectors",
)
CONTENT_TYPES = ("", "text/html", "text/html; charset=utf-8", "text/html; charset=utf-16", "text/html; charset=idna")

attributes = st.sampled_from(
    (
        *(
            "itemscope",
            "itemtype",
            "itemprop",
            "itemref",
            "itemid",
            "id",
            "vocab",
            "typeof",
            "property",
            "prefix",
            "rel",
        ),
        *(
            "resource",
            "about",
            "content",
            "href",
            "src",
            "class",
            "style",
            "value",
            "datetime",
            "hidden",
            "name",
            "type",
        ),
        *("data-product_variations", "data-product_id", "data-attribute_name", "data-product-json", "for", "action"),
    )
)
words = st.sampled_from(
    (
        *(
            "https://schema.org/Product",
            "https://schema.org/Offer",
            "Product",
            "schema:Product",
            "Offer",
            "x:y",
            "a",
            "b",
            "a b",
        ),
        *(
            "schema: https://schema.org/ x: http://schema.org/",
            "name",
            "price",
            "offers",
            "sku",
            "brand",
            "schema:offers",
        ),
        *(
            "og:type",
            "product",
            "og:title",
            "product:price:amount",
            "price old",
            "review",
            "stock",
            "add-to-cart",
            "[]",
        ),
        *(
            "application/ld+json",
            "canonical",
            "next",
            "display:none",
            "/p/1",
            "utf-16",
            "//[",
            "12,50 EUR",
            "ShopifyAnalytics",
        ),
    )
)
tag_names = st.sampled_from(
    listed(
        "html head body base title h1 h2 div span p b a i form button select option label input meta link script style "
        "table td sup del svg header nav img noscript !-- !doctype ![CDATA["
    )
)
shown = st.one_of(
    texts, st.sampled_from(("Thing", "12,50 EUR", "£1", "In stock", "Add to cart", "EAN: 4006381333931", "5 x 3 €"))
)


@st.composite
def tags(draw: st.DrawFn) -> str:
    """Return one tag with its text, closed or not."""
    name = draw(tag_names)
    given_ = draw(st.lists(st.tuples(attributes, st.one_of(words, texts)), max_size=4))
    quote = draw(st.sampled_from(('"', "'", "")))
    said = "".join(f" {one}={quote}{html.escape(value) if quote else value}{quote}" for one, value in given_)
    close = draw(st.sampled_from((f"</{name}>", f"</{name}>", "", "</", f"</{name}", "<")))
    return f"<{name}{said}>{draw(shown)}{close}"


@st.composite
def documents(draw: st.DrawFn) -> bytes:
    """Return a page of tags and scripts in some encoding."""
    parts: list[str] = ["<title>Thing</title><h1>Thing</h1>"] if draw(st.booleans()) else []
    for _ in range(draw(st.integers(0, 8))):
        parts.append(draw(st.one_of(tags(), tags(), scripts())))
    text = "".join(parts)
    encoding = draw(
        st.sampled_from(("utf-8", "utf-8", "utf-8", "utf-16", "cp1252", "utf-8-sig", "utf-16-be", "shift_jis"))
    )
    return text.encode(encoding, "replace")


@st.composite
def scripts(draw: st.DrawFn) -> str:
    """Return a script, or a form, that holds JSON in one of the ways that are read."""
    text = draw(json_texts())
    opening, closing = draw(
        st.sampled_from(
            (
                *(('<script type="application/ld+json">', "</script>"),) * 3,
                ("<script>var ShopifyAnalytics; var meta = ", ";</script>"),
                ('ShopifyAnalytics<script type="application/json" data-product-json>', "</script>"),
                ('<form data-product_variations="', '"><select name=a><option value=b>B</select></form>'),
                ("<form data-product_variations='", "'>"),
            )
        )
    )
    return opening + (html.escape(text) if opening.endswith('="') else text) + closing


def read(page: Page) -> Reading:
    """Do what a crawl does with a page, and check what must hold of anything that it says."""
    with cpu_seconds(CPU_S, page.body):
        reading = read_product(page, ProductRules())
        classify(page, page_type=PageType.PRODUCT, identity=lambda: identity(reading))
        read_product(page, WITH_SELECTORS)
        corroborates(page, [dict(one.values) for one in reading.extracted])
        read_links(page, re.compile("p"))
        next_link(page)
        soft_404(page, "https://shop.example")
        stray_hash(page)
        claimed_key(page.canonical_url, URL, NO_RULES, is_product=lambda url: url.startswith("https://shop.example/"))
        amp_copy(page, URL, NO_RULES)
        for extracted in reading.extracted:
            assert extracted.values.keys() <= extracted.sources.keys()
            listing, problems = normalise(extracted, CONTEXT)
            validate(listing, ("name", "price"), problems)
            assert record_hash(listing)
            assert details_hash(listing)
            str(listing).encode("utf-8")  # what a database would refuse isn't in it
        if reading.source_hash:
            again = Page(url=page.url, body=page.body, headers=page.headers)
            assert read_product(again, ProductRules(), reading.source_hash).unchanged
    return reading


@FUZZ
@given(documents(), st.sampled_from(CONTENT_TYPES))
def test_a_page_of_junk_is_read_or_refused_in_words(body: bytes, content_type: str) -> None:
    read(Page(url=URL, body=body, headers={"content-type": content_type}))


@FUZZ
@given(json_texts())
def test_any_json_ld_is_read_or_is_a_problem(text: str) -> None:
    body = f'<title>Thing</title><script type="application/ld+json">{text}</script><h1>Thing</h1>'
    read(Page(url=URL, body=body.encode("utf-8", "surrogatepass")))


@FUZZ
@given(spoiled(st.sampled_from(pages())))
def test_a_spoiled_page_is_read_or_refused_in_words(body: bytes) -> None:
    read(Page(url=URL, body=body, headers={"content-type": "text/html"}))


@FUZZ
@given(
    st.lists(st.tuples(st.sampled_from(("a", "b", "c", "d")), st.sets(st.sampled_from("abcd"))), max_size=6),
    st.booleans(),
)
def test_items_that_refer_to_each_other_end(items: list[tuple[str, set[str]]], nested: bool) -> None:
    opened = [
        f'<div id={name} itemscope itemprop="offers brand isVariantOf" itemtype="https://schema.org/Product" '
        f'itemref="{" ".join(sorted(refs))}"><b itemprop=name>Thing</b>' + ("" if nested else "</div>")
        for name, refs in items
    ]
    first = '<div itemscope itemtype="https://schema.org/Product" itemref="a b c"><b itemprop=name>Thing</b></div>'
    read(Page(url=URL, body=(first + "".join(opened)).encode()))


@FUZZ
@given(
    st.dictionaries(
        st.sampled_from(
            ("name", "sku", "gtin", "availability", "condition", "rating_value", "review_count", "description")
        ),
        st.one_of(odd_texts, st.text(), scalars.map(str)),
    ),
    st.dictionaries(st.sampled_from(("price", "regular_price", "price_min", "price_max", "currency")), texts),
    st.sampled_from(("jsonld", "css:.price", "visible:price")),
)
def test_any_record_is_normalised(said: dict[str, str], money: dict[str, str], source: str) -> None:
    values: dict[str, str | list[str] | dict[str, str]] = {**said, **money}
    values.update(images=list(said.values()), options=dict(said), category_path=list(said.values()))
    with cpu_seconds(CPU_S, values):
        listing, problems = normalise(Extracted(values=values, sources=dict.fromkeys(values, source)), CONTEXT)
        validate(listing, ("name", "price", "review_count"), problems)
        assert record_hash(listing)
        assert details_hash(listing)
        str(listing).encode("utf-8")
    assert listing.review_count is None or listing.review_count < 2**31
    assert listing.price_minor is None or -(2**63) < listing.price_minor < 2**63
