"""Product feeds as shops write them: XML, tables, JSON, packed, broken, hostile."""

from __future__ import annotations

import gzip
import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storebot.core.parsing.platforms.carried import Carried
from storebot.core.parsing.platforms.feed import read_feed
from storebot.core.urls import url_key
from storebot.exceptions import UnreadableFeed

BASE = "https://shop.example"
G = 'xmlns:g="http://base.google.com/ns/1.0"'
ITEM = "<item><g:id>1</g:id><title>Mug</title><link>https://shop.example/p/1</link><g:price>5 EUR</g:price></item>"


def read(text: str | bytes) -> Carried:
    body = text.encode() if isinstance(text, str) else text
    return read_feed(body, f"{BASE}/feed", BASE, lambda url: url_key(url) if url.startswith("http") else url, 0)


def records(text: str | bytes) -> list[dict[str, Any]]:
    return [dict(one.values) for product in read(text).products for one in product.extracted]


@pytest.mark.parametrize(
    "text",
    [
        f'<?xml version="1.0"?><rss {G} version="2.0"><channel><title>Shop</title>{ITEM}</channel></rss>',
        f"\ufeff<rss><channel>{ITEM}</channel></rss>",  # the prefix is declared nowhere
        '<feed xmlns="http://www.w3.org/2005/Atom" xmlns:g="http://base.google.com/ns/1.0"><entry><g:id>1</g:id>'
        '<title>Mug</title><link rel="self" href="/x"/><link href="https://shop.example/p/1"/><g:price>5 EUR</g:price>'
        "</entry></feed>",
        "id\ttitle\tlink\tprice\n1\tMug\thttps://shop.example/p/1\t5 EUR\n",
        'ID,Title,"g:link",Price\r\n1,Mug,https://shop.example/p/1,5 EUR\r\n',
        "id;title;link;price\n1;Mug;https://shop.example/p/1;5 EUR",
        "id|title|link|price\n1|Mug|https://shop.example/p/1|5 EUR",
    ],
    ids=["rss", "no namespace", "atom", "tabs", "commas", "semicolons", "bars"],
)
def test_every_format_says_the_same(text: str) -> None:
    (found,) = records(text)
    assert (found["name"], found["product_id"], found["price"], found["url"]) == (
        "Mug",
        "1",
        "5 EUR",
        "https://shop.example/p/1",
    )
    assert records(gzip.compress(text.encode())) == [found]
    assert records(text.encode("utf-16")) == [found]


def test_googles_own_title_comes_before_that_of_the_format_and_nested_prices_are_not_the_items() -> None:
    text = ITEM.replace(
        "<g:price>",
        "<g:title>Red mug</g:title><g:shipping><g:price>3 EUR</g:price></g:shipping><g:price>",
    )
    (found,) = records(f"<rss {G}><channel>{text}</channel></rss>")
    assert (found["name"], found["price"]) == ("Red mug", "5 EUR")


def test_markup_and_entities_are_text() -> None:
    text = ITEM.replace("Mug<", "Mug &amp; Fish & Chips<").replace(
        "<g:price>", "<g:description><![CDATA[<p>Fired <b>twice</b></p>]]></g:description><g:price>"
    )
    (found,) = records(f"<rss {G}><channel>{text}</channel></rss>")
    assert (found["name"], found["description"]) == ("Mug & Fish & Chips", "Fired twice")


def test_a_quote_in_a_table_with_tabs_is_a_sign_for_inches_and_elsewhere_a_quote() -> None:
    tabs = 'id\ttitle\tlink\n1\t"Big" 12" pan\thttps://shop.example/p/1\n2\tPot\thttps://shop.example/p/2\n'
    assert [found["name"] for found in records(tabs)] == ['"Big" 12" pan', "Pot"]
    commas = 'id,title,link\n1,"Pan, 12""\nblack",https://shop.example/p/1\n2,Pot,https://shop.example/p/2\n'
    assert [found["name"] for found in records(commas)] == ['Pan, 12" black', "Pot"]


def test_json_of_a_platform_is_a_feed() -> None:
    shopify = {"products": [{"handle": "mug", "title": "Mug", "variants": [{"id": 9, "price": "5.00"}]}]}
    assert read(json.dumps(shopify)).products[0].url == f"{BASE}/products/mug"
    woo = [{"id": 1, "name": "Mug", "permalink": f"{BASE}/p/1", "prices": {"price": "500", "currency_minor_unit": 2}}]
    assert records(json.dumps(woo))[0]["price"] == "5.00"


def test_a_feed_that_breaks_off_is_read_as_far_as_it_goes_and_says_so() -> None:
    text = f"<rss {G}><channel>{ITEM}{ITEM.replace('/p/1', '/p/2')}"
    assert len(read(text).products) == 2
    whole = gzip.compress((text + "".join(ITEM.replace("/p/1", f"/p/{n}") for n in range(500))).encode())
    cut = read(whole[: len(whole) - 200])
    assert cut.truncated
    assert len(cut.products) > 1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "it is empty, not a product feed"),
        ("<!doctype html><html><title>Login</title></html>", "an HTML page titled 'Login'"),
        ("<urlset><url><loc>x</loc></url></urlset>", "not a product feed"),
        ("<rss><channel></channel></rss>", "it carries no product"),
        ("name\tprice\nMug\t5", "no line of names with id, title and link"),
        ('{"error":"x"}', "no feed that is known"),
        ("[1,2]", "no feed that is known"),
        ("{not json", "not JSON"),
        (b"\x1f\x8b\x08rubbish", "can't be unpacked"),
    ],
)
def test_what_is_no_feed_is_named(text: str | bytes, said: str) -> None:
    with pytest.raises(UnreadableFeed, match=said):
        read(text)


def test_entities_are_never_expanded() -> None:
    bomb = "<!DOCTYPE rss [" + "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10 if n else "ha"}">' for n in range(9)) + "]>"
    text = f"{bomb}<rss {G}><channel>{ITEM.replace('Mug', '&e8;')}</channel></rss>"
    try:
        found = records(text)
    except UnreadableFeed:
        return
    assert all(len(str(one)) < 1000 for one in found)


@given(st.binary(max_size=400) | st.text(max_size=400))
def test_any_bytes_are_a_feed_or_named(body: bytes | str) -> None:
    with suppress(UnreadableFeed):
        assert read(body).products
