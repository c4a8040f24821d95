"""Listings and feeds of junk: products with what was lost, or UnreadableFeed."""

from __future__ import annotations

import gzip
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storebot.core.normalise import Context, normalise
from storebot.core.parsing.platforms import shopify, woocommerce
from storebot.core.parsing.platforms.carried import Carried
from storebot.core.parsing.platforms.document import plain
from storebot.core.parsing.platforms.feed import read_feed
from storebot.exceptions import UnreadableFeed
from tests.fuzz.bounded import cpu_seconds
from tests.fuzz.junk import CPU_S, FUZZ, json_texts, listed, scalars, spoiled, texts
from tests.shared_data import ROOT

BASE = "https://shop.example"
CONTEXT = Context(store="shop", url_key=BASE, url=BASE, currency="EUR")
NAMES = listed(
    "id handle title name body_html vendor product_type type variants options images image src price compare_at_price "
    "available sku barcode option1 option2 option3 featured_image product_id node edges nodes products product data "
    "amount currencyCode selectedOptions value variant_id public_title permalink prices price_range min_amount "
    "max_amount regular_price currency_minor_unit currency_code is_in_stock is_on_backorder attributes terms slug "
    "variations parent variation categories link brands description short_description review_count average_rating"
)
nodes = st.recursive(
    scalars,
    lambda inner: st.one_of(st.dictionaries(st.sampled_from(NAMES), inner, max_size=8), st.lists(inner, max_size=4)),
    max_leaves=25,
)
shopify_nodes = st.builds(
    lambda node, variants: {"id": 1, "handle": "a", "title": "A", **node, "variants": variants},
    st.dictionaries(st.sampled_from(NAMES), nodes, max_size=5),
    st.one_of(nodes, st.lists(st.dictionaries(st.sampled_from(NAMES), nodes), max_size=3)),
)
woocommerce_nodes = st.builds(
    lambda node, prices: {"id": 1, "name": "A", "permalink": BASE, "prices": prices, **node},
    st.dictionaries(st.sampled_from(NAMES), nodes, max_size=6),
    st.one_of(nodes, st.dictionaries(st.sampled_from(NAMES), scalars)),
)
documents = st.one_of(
    st.builds(lambda some: {"products": some}, st.lists(st.one_of(shopify_nodes, nodes), max_size=3)),
    st.lists(st.one_of(woocommerce_nodes, shopify_nodes), max_size=3),
    st.builds(lambda node: {"product": node}, shopify_nodes),
    nodes,
)
FIELDS = listed(
    "id title link canonical_link item_group_id price sale_price sale_price_effective_date availability brand "
    "gtin color"
)
fields = st.one_of(
    texts,
    st.sampled_from(
        (
            "https://shop.example/p?a=1",
            "https://[",
            "2024-01-01/2025-01-01",
            "2024-01-01T00:00+01:00/x",
            "1 EUR",
            "a > b",
        )
    ),
)


def _check(carried: Carried) -> None:
    for product in carried.products:
        for extracted in product.extracted:
            listing, _ = normalise(extracted, CONTEXT)
            str(listing).encode("utf-8")


def _read(read: Callable[[bytes], object], body: bytes) -> None:
    with cpu_seconds(CPU_S, body):
        try:
            found = read(body)
        except UnreadableFeed as error:
            _is_said(error)
            return
        if isinstance(found, Carried):
            _check(found)


def _is_said(error: Exception) -> None:
    assert str(error)


def _shopify(body: bytes) -> Carried:
    shopify.is_listing(body)
    return shopify.read_listing(body, BASE, "EUR")


def _woocommerce(body: bytes) -> Carried:
    woocommerce.is_listing(body)
    woocommerce.is_past_the_end(body)
    found = woocommerce.read_nodes(body)
    woocommerce.parents_of(found)
    _check(woocommerce.carried(found))
    return woocommerce.carried(found, woocommerce.by_parent([{**node, "parent": node["id"]} for node in found] * 2))


def _feed(body: bytes) -> Carried:
    return read_feed(body, f"{BASE}/feed", BASE, lambda url: url, 1_700_000_000_000)


READERS: tuple[Callable[[bytes], object], ...] = (
    _shopify,
    _woocommerce,
    _feed,
    shopify.read_metadata,
    shopify.currency_in_page,
)


@FUZZ
@given(json_texts(documents))
def test_any_json_is_a_listing_or_refused_in_words(text: str) -> None:
    body = text.encode("utf-8", "surrogatepass")
    for read in READERS:
        _read(read, body)


@FUZZ
@given(
    st.lists(st.dictionaries(st.sampled_from(FIELDS), fields), max_size=6),
    st.sampled_from(("xml", "\t", ",", ";", "|")),
    st.booleans(),
)
def test_any_merchant_feed_is_read_or_refused_in_words(items: list[dict[str, str]], form: str, packed: bool) -> None:
    if form == "xml":
        rows = (
            "<item>" + "".join(f"<g:{name}>{text}</g:{name}>" for name, text in item.items()) + "</item>"
            for item in items
        )
        document = '<rss xmlns:g="http://base.google.com/ns/1.0"><channel>' + "".join(rows)
    else:
        lines = (form.join(item.get(name, "") for name in FIELDS) for item in items)
        document = "\n".join((form.join(FIELDS), *lines))
    body = document.encode("utf-8", "surrogatepass")
    _read(_feed, gzip.compress(body, mtime=0) if packed else body)


@FUZZ
@given(st.binary(max_size=300))
def test_any_bytes_are_refused_in_words(body: bytes) -> None:
    for read in READERS:
        _read(read, body)


@FUZZ
@given(st.one_of(texts, st.text(alphabet="<>/!-&;ab \"'=", max_size=200)))
def test_any_description_becomes_text_or_none(markup: str) -> None:
    with cpu_seconds(0.5, markup):
        text = plain(markup)
    assert text is None or text == " ".join(text.split())


def _answers() -> list[bytes]:
    made = b'{"products":[{"id":1,"title":"A","handle":"a","variants":[{"id":2,"price":"1.00","option1":"B"}]}]}'
    files = sorted((ROOT / "apis" / "files").glob("*.json"), key=lambda path: path.name)
    return [made, *(path.read_bytes() for path in files if "golden" not in path.name and path.stat().st_size < 40_000)]


@FUZZ
@given(spoiled(st.sampled_from(_answers()), most=3))
def test_a_spoiled_answer_is_read_or_refused_in_words(body: bytes) -> None:
    for read in READERS:
        _read(read, body)


@pytest.mark.parametrize(
    "part", ["<", "<p", "&", "&lt;", "<script>", "</script ", "<!--", "</p ", "a", "<br", " "], ids=range(11)
)
def test_a_long_description_costs_little(part: str) -> None:
    with cpu_seconds(2.0, part):
        plain(part * (2_000_000 // len(part)))
