"""The links of catalogue pages."""

from __future__ import annotations

import re

from storebot.core.parsing.links import next_link, read_links
from storebot.core.parsing.rules import compile_rule
from tests.core.parsing.pages import page

ANY = re.compile("/p/")
BODY = """<nav><a href="/p/menu">m</a></nav>
<div class=grid><a href="/p/2">2</a> <a href="1">rel</a> <a href="/p/2#reviews">again</a> <a name=x>no</a>
<a href="mailto:x@y">m</a> <a href="javascript:void(0)">j</a> <a href="http://[">broken</a> <a href="/help">h</a>
<area href="https://shop.example/p/3"></div>"""
SHOP = "https://shop.example"


def test_links_are_absolute_unique_and_in_page_order() -> None:
    found = read_links(page(BODY, url=f"{SHOP}/p/x"), ANY)
    assert found == [f"{SHOP}/p/menu", f"{SHOP}/p/2", f"{SHOP}/p/1", f"{SHOP}/p/3"]


def test_rules_narrow_to_what_they_select() -> None:
    in_grid = [f"{SHOP}/p/2", f"{SHOP}/p/3"]
    for text in (".grid", ".grid a, .grid area", ".grid a::attr(href), .grid area::attr(href)"):
        assert read_links(page(BODY), ANY, (compile_rule(text),)) == [in_grid[0], f"{SHOP}/p/1", in_grid[1]]


def test_a_base_moves_relative_links() -> None:
    found = read_links(page('<a href="p/1">', head='<base href="https://other.example/">'), ANY)
    assert found == ["https://other.example/p/1"]


def test_the_next_page_is_what_the_rule_says_or_rel_next() -> None:
    body = '<a class=more href="?page=3">next</a>'
    head = '<link rel="prev next" href="/c?page=2">'
    assert next_link(page(body, head), compile_rule(".more")) == f"{SHOP}/p/a1?page=3"
    assert next_link(page(body, head), compile_rule(".none")) == f"{SHOP}/c?page=2"
    assert next_link(page(body)) is None


def test_a_page_without_elements_has_no_links() -> None:
    empty = page()
    empty.body = b""
    assert read_links(empty, ANY) == []
    assert next_link(empty, compile_rule("a")) is None
