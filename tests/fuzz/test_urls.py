"""Addresses of any kind: a key or InvalidURL, in little time, and always the same."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storebot.core.canonical import claimed_key, is_amp
from storebot.core.fingerprint import picture_address
from storebot.core.parsing.sitemap_trail import SitemapTrail
from storebot.core.robots import sitemaps_in_robots
from storebot.core.urls import MAX_KEY_LENGTH, NO_RULES, KeyRules, absolute, same_site, url_key
from storebot.exceptions import InvalidURL
from tests.fuzz.bounded import cpu_seconds
from tests.fuzz.junk import FUZZ, texts

BASE = "https://shop.example/a//b/?c=d"
RULES = KeyRules(
    drop=("ref*", "x=1"), keep=("color",), host="shop.example", aliases=("m.shop.example",), merge_slashes=True
)
parts = st.sampled_from(
    (
        *(
            "https:",
            "http:",
            "HTTP:",
            "javascript:",
            "//",
            "/",
            "//",
            "shop.example",
            "www.",
            "m.shop.example",
            "[::1]",
            "[",
            "]",
        ),
        *(
            "bücher.example",
            "xn--",
            "xn--a",
            "☃.net",
            "127.0.0.1",
            "user:pass@",
            "@",
            ":80",
            ":99999",
            ":0",
            ":",
            "%41",
            "%",
            "%zz",
        ),
        *(
            "%2e%2e",
            "..",
            ".",
            "/../",
            ";jsessionid=1",
            "?",
            "&",
            "=",
            "#",
            "&amp;",
            "utm_source=1",
            "variant=1",
            "ref=1",
            "a b",
        ),
        *(
            "é",
            "\ud800",
            "\0",
            "\n",
            "\t",
            " ",
            "\u3002",
            "\uff0f",
            "١",
            "collections/all/products/x",
            "amp",
            "+",
            "%20",
            "~",
        ),
    )
)
addresses = st.one_of(
    st.lists(parts, max_size=10).map("".join),
    st.lists(parts, max_size=10).map(lambda some: "https://shop.example/" + "".join(some)),
    texts,
)
LONG = (
    "a",
    "/",
    ".",
    "%41",
    "%",
    "&a=1",
    "a.",
    "xn--a.",
    "-",
    "@",
    ":",
    "é",
    "../",
    "?",
    "[",
    "//",
    "&amp;",
    " ",
    "%2e/",
    "a-",
)


def _is_short(error: Exception) -> None:
    assert len(str(error)) < 1000


@FUZZ
@given(addresses, st.sampled_from((NO_RULES, RULES)))
def test_any_address_has_a_key_or_is_invalid(address: str, rules: KeyRules) -> None:
    with cpu_seconds(0.5, address):
        try:
            key = url_key(address, rules)
        except InvalidURL as error:
            _is_short(error)
            return
        assert key.isascii()
        assert len(key) <= MAX_KEY_LENGTH
        assert url_key(key, rules) == key
        is_amp(key)


@FUZZ
@given(addresses, st.one_of(st.just(BASE), addresses))
def test_any_link_is_absolute_or_none(address: str, base: str) -> None:
    with cpu_seconds(0.5, (address, base)):
        found = absolute(address, base)
        assert found is None or found.isascii()
        if found is not None:
            assert url_key(found)
            assert absolute(found, base) == found
        same_site(address, "https://shop.example")
        picture_address(address)
        claimed_key(absolute(address, BASE), BASE, RULES, is_product=lambda _: True)


@FUZZ
@given(st.lists(st.tuples(st.sampled_from(("Sitemap:", "site-map :", "User-agent:", "")), addresses)), st.booleans())
def test_any_robots_txt_names_sitemaps_or_none(lines: list[tuple[str, str]], wide: bool) -> None:
    text = "\n".join(f"{name} {address}" for name, address in lines)
    body = text.encode("utf-16" if wide else "utf-8", "replace")
    trail = SitemapTrail()
    with cpu_seconds(0.5, text):
        for url in sitemaps_in_robots(body, "https://shop.example/robots.txt"):
            try:
                trail.ask(url, 1)
            except ValueError:
                pytest.fail(f"{url!r} is no address")


@pytest.mark.parametrize("part", LONG, ids=range(len(LONG)))
@pytest.mark.parametrize("start", ["https://", "https://shop.example/", "https://shop.example/?", ""], ids=range(4))
@pytest.mark.parametrize("size", [16_000, 2_000_000])
def test_a_long_address_costs_little(start: str, part: str, size: int) -> None:
    address = start + part * (size // len(part))
    with cpu_seconds(2.0, (start, part)):
        try:
            assert url_key(address)
        except InvalidURL as error:
            _is_short(error)
        absolute(address, BASE)
        absolute("a", address[:16_000])
        same_site(address, BASE)


def test_a_robots_txt_of_50_mb_is_read_at_its_beginning() -> None:
    body = b"Sitemap: https://shop.example/s.xml\n" * 1_500_000
    with cpu_seconds(2.0):
        found = sitemaps_in_robots(body, "https://shop.example/robots.txt")
    assert 10_000 < len(found) < 50_000
