"""Microdata and RDFa that refer to each other, or stand in each other."""

from __future__ import annotations

from collections.abc import Callable

from tests.fuzz.bombs.making import MB, filled

TREES: dict[str, Callable[[], bytes]] = dict(
    microdata=lambda: filled(
        b"<div itemscope itemtype=https://schema.org/Product><b itemprop=name>Thing</b>",
        b"<b itemprop=sku>1</b>",
        100_000 * 22,
    ),
    microdata_that_refers=lambda: (
        b"<div itemscope itemtype=https://schema.org/Product><b itemprop=name>Thing</b></div>"
        + b'<i itemscope itemref="x"></i>' * 2400
        + b"<div id=x>"
        + b"<b itemprop=sku>1</b>" * 2400
    ),
    microdata_that_refers_to_what_it_is_in=lambda: (
        b"<div itemtype=https://schema.org/Product itemscope>"
        + b"<div id=x itemprop=a>" * 1900
        + b'<i itemscope itemref="x"></i>' * 3000
    ),
    microdata_of_nested_texts=lambda: (
        b"<div itemscope itemtype=https://schema.org/Product>"
        + b"<b itemprop=description>" * 2000
        + b"some text " * 100_000
    ),
    rdfa_words=lambda: filled(
        b'<div vocab="https://schema.org/" typeof="Product"><b property="', b"name ", 4 * MB, b'">Thing</b>'
    ),
    rdfa_nested=lambda: (
        b'<div vocab="https://schema.org/" typeof="Product">'
        + b'<b property="name sku gtin">' * 2000
        + b'<b property="name sku gtin">1</b>' * 4000
    ),
    rdfa_prefixes=lambda: b'<div typeof="schema:Product" prefix="' + b"a" * (7 * MB) + b'">',
)
