"""JSON-LD that is deep, long, broken, or refers to itself."""

from __future__ import annotations

from collections.abc import Callable

from tests.fuzz.bombs.making import filled, numbered
from tests.fuzz.bombs.pages import SCRIPT, SHOWN

_THINGS = b'{"@context":"https://schema.org","@type":"Product","name":"Thing",'


def _referring(variants: int, of_each: bytes, *nodes: bytes) -> bytes:
    """Return a ProductGroup of variants that all refer to other nodes."""
    listed = b",".join(b'{"@type":"Product","sku":"s%d",%s}' % (number, of_each) for number in range(variants))
    group = b'{"@type":"ProductGroup","name":"Thing","hasVariant":[' + listed + b"]}"
    return SCRIPT % (b'{"@graph":[' + b",".join((*nodes, group)) + b"]}")


JSON_LD: dict[str, Callable[[], bytes]] = dict(
    json_ld_nested=lambda: SCRIPT % (b"[" * 100_000) + SHOWN,
    json_ld_nested_well=lambda: SCRIPT % (_THINGS + b'"offers":' + b'{"offers":' * 900 + b"1" + b"}" * 901) + SHOWN,
    json_ld_of_quotes=lambda: SCRIPT % (b'{"a":"\\' + b'"\\' * 1_900_000) + SHOWN,
    json_ld_of_ticks=lambda: (SCRIPT % (b"['',\"" * 199_000)) * 8 + SHOWN,
    json_ld_of_empty_lists=lambda: SCRIPT % filled(b"[", b"[],", 4_000_000 - 10, b"1]"),
    json_ld_blocks=lambda: (SCRIPT % (_THINGS + b'"sku":"1"}')) * 60_000,
    json_ld_of_other_products=lambda: (
        SCRIPT % numbered(b"[{}", b',{"@type":"Product","name":"Thing %d"}', 90_000, b"]")
    ),
    json_ld_of_long_names=lambda: (
        SCRIPT % (b"[" + b",".join([b'{"@type":"Product","name":"' + b"&amp;" * 7000 + b'%d"}'] * 99) + b"]")
    ),
    json_ld_of_offers=lambda: (
        SCRIPT % numbered(_THINGS + b'"offers":[{}', b',{"price":"%d","priceCurrency":"EUR"}', 100_000, b"]}")
    ),
    json_ld_of_equal_offers=lambda: SCRIPT % filled(_THINGS + b'"offers":[{}', b',{"price":"1"}', 3_900_000, b"]}"),
    json_ld_of_variants=lambda: (
        SCRIPT
        % numbered(
            b'{"@type":"ProductGroup","name":"Thing","hasVariant":[{}',
            b',{"@type":"Product","sku":"%d","offers":{"price":1}}',
            68_000,
            b"]}",
        )
    ),
    json_ld_that_refers_to_offers=lambda: _referring(
        2000,
        b'"offers":{"@id":"#o"}',
        numbered(b'{"@id":"#o","@type":"AggregateOffer","offers":[{}', b',{"price":"%d"}', 2000, b"]}"),
    ),
    json_ld_that_refers_to_a_text=lambda: _referring(
        2000,
        b'"image":[' + b",".join([b'{"@id":"#i"}'] * 50) + b"]",
        b'{"@id":"#i","x":1,"url":"' + b"&amp;" * 20_000 + b'"}',
    ),
    json_ld_variants_of_a_long_description=lambda: (
        SCRIPT
        % numbered(
            b'{"@type":"ProductGroup","name":"Thing","description":"'
            + "a\u200bé ".encode() * 12_000
            + b'","hasVariant":[{}',
            b',{"@type":"Product","sku":"%d","offers":{"price":1}}',
            1900,
            b"]}",
        )
    ),
    json_ld_of_itself=lambda: (
        SCRIPT % b'{"@id":"#a","@type":"Product","name":"Thing","isVariantOf":{"@id":"#a"},"hasVariant":[{"@id":"#a"}]}'
    ),
    json_ld_of_infinities=lambda: (
        SCRIPT
        % (_THINGS + b'"offers":[{"price":NaN},{"price":1e999},{"price":[1e999]},{"price":' + b"9" * 100_000 + b"}]}")
    ),
)
