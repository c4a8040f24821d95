"""Junk with structure: what is nearly right gets further into a parser than noise does."""

from __future__ import annotations

import gzip
import json
import re
from functools import lru_cache
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st

from storebot.demo.options import ShopOptions
from storebot.demo.pages import Pages
from storebot.demo.shop import Shop
from tests.shared_data import ROOT

# The same examples everywhere and every time; what takes too long is found by CPU time, not by the clock.
FUZZ = settings(derandomize=True, deadline=None, max_examples=200, database=None, print_blob=True)
CPU_S = 2.0  # of one example; nearly all take a millisecond


def listed(words: str) -> tuple[str, ...]:
    """Return the words of a text."""
    return tuple(words.split())


TYPES = ("Product", "ProductGroup", "Offer", "AggregateOffer", "Brand", "BreadcrumbList", "ListItem", "ItemList")
NAMES = listed(
    "@id @type @graph @value @context name url sku gtin gtin13 isbn mpn brand offers price priceCurrency lowPrice "
    "highPrice priceSpecification priceType minPrice maxPrice availability itemCondition hasVariant isVariantOf "
    "variesBy color size additionalProperty value aggregateRating ratingValue reviewCount category image contentUrl "
    "mainEntity mainEntityOfPage breadcrumb itemListElement item position productGroupID inProductGroupWithID seller "
    "itemOffered description referenceQuantity validForMemberTier"
)

odd_texts = st.sampled_from(
    (
        *("", " ", "\0", "-", "false", "null", "NaN", "{{ price }}", "\ud800", "\ufeff", "\u200b1", "١٢٣٫٤٥", "²", "½"),
        *("1", "12,50 EUR", "1.299,00", "1e999", "-1e-999", "9" * 5000, "1 2", "0.00", "99999999", "Infinity", "₿ 1"),
        *(
            "#a",
            "#b",
            "https://shop.example/p/1",
            "//[",
            "https://[",
            "http://shop.example:99999/",
            "javascript:1",
            "?variant=1",
        ),
        *("https://schema.org/InStock", "InStock", "http://schema.org/ListPrice", "EUR", "$", "eur", "XXX"),
        *(
            "Thing",
            "&amp;amp;",
            "&#" + "9" * 5000 + ";",
            "&#x110000;",
            "&#xD800;",
            "<b>",
            "]]>",
            "-->",
            "</script>",
            "'",
            '"',
            "\\",
        ),
    )
)
texts = st.one_of(odd_texts, st.text(max_size=20))
numbers = st.one_of(
    st.integers(), st.floats(), st.sampled_from((0, -1, 10**30, 10**200, 2**63, 1e308, float("inf"), float("nan")))
)
scalars = st.one_of(texts, numbers, st.booleans(), st.none())


