"""What follows from a store's file: patterns, addresses, compiled rules, and the parser version."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest
from lxml import html

from storebot.core.normalise import normalise
from storebot.core.parsing.rules import Rule
from storebot.core.urls import url_key
from storebot.items import Availability, Extracted
from storebot.stores import load_store
from storebot.stores.model import PARSER_GENERATION
from tests.shared_data import shared
from tests.stores.writing import LEAST, read

BOOK = """
<html><body><ul class="breadcrumb"><li><a href="../../index.html">Home</a></li>
<li><a href="../category/books_1/index.html">Books</a></li>
<li><a href="../category/books/poetry_23/index.html">Poetry</a></li><li class="active">A Light</li></ul>
<article class="product_page">
<div id="product_gallery"><div class="item active"><img src="../../media/a.jpg"></div></div>
<div class="product_main"><h1>A Light</h1><p class="price_color">£51.77</p>
<p class="instock availability"><i class="icon-ok"></i> In stock (22 available) </p></div>
<div id="product_description"><h2>Product Description</h2></div><p>Verse.</p>
<table><tr><th>UPC</th><td>a897</td></tr><tr><th>Availability</th><td>In stock (22 available)</td></tr>
<tr><th>Number of reviews</th><td>0</td></tr></table></article>
<h1>Recently viewed</h1><p class="price_color">£1.00</p></body></html>
"""


def test_the_rules_of_a_file_are_compiled_in_their_order(tmp_path: Path) -> None:
    text = LEAST + (
        "[product]\nname = ['h1::text', 'xpath://h2', 're:<b>(.*?)</b>']\ncurrency = 'GBP'\nprefer = 'selectors'\n"
        "[catalogue]\nurl = '/c'\nnext = 'a.next::attr(href)'\nlinks = ['h3 a::attr(href)']\n"
    )
    store = read(tmp_path, text)
    assert [rule.source for rule in store.rules.fields["name"]] == ["css:h1::text", "xpath://h2", "re:<b>(.*?)</b>"]
    assert set(store.rules.fields) == {"name"}
    assert store.rules.declared == {"currency": "GBP"}
    assert store.rules.prefer == "selectors"
    assert store.next_rule is not None
    assert store.next_rule.source == "css:a.next::attr(href)"
    assert [rule.source for rule in store.link_rules] == ["css:h3 a::attr(href)"]


def test_a_currency_may_be_found_by_rules(tmp_path: Path) -> None:
    store = read(tmp_path, LEAST + "[product]\ncurrency = ['.price::attr(data-currency)']")
    assert store.rules.declared == {}
    assert [rule.kind for rule in store.rules.fields["currency"]] == ["css"]


def test_a_page_is_normalised_by_what_the_store_declares(tmp_path: Path) -> None:
    text = LEAST + (
        "[product]\ndecimal = ','\ncurrency = 'EUR'\n[product.availability_phrases]\n'Auf Anfrage' = 'BackOrder'\n"
    )
    context = read(tmp_path, text).context(url="https://shop.example/p/1?x", url_key="https://shop.example/p/1")
    assert (context.store, context.url_key) == ("acme", "https://shop.example/p/1")
    assert (context.decimal, context.currency) == (",", "EUR")
    page = {"name": "Kettle", "price": "1.299,50", "availability": "Auf Anfrage"}
    extracted = Extracted(values=dict(page), sources=dict.fromkeys(page, "css:x"))
    listing, problems = normalise(extracted, context)
    assert (listing.price_minor, listing.currency, problems) == (129_950, "EUR", ())
    assert listing.availability is Availability.BACK_ORDER


def test_a_currency_that_rules_find_is_not_declared(tmp_path: Path) -> None:
    store = read(tmp_path, LEAST + "[product]\ncurrency = ['.c']")
    assert store.context(url="https://shop.example/p/1", url_key="").currency is None


def test_without_rules_every_link_is_looked_at_and_pages_are_counted(tmp_path: Path) -> None:
    for text in (LEAST, LEAST + "[catalogue]\nurl = '/c/{page}'"):
        store = read(tmp_path, text)
        assert (store.link_rules, store.next_rule) == ((), None)


def test_paths_are_put_behind_base_url_whose_own_path_is_kept(tmp_path: Path) -> None:
    text = LEAST.replace("shop.example", "shop.example/en/")
    store = read(tmp_path, text + "[catalogue]\nurl = ['/c/{page}', 'https://other.example/{page}']")
    assert store.base_url == "https://shop.example/en"
    assert store.catalogue_urls == ("https://shop.example/en/c/{page}", "https://other.example/{page}")


def test_an_equals_sign_in_an_address_stays(tmp_path: Path) -> None:
    store = read(tmp_path, LEAST + "[catalogue]\nurl = '/list?cat=a=b&p={page}'")
    assert store.catalogue_urls == ("https://shop.example/list?cat=a=b&p={page}",)


def test_sitemaps_and_their_pattern(tmp_path: Path) -> None:
    store = read(tmp_path, LEAST + "[discover]\nsitemaps = ['/s.xml']\nsitemap_url = 'product'")
    assert store.sitemap_urls == ("https://shop.example/s.xml",)
    assert store.sitemap_pattern == re.compile("product")
    assert read(tmp_path).sitemap_urls == ()
    assert read(tmp_path).sitemap_pattern is None


def test_keys_fold_the_hosts_of_the_shop(tmp_path: Path) -> None:
    text = LEAST + "[keys]\ndrop = ['view']\nkeep = ['ref']\naliases = ['m.shop.example']\n"
    rules = read(tmp_path, text).key_rules
    assert url_key("http://m.shop.example/p/1?view=a&ref=b", rules) == "https://shop.example/p/1?ref=b"


@pytest.mark.parametrize("base_url", ["http://shop.example:80", "https://shop.example:443", "HTTPS://Shop.Example"])
def test_the_host_of_the_keys_has_no_port_that_says_nothing(tmp_path: Path, base_url: str) -> None:
    text = LEAST.replace("https://shop.example", base_url) + "[keys]\naliases = ['m.shop.example']"
    assert url_key("https://m.shop.example/p/1", read(tmp_path, text).key_rules) == "https://shop.example/p/1"


@pytest.mark.parametrize(
    "same",
    [
        "# a comment\n" + LEAST,
        LEAST + "[politeness]\ndelay_s = 9",
        LEAST + "[catalogue]\nurl = '/c/{page}'",
        LEAST + "[keys]\nmerge_slashes = false\n[product]\nprefer = 'structured'",  # defaults, spelt out
        LEAST.replace("shop.example", "other.example"),
    ],
)
def test_what_does_not_touch_parsing_keeps_the_parser_version(tmp_path: Path, same: str) -> None:
    assert read(tmp_path, same).parser_version == read(tmp_path).parser_version


@pytest.mark.parametrize(
    "other",
    [
        LEAST.replace("/p/", "/q/"),
        LEAST + "[product]\nname = ['h1']",
        LEAST + "[product]\ncurrency = 'GBP'",
        LEAST + "[product]\ndecimal = ','",
        LEAST + "[product]\nprefer = 'selectors'",
        LEAST + "[product.availability_phrases]\n'auf anfrage' = 'BackOrder'",
        LEAST + "[keys]\ndrop = ['x']",
        LEAST + "[keys]\nkeep = ['x']",
    ],
)
def test_what_touches_parsing_moves_the_parser_version(tmp_path: Path, other: str) -> None:
    assert read(tmp_path, other).parser_version != read(tmp_path).parser_version


def test_the_order_of_rules_counts_and_the_order_of_keys_does_not(tmp_path: Path) -> None:
    def version(lines: str) -> str:
        return read(tmp_path, f"{LEAST}[product]\n{lines}").parser_version

    assert version("name = ['a', 'b']") != version("name = ['b', 'a']")
    assert version("name = ['a']\nsku = ['b']") == version("sku = ['b']\nname = ['a']")


def test_the_parser_version_is_the_generation_and_eight_digits_of_the_fingerprint(tmp_path: Path) -> None:
    store = read(tmp_path)
    assert store.parser_version == f"{PARSER_GENERATION}-{store.fingerprint()[:8]}"
    # Pinned: every known page is read anew when this moves, so it may only move on purpose.
    assert store.parser_version == "3-6adaa942"


def test_books_product_pattern_takes_every_listed_book_and_no_category() -> None:
    pattern = load_store("books").product_pattern
    with shared("sites/books-toscrape-listing.golden.csv").open(encoding="utf-8", newline="") as rows:
        urls = [row["URL"] for row in csv.DictReader(rows)]
    assert len(urls) > 900
    assert [url for url in urls if not pattern.search(url)] == []
    for other in ("page-2.html", "category/books_1/index.html", "category/books/travel_2/index.html"):
        assert not pattern.search(f"https://books.toscrape.com/catalogue/{other}")


def test_books_rules_read_a_page_of_its_layout() -> None:
    tree = html.fromstring(BOOK)

    def found(rule: Rule) -> list[str]:
        assert not isinstance(rule.compiled, re.Pattern)
        values = rule.compiled(tree)
        assert isinstance(values, list)
        return [str(value).strip() for value in values]

    assert {name: found(rules[0]) for name, rules in load_store("books").rules.fields.items()} == {
        "name": ["A Light"],
        "price": ["£51.77"],
        "sku": ["a897"],
        "availability": ["In stock (22 available)"],
        "category_path": ["Books", "Poetry"],
        "images": ["../../media/a.jpg"],
        "description": ["Verse."],
        "review_count": ["0"],
    }


def test_demo_reads_its_own_addresses_at_full_speed() -> None:
    store = load_store("demo")
    assert store.product_pattern.search("http://127.0.0.1:8400/p/blue-kettle-17")
    assert not store.product_pattern.search("http://127.0.0.1:8400/catalogue/page-17.html")
    assert store.catalogue_urls == ("http://127.0.0.1:8400/catalogue/page-{page}.html",)
    assert store.discover.sitemaps is True
    assert (store.politeness.delay_s, store.politeness.concurrency) == (0.0, 16)
