"""What a canonical link and an AMP link may mean for a key, before any record is looked at."""

from __future__ import annotations

import json
import re
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storebot.core.canonical import amp_copy, claimed_key, is_amp
from storebot.core.page import Page
from storebot.core.urls import KeyRules, same_site, url_key
from tests.shared_data import shared

SHOP = "https://shop.example"


def claimed(canonical: str | None, url: str = "/p/1", rules: KeyRules = KeyRules()) -> str:  # noqa: B008  # frozen
    """Return what a page claims in a shop whose products are below /p/, by paths alone."""
    found = claimed_key(
        canonical,
        SHOP + url,
        rules,
        is_product=lambda found: same_site(found, SHOP, rules.aliases) and re.search(r"/p/|[?&]id=", found),
        listings={f"{SHOP}/p/all"},
    )
    return found.removeprefix(SHOP)


@pytest.mark.parametrize(
    ("canonical", "url", "expected"),
    [
        (f"{SHOP}/p/1", "/tools/p/1", "/p/1"),
        (f"{SHOP}/p/1", "/p/1/amp", "/p/1"),
        (f"{SHOP}/p/1", "/p/1?amp=1", "/p/1"),
        (f"{SHOP}/p/1", "/p/1?from=mail", "/p/1"),
        (f"{SHOP}/p/1?lang=en", "/p/1", "/p/1?lang=en"),
        (f"{SHOP}/p/mug-57", "/index.php?id=57", "/p/mug-57"),
    ],
)
def test_product_page_of_the_shop_is_claimed(canonical: str, url: str, expected: str) -> None:
    assert claimed(canonical, url) == expected


@pytest.mark.parametrize(
    ("canonical", "url"),
    [
        (None, "/p/1"),
        ("", "/p/1"),
        (f"{SHOP}/p/1", "/p/1"),
        ("http://www.shop.example/p/1/?utm_source=x", "/p/1"),
        (f"{SHOP}/", "/p/1"),
        (f"{SHOP}/p/all", "/p/1"),
        (f"{SHOP}/about", "/p/1"),
        ("https://elsewhere.example/p/1", "/p/1"),
        ("https://m.shop.example/p/1", "/p/1"),
        ("http://[bad/p/", "/p/1"),
        ("/p/2", "/p/1"),
        (f"{SHOP}/p/1", "/p/1?variant=2"),
        (f"{SHOP}/p/1?variant=1", "/p/1?variant=2"),
        (f"{SHOP}/p/1?variant=1", "/p/1"),
        (f"{SHOP}/p/1", "/p/1-red?color=red"),
        (f"{SHOP}/p/", "/p/?id=57"),
        (f"{SHOP}/p/?id=58", "/p/?id=57"),
    ],
)
def test_everything_else_is_no_claim(canonical: str | None, url: str) -> None:
    assert claimed(canonical, url) == ""


def test_store_decides_what_is_identity() -> None:
    assert claimed(f"{SHOP}/p/1", "/p/1?view=3d") == "/p/1"
    assert claimed(f"{SHOP}/p/1", "/p/1?view=3d", KeyRules(keep=("view",))) == ""
    assert claimed(f"{SHOP}/p/1", "/p/1?variant=2", KeyRules(drop=("variant",))) == "", "there it's the key already"


def test_home_page_is_never_a_product_whatever_product_url_matches() -> None:
    assert claimed_key(f"{SHOP}/", f"{SHOP}/mug", KeyRules(), is_product=lambda _: True) == ""


def test_declared_hosts_are_the_shops_own() -> None:
    rules = KeyRules(host="shop.example", aliases=("m.shop.example",))
    assert claimed("https://m.shop.example/p/2", "/p/1", rules) == "/p/2"
    assert claimed("https://m.shop.example/p/1", "/p/1", rules) == ""


def test_real_pages_claim_what_their_canonical_says_and_never_leave_a_variant_out() -> None:
    """The pairs of page and canonical that the corpus has: longer names of one page, tracking, colours."""
    claims = 0
    for case in json.loads(shared("urls/page_canonical_pairs.json").read_text())["cases"]:
        url, canonical = case["url"], case["canonical"]
        found = claimed_key(canonical, url, KeyRules(), is_product=partial(same_site, base_url=url))
        if found:
            claims += 1
            assert found == url_key(canonical) != url_key(url)
            assert not re.search(r"[?&](?:sku|childSku|v1|dwvar_\w+|variant)=", url)
    assert claims >= 20


@pytest.mark.parametrize(
    ("link", "expected"),
    [
        ('<link rel="amphtml" href="https://shop.example/p/1/amp">', "/p/1/amp"),
        ("<LINK href=/amp/p/1 rel=amphtml>", "/amp/p/1"),
        ('<link rel="amphtml" href="?amp=1">', "/p/1?amp=1"),
        ('<link rel="amphtml" href="https://amp.shop.example/p/1">', "https://amp.shop.example/p/1"),
        ('<link rel="amphtml" href="/p/2/amp">', ""),
        ('<link rel="amphtml" href="/p/1">', ""),
        ('<link rel="amphtml" href="/lite/p/1">', ""),
        ('<link rel="amphtml">', ""),
        ('<link rel="amphtml" href="javascript:">', ""),
        ('<a rel="amphtml" href="/p/1/amp">', ""),
        ("amphtml", ""),
        ("<link amphtml", ""),
        ("", ""),
    ],
)
def test_amp_copy_is_believed_where_it_is_spelled_as_the_pages_own(link: str, expected: str) -> None:
    page = Page(url=f"{SHOP}/p/1", body=f"<html><head>{link}</head></html>".encode())
    assert amp_copy(page, f"{SHOP}/p/1", KeyRules()).removeprefix(SHOP) == expected


@pytest.mark.parametrize("key", ["/amp/p/1", "/p/1/amp", "/p/1.amp.html", "/p/1?amp=", "/p/1?a=1&amp=1", "/p/1.amp"])
def test_amp_spellings(key: str) -> None:
    assert is_amp(SHOP + key)


@pytest.mark.parametrize("key", ["/p/amplifier", "/p/amp-16a", "/p/1?ampere=16", "/lamp", "/p/1?q=amp"])
def test_amplifiers_are_no_amp_copies(key: str) -> None:
    assert not is_amp(SHOP + key)


@given(canonical=st.text(), path=st.text(alphabet="ab/?=&%", max_size=12))
def test_any_canonical_is_a_key_or_nothing(canonical: str, path: str) -> None:
    for text in (canonical, f"{SHOP}/p/{canonical}", f"http://{canonical}"):
        found = claimed_key(text, f"{SHOP}/p/{path}", KeyRules(), is_product=lambda _: True)
        assert not found or (url_key(found) == found != url_key(f"{SHOP}/p/{path}"))


@given(st.binary(max_size=60))
def test_any_bytes_around_an_amp_link_are_read_without_an_error(around: bytes) -> None:
    page = Page(url=f"{SHOP}/p/1", body=b"<link " + around + b' rel="amphtml" ' + around + b">")
    assert isinstance(amp_copy(page, f"{SHOP}/p/1", KeyRules()), str)
