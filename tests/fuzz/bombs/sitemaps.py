"""Sitemaps that unpack, or expand, to more than there is memory; and some that only take long."""

from __future__ import annotations

import gzip
from collections.abc import Callable

from tests.fuzz.bombs.making import MB, chained, filled, gigabyte, numbered, zeros, zipped

_URLSET = b'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
_ENTRY = b"<url><loc>https://shop.example/p/%d</loc></url>"
LAUGHS = (
    b"<!DOCTYPE urlset [<!ENTITY a0 'ha'>"
    + b"".join(b"<!ENTITY a%d '%s'>" % (n, b"&a%d;" % (n - 1) * 10) for n in range(1, 12))
    + b"]>"
)
_LAUGHS_OF_PARAMETERS = (
    b"<!DOCTYPE urlset [<!ENTITY % a0 '<!ENTITY x \"ha\">'>"
    + b"".join(b"<!ENTITY %% a%d '%s'>" % (n, b"&#37;a%d;" % (n - 1) * 10) for n in range(1, 12))
    + b"%a11;]>"
)
_QUADRATIC = b"<!DOCTYPE urlset [<!ENTITY a '" + b"a" * 500_000 + b"'>]>"
SITEMAPS: dict[str, Callable[[], bytes]] = {
    "billion_laughs": lambda: LAUGHS + _URLSET + b"<url><loc>https://shop.example/&a11;</loc></url></urlset>",
    "billion_laughs_of_parameters": lambda: _LAUGHS_OF_PARAMETERS + _URLSET + _ENTRY % 1 + b"</urlset>",
    "quadratic_entities": lambda: _QUADRATIC + _URLSET + b"<url><loc>" + b"&a;" * 100_000 + b"</loc></url></urlset>",
    "many_entities": lambda: numbered(b"<!DOCTYPE urlset [", b"<!ENTITY e%d 'a'>", 2_000_000, b"]>") + _URLSET,
    "gzip_of_a_gigabyte_of_zeros": gigabyte,
    "gzip_in_gzip_in_gzip": lambda: zipped(iter([_URLSET + _ENTRY % 1 + b"</urlset>"]), 3),
    "gzip_in_gzip_of_zeros": lambda: gzip.compress(gigabyte()),
    "gzip_of_text": lambda: zipped(chained(b"https://shop.example/a\n", zeros(250 * MB, b"a"))),
    "gzip_of_elements": lambda: zipped(chained(_URLSET + b"<x>", zeros(16 * MB // 4, b"<y/>"))),
    "gzip_of_one_entry": lambda: zipped(chained(_URLSET + b"<url>", zeros(16 * MB // 4, b"<y/>"))),
    "gzip_of_brackets": lambda: zipped(chained(_URLSET, zeros(16 * MB, b"<"))),
    "gzip_of_ampersands": lambda: zipped(chained(_URLSET + b"<url><loc>", zeros(16 * MB, b"&"))),
    "gzip_of_cdata": lambda: zipped(chained(_URLSET + b"<url><loc>", zeros(16 * MB // 12, b"<![CDATA[]]>"))),
    "gzip_of_a_comment": lambda: zipped(chained(_URLSET + b"<!--", zeros(16 * MB, b"a"))),
    "gzip_of_an_attribute": lambda: zipped(chained(b"<urlset a='", zeros(16 * MB, b"a"))),
    "gzip_of_distinct_attributes": lambda: zipped(iter([numbered(b"<urlset ", b"a%d='' ", 2_000_000, b">")])),
    "many_members": lambda: gzip.compress(b"") * 200_000,
    "nested_elements_of_xml": lambda: filled(_URLSET, b"<url>", 3 * MB),
    "blank_lines": lambda: b"x" + b"\n" * (50 * MB),
    "titles_of_an_error_page": lambda: filled(b"<html>", b"<title", 50 * MB),
    "comments_before_the_root": lambda: filled(b"", b"<!---->", 50 * MB),
    "declarations": lambda: filled(b"", b"<?xml ", 50 * MB),
}
