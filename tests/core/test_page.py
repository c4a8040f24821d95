"""A page computes what it derives once, and leaves nothing behind."""

from __future__ import annotations

import gc
import hashlib

import pytest

from storebot.core.page import MAX_BYTES, Page

URL = "https://shop.example/c/p"


def test_the_tree_is_built_once() -> None:
    page = Page(url=URL, body=b"<h1>Drill</h1>")
    assert page.root is not None
    assert page.root is page.root


@pytest.mark.parametrize("body", [b"", b"   ", b"<!-- only a comment -->", b"\0\0"])
def test_a_body_without_elements_has_no_tree(body: bytes) -> None:
    assert Page(url=URL, body=body).root is None


def test_the_tree_sees_what_follows_a_nul_character_e05() -> None:
    page = Page(url=URL, body=b"<html><h1>Drill\0</h1><span itemprop=price content=49></span>")
    assert page.root is not None
    assert page.root.xpath("//@content") == ["49"]


def test_an_xml_declaration_does_not_change_the_encoding_of_the_tree() -> None:
    body = '<?xml version="1.0" encoding="iso-8859-1"?><html><p>é</p></html>'.encode()
    page = Page(url=URL, body=body, headers={"content-type": "text/html; charset=utf-8"})
    assert page.root is not None
    assert page.root.xpath("string(//p)") == "é"


@pytest.mark.parametrize("body", [b"<div>" * 100_000 + b"x", b"<b><i>" * 50_000, b"<a href='" * 20_000])
def test_deep_and_broken_markup_is_bounded(body: bytes) -> None:
    root = Page(url=URL, body=body).root
    assert root is not None
    assert len(list(root.iter())) < 3000


@pytest.mark.parametrize(
    ("head", "base"),
    [
        ("", URL),
        ("<base href='/other/'>", "https://shop.example/other/"),
        ("<BASE target=_top HREF=https://cdn.example/x/>", "https://cdn.example/x/"),
        ("<base target=_top>", URL),
        ("<base href='http://[broken'>", URL),
    ],
)
def test_the_base_of_relative_urls(head: str, base: str) -> None:
    assert Page(url=URL, body=f"<html><head>{head}</head>".encode()).base_url == base


@pytest.mark.parametrize(
    ("head", "canonical"),
    [
        (
            "<script>var canonical = 1</script><link href='/p/1?a=1&amp;b=2' rel='canonical'>",
            "https://shop.example/p/1?a=1&b=2",
        ),
        ('<LINK REL=canonical HREF="https://shop.example/p/1">', "https://shop.example/p/1"),
        ('<base href="https://other.example/"><link rel="canonical" href="p/1">', "https://other.example/p/1"),
        ('<a rel="canonical" href="/p/1">', None),
        ('<link rel="alternate" title="canonical" href="/p/1">', None),
        ("", None),
    ],
)
def test_the_canonical_url_is_found_without_a_tree(head: str, canonical: str | None) -> None:
    assert Page(url=URL, body=f"<html><head>{head}</head>".encode()).canonical_url == canonical


def test_the_hash_is_of_the_bytes() -> None:
    assert Page(url=URL, body=b"x").sha256 == hashlib.sha256(b"x").hexdigest()


def test_a_rendered_page_is_read_in_the_charset_given_e01() -> None:
    headers = {"content-type": "text/html; charset=iso-8859-15"}
    page = Page(url=URL, body="Müller Töpfe".encode(), headers=headers, tier="browser", charset="utf-8")
    assert page.text == "Müller Töpfe"


def test_a_page_is_freed_without_the_garbage_collector() -> None:
    gc.collect()
    gc.disable()
    try:
        page = Page(url=URL, body=b"<html><head><link rel=canonical href=/x></head><h1>Drill</h1>")
        assert page.root is not None
        assert page.text
        assert page.canonical_url
        del page
        assert gc.collect() == 0
    finally:
        gc.enable()


def test_a_page_above_the_limit_is_refused_in_words() -> None:
    page = Page(url=URL, body=b"<p>" + b"a" * MAX_BYTES)
    assert page.root is None
    assert page.refusal == "the page has 8,388,611 bytes: more than 8,388,608 aren't read"
    assert Page(url=URL, body=b"<p>" + b"a" * (MAX_BYTES - 3)).root is not None


def test_of_too_many_tags_no_tree_is_built() -> None:
    page = Page(url=URL, body=b"<br>" * 250_001)
    assert page.refusal == ""  # nobody counted yet
    assert page.root is None
    assert page.refusal == "the page has 250,001 tags: of more than 250,000 no tree is built"


@pytest.mark.parametrize(
    "tag",
    [
        "<p {} ",
        "<p/{}/",
        '<p {}=">" ',
        '<p {}=">"',
        '<p {}=b" ',
        "<p ={} ",
        "<a<$ {} ",
        "<a<b<1 {} ",
        "<p {}=\n",
        "<p '{} ",
    ],
)
def test_a_tag_of_a_thousand_attributes_is_seen_whatever_hides_it(tag: str) -> None:
    start, _, attribute = tag.partition("{}")
    opening, last = start.rstrip(" /'="), start[len(start.rstrip(" /'=")) :]
    body = opening + "".join(f"{last if index == 0 or last != ' ' else ''}a{index}{attribute}" for index in range(2100))
    page = Page(url=URL, body=(body + ">" + " " * 200_000).encode())
    assert page.root is None
    assert page.refusal == "a tag of the page has a thousand attributes: no tree is built"
