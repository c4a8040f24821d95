"""What a shop names is asked for only where its name leads out of private networks, and each host is looked up once."""

from __future__ import annotations

import asyncio
from ipaddress import ip_address
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from scrapy.http import Request, Response

from storebot.exceptions import PrivateAddress
from storebot.middlewares import addresses
from storebot.middlewares.addresses import AddressMiddleware
from tests.fetch.fetching import crawler_of, store_of
from tests.inside import Place, store_folder
from tests.scripted import Answer, ScriptedShop, index, product, sitemap
from tests.vendors.proxies import HttpProxy

NAMES = {
    "shop.example": ["93.184.215.14"],
    "cdn.example": ["93.184.215.20"],
    "rebound.example": ["127.0.0.1"],
    "mixed.example": ["93.184.215.14", "10.0.0.5"],
}


@pytest.fixture
def looked_up(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Stand in for DNS; return the names that were looked up."""
    asked: list[str] = []

    async def resolve(host: str) -> list[str]:
        asked.append(host)
        return NAMES.get(host, [])

    monkeypatch.setattr(addresses, "resolve", resolve)
    return asked


@pytest.fixture
def middleware(looked_up: list[str]) -> AddressMiddleware:
    return AddressMiddleware.from_crawler(crawler_of(store_of()))


def let_in(middleware: AddressMiddleware, url: str, **meta: Any) -> None:
    async def ask() -> None:
        waiting = middleware.process_request(Request(url, meta=meta))
        if waiting is not None:
            await waiting

    asyncio.run(ask())


def test_each_host_is_looked_up_once(middleware: AddressMiddleware, looked_up: list[str]) -> None:
    for path in ("a", "b", "c"):
        let_in(middleware, f"https://shop.example/{path}")
        let_in(middleware, f"https://cdn.example/{path}")
    assert looked_up == ["shop.example", "cdn.example"]


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("http://127.0.0.1:6379/", "127.0.0.1 is in a private network"),
        ("http://localhost/", "localhost is in a private network"),
        ("http://2130706433/", "2130706433 is in a private network"),
        ("http://[::ffff:10.0.0.1]/", "is in a private network"),
        ("http://169.254.169.254/latest/", "is where clouds keep their secrets"),
        ("http://rebound.example/", "rebound.example, which is 127.0.0.1, is in a private network"),
        ("http://mixed.example/", "mixed.example, which is 10.0.0.5, is in a private network"),
        ("file:///etc/passwd", "it is a file: address"),
    ],
)
def test_private_addresses_are_not_asked(middleware: AddressMiddleware, url: str, why: str) -> None:
    for _ in range(2):
        with pytest.raises(PrivateAddress, match="isn't asked for, because") as raised:
            let_in(middleware, url)
        assert why in str(raised.value)


def test_what_goes_through_a_proxy_is_judged_by_its_name_alone(
    middleware: AddressMiddleware, looked_up: list[str]
) -> None:
    let_in(middleware, "http://rebound.example/", proxy="http://127.0.0.1:8080")
    with pytest.raises(PrivateAddress):
        let_in(middleware, "http://10.0.0.1/", proxy="http://127.0.0.1:8080")
    assert looked_up == []
    with pytest.raises(PrivateAddress):
        let_in(middleware, "http://rebound.example/")


def test_what_came_from_a_private_address_is_not_read(middleware: AddressMiddleware) -> None:
    """DNS rebinding: the client looked the name up again, and got another answer."""
    request = Request("https://shop.example/p/1")
    let_in(middleware, request.url)
    good = Response(request.url, ip_address=ip_address("93.184.215.14"))
    assert middleware.process_response(request, good) is good
    with pytest.raises(PrivateAddress, match=r"isn't read, because it came from 127\.0\.0\.1"):
        middleware.process_response(request, Response(request.url, ip_address=ip_address("127.0.0.1")))
    proxied = Request(request.url, meta={"proxy": "http://127.0.0.1:8080"})
    middleware.process_response(proxied, Response(request.url, ip_address=ip_address("127.0.0.1")))


def test_a_crawl_follows_a_shop_nowhere_private(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A redirect, a sitemap of robots.txt and the robots.txt of where they lead: none is asked for, all are named."""
    text = "[politeness]\ndelay_s = 0\n"
    with ScriptedShop() as inner, ScriptedShop() as shop, HttpProxy() as proxy:
        proxy.hosts["shop.test"] = ("127.0.0.1", urlsplit(shop.url).port or 0)
        monkeypatch.setenv("http_proxy", proxy.url)
        secret = f"{inner.url}/secret"
        shop.says("/robots.txt", Answer(f"Sitemap: http://shop.test/sitemap.xml\nSitemap: {secret}\n".encode()))
        shop.says("/sitemap.xml", index("http://shop.test/one.xml"))
        shop.says("/one.xml", sitemap("http://shop.test/p/1", "http://shop.test/p/2"))
        shop.says("/p/1", product())
        shop.says("/p/2", Answer(status=302, headers={"Location": secret}))
        place = Place("http://shop.test", tmp_path / "store.db", "shop", store_folder(tmp_path, text))
        done = place.crawl("backfill")
        assert inner.asked == []
        assert "/p/2" in shop.paths()
    visits = done.visits()
    assert visits["/p/1"]["outcome"] == "new"
    assert visits["/p/2"]["outcome"] == "error"
    assert f"PrivateAddress: {inner.url}/" in visits["/p/2"]["reason"]  # its robots.txt would have been the first
    assert visits["/p/2"]["reason"].endswith("isn't asked for, because 127.0.0.1 is in a private network")
    assert f"PrivateAddress: {inner.url}/robots.txt isn't asked for" in done.summary.reason