def _nodes(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    typed = st.one_of(st.sampled_from(TYPES), st.lists(st.sampled_from(TYPES), max_size=3), inner)
    named = st.dictionaries(st.sampled_from(NAMES), inner, max_size=8)
    return st.one_of(
        named,
        st.builds(lambda node, kind: {**node, "@type": kind}, named, typed),
        st.lists(inner, max_size=4),
        st.builds(_wrapped, inner, st.sampled_from((2, 50, 99, 101, 300, 2000))),
    )


def _wrapped(value: Any, depth: int) -> Any:
    for _ in range(depth):
        value = [value]
    return value


values = st.recursive(scalars, _nodes, max_leaves=30)
products = st.builds(
    lambda node, more: {"@type": "Product", "name": "Thing", **node, **more},
    st.dictionaries(st.sampled_from(NAMES), values, max_size=10),
    st.dictionaries(
        st.sampled_from(("offers", "hasVariant", "image", "isVariantOf", "@graph")), st.lists(values, max_size=4)
    ),
)

_variants = st.builds(
    lambda node, sku, price: {"sku": sku, "offers": {"price": price}, **node, "@type": "Product"},
    st.dictionaries(st.sampled_from(NAMES), scalars, max_size=3),
    st.sampled_from(("s1", "s2", "s3", "s4")),
    st.sampled_from(("1", 2, "3,50", None)),
)
families = st.builds(
    lambda name, variants, node: {"@type": "ProductGroup", "name": name, **node, "hasVariant": variants},
    st.sampled_from(("Thing", "", None)),
    st.lists(_variants, min_size=2, max_size=5),
    st.dictionaries(st.sampled_from(NAMES), values, max_size=3),
)


things = st.one_of(products, families, values)


@st.composite
def json_texts(draw: st.DrawFn, value: st.SearchStrategy[Any] = things) -> str:
    """Return JSON as shops write it: right, or with what they do wrong."""
    text = _dumped(draw(value))
    for _ in range(draw(st.integers(0, 2))):
        text = draw(st.sampled_from(_SPOILERS))(text)
    return text


def _dumped(value: Any) -> str:
    """Return JSON of a value, however deep it is, and however long its numbers are."""
    if isinstance(value, dict):
        return "{" + ",".join(f"{json.dumps(name)}:{_dumped(inner)}" for name, inner in value.items()) + "}"
    depth = 0
    while isinstance(value, list) and len(value) == 1:
        value, depth = value[0], depth + 1
    if isinstance(value, list):
        text = "[" + ",".join(map(_dumped, value)) + "]"
    elif isinstance(value, dict):
        text = _dumped(value)
    elif isinstance(value, int) and not isinstance(value, bool) and abs(value) > 10**100:
        text = "9" * 5000
    else:
        text = json.dumps(value)
    return "[" * depth + text + "]" * depth


_SPOILERS = (
    lambda text: text.replace("}", ",}"),
    lambda text: text.replace('"', "'"),
    lambda text: text.replace('"', "&quot;"),
    lambda text: text[: len(text) // 2],
    lambda text: text + ";",
    lambda text: f"<!-- {text} -->",
    lambda text: f"/*<![CDATA[*/{text}/*]]>*/",
    lambda text: text.replace(" ", "\n"),
    lambda text: re.sub(r'"(\w+)":', r"\1:", text),
    lambda text: text.replace("\\u", "\\x"),
    lambda text: "\ufeff" + text,
    lambda text: text + text,
)


@lru_cache
def pages() -> tuple[bytes, ...]:
    """Return real pages: those of the demo store in each markup, and small ones of the corpus where it's there."""
    shop = Shop(ShopOptions(products=30, markup="mixed", variant_share=0.5))
    makes = Pages(shop, "https://shop.example")
    kinds = {product.markup: makes.product(product) for product in shop.products()}
    corpus = sorted((ROOT / "products" / "pages").glob("*.html.gz"), key=lambda path: (path.stat().st_size, path.name))
    return (*kinds.values(), makes.catalogue(1), *(gzip.decompress(path.read_bytes()) for path in corpus[:25]))


@st.composite
def spoiled(draw: st.DrawFn, originals: st.SearchStrategy[bytes], most: int = 6) -> bytes:
    """Return a document after byte flips, cuts, doubled parts, and parts of another one put into it."""
    body = draw(originals)
    for _ in range(draw(st.integers(1, most))):
        at = draw(st.integers(0, len(body)))
        length = draw(st.integers(0, 200))
        kind = draw(st.sampled_from(("flip", "cut", "end", "double", "splice", "junk")))
        if kind == "flip" and at < len(body):
            body = body[:at] + bytes([body[at] ^ (1 << length % 8)]) + body[at + 1 :]
        elif kind == "cut":
            body = body[:at] + body[at + length :]
        elif kind == "end":
            body = body[: max(at, len(body) // 2)]
        elif kind == "double":
            body = body[:at] + body[at : at + length] * 3 + body[at:]
        elif kind == "splice":
            other = draw(originals)
            start = draw(st.integers(0, len(other)))
            body = body[:at] + other[start : start + 10 * length] + body[at:]
        else:
            body = body[:at] + draw(st.binary(max_size=12)) + body[at:]
    return body
