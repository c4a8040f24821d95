"""Documents that are made to fill the memory or to take for ever: each is refused, or read in part, in words."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from tests.fuzz.bombs import BOMBS, MEMORY, run
from tests.fuzz.bombs.making import MB

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the limits of a process are Linux's")

CPU_S = 6.0  # two to three times what the dearest takes
REFUSED = "0 records, 0 links; page: the page has 5[0-9,]+ bytes: more than 8,388,608 aren't read"
NO_TREE = "page: the page has [0-9,]+ tags: of more than 250,000 no tree is built"
CROWDED = "page: a tag of the page has a thousand attributes: no tree is built"
GAP = "has [4-9],[0-9,]+ characters without an (entry|item)"

# What must be said; where nothing stands here, the document is read like any other, and ends in time.
SAID = {
    "page_of_50_mb_of_text": REFUSED,
    "page_of_50_mb_of_tags": REFUSED,
    "page_of_50_mb_in_one_attribute": REFUSED,
    "page_of_50_mb_of_json_ld": REFUSED,
    "page_of_a_million_links": REFUSED,
    "page_of_a_million_attributes": REFUSED,
    "utf_16": NO_TREE,
    "empty_tags": NO_TREE,
    "unclosed_tags": NO_TREE,
    "unclosed_comments": NO_TREE,
    "titles": NO_TREE,
    "a_hundred_thousand_attributes": CROWDED,
    "attributes_that_hide_brackets": CROWDED,
    "the_most_tags": "1 records",
    "the_most_tags_of_prices": "1 records",
    "the_most_links": "20000 links",
    "nested_items": "microdata: the page marks more than 5,000 elements as microdata",
    "a_number_of_a_character": "characters that couldn't be decoded",
    "json_ld_nested": "jsonld: .* it is nested more than 100 levels deep",
    "json_ld_nested_well": "jsonld: .* it is nested more than 100 levels deep",
    "json_ld_of_quotes": "jsonld: .* too long to be repaired",
    "json_ld_of_ticks": "jsonld: .* can't be read",
    "json_ld_of_other_products": "JSON-LD describes 1[0-9]+ products",
    "json_ld_of_offers": "1 records.*variants: the page gives more than 2000 offers",
    "json_ld_of_equal_offers": "variants: the page gives more than 5000 offers|more than 2000 offers",
    "json_ld_of_variants": "variants: the page gives more than 2000 variants",
    "json_ld_that_refers_to_offers": "variants: the page gives more than 5000 offers",
    "json_ld_variants_of_a_long_description": "1900 records",
    "json_ld_of_itself": "1 records",
    "microdata": "microdata: the page marks more than 5,000 elements",
    "microdata_that_refers": "microdata: the microdata of the page has more than 20,000 properties",
    "microdata_that_refers_to_what_it_is_in": "more than 20,000 properties",
    "microdata_of_nested_texts": "more than 1,000,000 characters",
    "rdfa_nested": "rdfa: the page marks more than 5,000 elements as rdfa",
    "sitemap_billion_laughs": "1 entries, 0 lost, complete",
    "sitemap_billion_laughs_of_parameters": "incomplete",
    "sitemap_quadratic_entities": "not a sitemap: nothing is known from it",
    "sitemap_many_entities": "not a sitemap: nothing is known from it",
    "sitemap_gzip_of_a_gigabyte_of_zeros": "not a sitemap: nothing is known from it",
    "sitemap_gzip_in_gzip_in_gzip": "packed with gzip more than 2 times",
    "sitemap_gzip_in_gzip_of_zeros": "not a sitemap: nothing is known from it",
    "sitemap_gzip_of_text": "too large: more than 209715200 bytes when unpacked",
    "sitemap_gzip_of_elements": GAP,
    "sitemap_gzip_of_one_entry": "an entry of more than 20,000 elements",
    "sitemap_gzip_of_brackets": GAP,
    "sitemap_gzip_of_ampersands": GAP,
    "sitemap_gzip_of_cdata": GAP,
    "sitemap_gzip_of_a_comment": GAP,
    "sitemap_gzip_of_an_attribute": GAP,
    "sitemap_gzip_of_distinct_attributes": GAP,
    "sitemap_many_members": "is empty, not a sitemap",
    "sitemap_nested_elements_of_xml": "lost, incomplete",
    "sitemap_blank_lines": "not a sitemap",
    "sitemap_titles_of_an_error_page": "an HTML page, not a sitemap",
    "sitemap_comments_before_the_root": "not a sitemap",
    "sitemap_declarations": "not a sitemap",
    "feed_billion_laughs": "not a product feed",
    "feed_comments_before_the_root": "not a product feed",
    "feed_gzip_of_zeros": "too large: more than 134217728 bytes when unpacked",
    "feed_gzip_of_elements": GAP,
    "feed_gzip_of_one_item": "an item of more than 20,000 elements",
    "feed_small_items": "more than 150,000 items",
    "feed_one_line": "too large: more than 134217728 bytes when unpacked",
    "feed_short_rows": "carries no product",
    "feed_open_quote": "its table breaks off: field larger than field limit",
    "feed_empty_lists": "its JSON has more than 20,971,520 characters",
    "feed_nested_lists": "its JSON is nested too deeply",
    "feed_titles_of_an_error_page": "an HTML page, not a product feed",
    "shopify_empty_lists": "its JSON has 3[0-9,]+ bytes",
    "shopify_variants": "1 products, 0 records",  # its own page is asked
    "shopify_amounts": "its JSON is nested too deeply",
    "woocommerce_amounts": "1 products",
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_is_read_in_bounds_and_named(name: str, tmp_path: Path) -> None:
    cost = run(name, tmp_path / "said.json")
    assert re.search(SAID.get(name, ""), cost.said), cost
    assert cost.cpu_s < CPU_S, cost
    assert cost.megabytes * MB < MEMORY, cost


def test_what_must_be_said_is_said_of_bombs() -> None:
    assert SAID.keys() <= BOMBS.keys()
