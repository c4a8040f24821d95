"""DNS rebinding: a name led to the internet when it was judged, and leads to this machine when it's connected to."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

import pytest
from scrapy.crawler import Crawler

from storebot.exceptions import PrivateAddress
from storebot.items import Tier
from storebot.reaching import reach_of
from tests.fetch.fetching import asked, crawler_of, fetched, store_of
from tests.fetch.servers import TlsShop
from tests.scripted import ScriptedShop, product
from tests.vendors.proxies import HttpProxy

FAST = "storebot.fetch.fast.CheckedAiohttpDownloadHandler"
TIERS = pytest.mark.parametrize("tier", [Tier.HTTP, Tier.HTTP2])  # aiohttp's client, and httpx2's


@pytest.fixture
def shop() -> Iterator[ScriptedShop]:
    with ScriptedShop() as served:
        yield served.says("/p/1", product())


@pytest.fixture(autouse=True)
def dns(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every name under example leads to this machine."""
    real = socket.getaddrinfo

    def lying(host: Any, *args: Any, **how: Any) -> Any:
        name = host.decode() if isinstance(host, bytes) else str(host)
        return real("127.0.0.1" if name.endswith(".example") else host, *args, **how)

    monkeypatch.setattr(socket, "getaddrinfo", lying)


@pytest.fixture
def crawler() -> Crawler:
    """A crawl whose shop led to a public address when it was judged."""
    found = crawler_of(store_of('[fetch]\ntiers = ["http", "http2"]'), STOREBOT_HTTP_HANDLER=FAST)
    reach = reach_of(found)
    assert reach is not None
    assert reach is reach_of(found), "the middleware's is the clients'"
    reach.resolved("shop.example", ["93.184.215.14"])
    return found


@TIERS
def test_nothing_is_sent_to_where_a_name_leads_by_now(shop: ScriptedShop, crawler: Crawler, tier: Tier) -> None:
    (found,) = fetched(crawler, asked(shop.url.replace("127.0.0.1", "shop.example") + "/p/1", tier))
    assert isinstance(found, PrivateAddress)
    assert str(found) == (
        "shop.example isn't asked for anything, because it leads to 127.0.0.1 by now, "
        "and 127.0.0.1 is in a private network"
    )
    assert shop.asked == []


@TIERS
def test_no_handshake_is_begun_either(crawler: Crawler, tier: Tier) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        (found,) = fetched(crawler, asked(f"https://shop.example:{listening.getsockname()[1]}/", tier))
        assert isinstance(found, PrivateAddress)
        listening.settimeout(0.2)
        said = b""
        with suppress(TimeoutError), listening.accept()[0] as connected:  # which there may be: TCP alone says nothing
            said = connected.recv(100)
    assert said == b""


@TIERS
def test_names_that_nobody_judged_are_ours(shop: ScriptedShop, crawler: Crawler, tier: Tier) -> None:
    """A scraping API, or a proxy, may be in this network; its requests pass no middleware."""
    with HttpProxy() as proxy:
        proxy.hosts["shop.example"] = ("127.0.0.1", urlsplit(shop.url).port or 0)
        named = proxy.url.replace("127.0.0.1", "proxy.example")
        found = fetched(
            crawler,
            asked(shop.url.replace("127.0.0.1", "api.example") + "/p/1", tier),
            asked("http://shop.example/p/1", tier, proxy=named),
        )
    assert [getattr(one, "status", one) for one in found] == [200, 200]


@TIERS
def test_a_shop_in_a_private_network_is_asked(shop: ScriptedShop, tier: Tier) -> None:
    found = crawler_of(store_of('[fetch]\ntiers = ["http", "http2"]'), STOREBOT_HTTP_HANDLER=FAST)
    reach = reach_of(found)
    assert reach is not None
    reach.resolved("shop.example", ["10.0.0.9"])
    (answer,) = fetched(found, asked(shop.url.replace("127.0.0.1", "shop.example") + "/p/1", tier))
    assert getattr(answer, "status", answer) == 200


def test_http2_is_spoken_as_before(crawler: Crawler) -> None:
    with TlsShop() as tls:
        url = f"{tls.url.replace('127.0.0.1', 'other.example')}/p/1"
        (found,) = fetched(crawler, asked(url, Tier.HTTP2))
    assert (getattr(found, "status", found), getattr(found, "protocol", "")) == (200, "HTTP/2")
