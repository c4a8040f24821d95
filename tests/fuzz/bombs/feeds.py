"""Product feeds and listings of platforms, made to fill the memory or to take for ever."""

from __future__ import annotations

from collections.abc import Callable

from tests.fuzz.bombs.making import MB, chained, filled, gigabyte, numbered, zeros, zipped
from tests.fuzz.bombs.reading import listing, shopify_listing, woocommerce_listing
from tests.fuzz.bombs.sitemaps import LAUGHS

_RSS = b'<rss xmlns:g="http://base.google.com/ns/1.0"><channel>'
_ITEM = b"<item><g:id>%d</g:id><title>Thing</title><link>https://shop.example/p/1?v=%d</link></item>"
FEEDS: dict[str, Callable[[], bytes]] = {
    "billion_laughs": lambda: (
        LAUGHS.replace(b"urlset", b"rss") + _RSS + b"<item><title>&a11;</title><link>https://a.example/</link></item>"
    ),
    "comments_before_the_root": lambda: b"<!---->" * 40 + b"<!DOCTYPE ",
    "gzip_of_zeros": gigabyte,
    "gzip_of_elements": lambda: zipped(chained(_RSS, zeros(16 * MB // 4, b"<y/>"))),
    "gzip_of_one_item": lambda: zipped(chained(_RSS + b"<item>", zeros(16 * MB // 4, b"<y/>"))),
    "small_items": lambda: filled(_RSS, b"<item><link>a</link><title>b</title></item>", 7 * MB),
    "variants_of_one_page": lambda: _RSS + b"".join(_ITEM % (n, n) for n in range(20_000)),
    "one_line": lambda: zipped(chained(b"id\ttitle\tlink", zeros(64 * MB, b"\ta"))),
    "short_rows": lambda: zipped(chained(b"id\ttitle\tlink\n", zeros(60 * MB, b"\n"))),
    "open_quote": lambda: filled(b'id,title,link\n"', b"a", 60 * MB),
    "empty_lists": lambda: filled(b"[", b"[],", 60 * MB, b"[]]"),
    "nested_lists": lambda: b"[" * MB,
    "titles_of_an_error_page": lambda: filled(b"<html>", b"<title", 50 * MB),
}


def _woo_of_terms() -> bytes:
    terms = numbered(b'[{"slug":"s"}', b',{"slug":"s%d","name":"S"}', 100_000, b"]")
    chosen = numbered(b'[{"id":0}', b',{"id":%d,"attributes":[{"name":"Size","value":"none"}]}', 100_000, b"]")
    return b"[" + _WOO % (b'"attributes":[{"name":"Size","terms":' + terms + b'}],"variations":' + chosen) + b"]"


_WOO = b'{"id":1,"type":"variable","name":"Thing","permalink":"https://shop.example/p/1","prices":{"price":"1"},%s}'
LISTINGS: dict[str, Callable[[], str]] = {
    "shopify_empty_lists": lambda: listing(shopify_listing, filled(b'{"products":[', b"[],", 31 * MB, b"[]]}")),
    "shopify_variants": lambda: listing(
        shopify_listing,
        numbered(b'{"products":[{"handle":"a","title":"A","variants":[{}', b',{"id":%d}', 100_000, b"]}]}"),
    ),
    "shopify_amounts": lambda: listing(
        shopify_listing,
        b'{"products":[{"handle":"a","title":"A","variants":['
        + b'{"price":{"amount":' * 90
        + b"1"
        + b"}}" * 90
        + b"]}]}",
    ),
    "shopify_description": lambda: listing(
        shopify_listing,
        b'{"products":['
        + b",".join([b'{"handle":"a","title":"A","body_html":"<p ' + numbered(b"", b"a%d ", 30_000) + b'>"}'] * 100)
        + b"]}",
    ),
    "woocommerce_terms": lambda: listing(woocommerce_listing, _woo_of_terms()),
    "woocommerce_line": lambda: listing(
        woocommerce_listing, b"[" + _WOO % (b'"variation":"A,' + b" " * (8 * MB) + b'"') + b"]"
    ),
    "woocommerce_amounts": lambda: listing(
        woocommerce_listing, b"[" + _WOO.replace(b'"1"', b'"' + b"9" * (3 * MB) + b'"', 1) % b'"x":1' + b"]"
    ),
}
